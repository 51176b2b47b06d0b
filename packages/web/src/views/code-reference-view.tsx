import { CodeText } from "../code/code-text.tsx";
import { EditorLink } from "../editor/editor-link.tsx";
import { Badge, Card } from "../elements/card.tsx";
import { CopyButton } from "../elements/copy-button.tsx";
import { PathText } from "../elements/path-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { readNumber, readText } from "./metadata.ts";
import { isOpen, type ViewProps } from "./view.ts";

/** A reference to code, with its lines (R5). */
export function CodeReferenceView({ document, responseId }: ViewProps) {
  const messages = useMessages();
  const { metadata } = document;
  const path = readText(metadata, "filePath");
  const startLine = readNumber(metadata, "startLine");
  // A formatted number would have separators.
  const [from, to] = [`${startLine}`, `${readNumber(metadata, "endLine") ?? startLine}`];
  const code = document.content ?? "";
  return (
    <Card
      icon="file"
      title={<PathText path={path} />}
      facts={
        <>
          {startLine === undefined ? undefined : (
            <span>{from === to ? messages.line({ from }) : messages.lines({ from, to })}</span>
          )}
          {metadata["verified"] === true ? <Badge tone="good">{messages.verified}</Badge> : undefined}
          {metadata["verified"] === false ? <Badge tone="warning">{messages.notVerified}</Badge> : undefined}
        </>
      }
      actions={
        <>
          <EditorLink path={path} line={startLine} />
          <CopyButton text={toPlace(path, startLine)} label={messages.copyPath} icon="copyPath" />
          <CopyButton text={code} label={messages.copyCode} />
        </>
      }
    >
      <CodeText
        code={code}
        language={readText(metadata, "language")}
        isOpen={isOpen(document)}
        firstLine={startLine}
        label={path}
        memoryKey={`${responseId}/${document.id}`}
      />
    </Card>
  );
}

/** Formats a place as editors accept it: `src/main.py:12`. */
function toPlace(path: string, line: number | undefined): string {
  return line === undefined ? path : `${path}:${line}`;
}
