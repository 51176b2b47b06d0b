import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useMessages } from "../messages/use-messages.ts";

/** Reads the note about a line of the new file. */
export type ReadLineNote = (line: number) => Promise<ComponentChildren>;

/** Buttons on the line numbers, and the note of the line whose button was pressed last. */
export interface LineNotes {
  readonly line: number | undefined;
  readonly note: ComponentChildren;
  readonly renderNumber: (line: number | undefined) => ComponentChildren;
}

export function useLineNotes(read: ReadLineNote | undefined): LineNotes | undefined {
  const messages = useMessages();
  const [asked, setAsked] = useState<{ readonly line?: number; readonly note?: ComponentChildren }>({});
  if (read === undefined) return undefined;
  const ask = async (line: number): Promise<void> => {
    if (line === asked.line) return setAsked({});
    setAsked({ line, note: messages.loading });
    const note = await read(line);
    setAsked((now) => (now.line === line ? { line, note } : now));
  };
  const renderNumber = (line: number | undefined) =>
    line === undefined ? undefined : (
      <button
        type="button"
        class="diff-line"
        aria-label={messages.whatWroteLine({ line })}
        aria-expanded={line === asked.line}
        onClick={() => void ask(line)}
      >
        {line}
      </button>
    );
  return { line: asked.line, note: asked.note, renderNumber };
}
