import type { FootnoteDefinition } from "mdast";
import type { ComponentChildren } from "preact";
import { useMessages } from "../messages/use-messages.ts";
import type { MarkdownScope } from "./render-node.tsx";

/** The number of a footnote, where the text refers to it. Not an anchor: foreign text must not set ids or addresses of the page. */
export function FootnoteMark({ identifier, scope }: { readonly identifier: string; readonly scope: MarkdownScope }) {
  const number = [...scope.definitions.footnotes.keys()].indexOf(identifier) + 1;
  return <sup class="footnote-mark">[{number === 0 ? "?" : number}]</sup>;
}

interface FootnotesProps {
  readonly scope: MarkdownScope;
  readonly renderNote: (note: FootnoteDefinition) => ComponentChildren;
}

export function Footnotes({ scope, renderNote }: FootnotesProps) {
  const messages = useMessages();
  const { footnotes } = scope.definitions;
  if (footnotes.size === 0) return undefined;
  return (
    <section class="footnotes" aria-label={messages.footnotes}>
      <ol>
        {[...footnotes.values()].map((note) => (
          <li>{renderNote(note)}</li>
        ))}
      </ol>
    </section>
  );
}
