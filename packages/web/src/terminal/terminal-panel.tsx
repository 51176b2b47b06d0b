import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useFollowedEnd } from "../elements/use-followed-end.ts";
import { Button } from "../elements/button.tsx";
import { useUnfolded } from "../elements/remembered.ts";
import { toVisibleCode } from "../elements/visible-text.tsx";
import { createItemChunker, type ItemChunk } from "../list/chunk-items.ts";
import { createRowMeasures } from "../list/row-measures.ts";
import { Windowed } from "../list/windowed.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { createTerminalText, type TerminalLine } from "./terminal-text.ts";

interface TerminalPanelProps {
  readonly output: string;
  readonly label: string;
  readonly isLive: boolean;
  readonly memoryKey: string;
}

/** Number of visible lines of a long output, at its end; the chunk of the first one stays whole. */
const shownLines = 200;
/** Height of a line in pixels, until it is measured. */
const lineHeight = 19;

/** Output of a command. While it runs, the end stays visible unless the user scrolled up. */
export function TerminalPanel({ output, label, isLive, memoryKey }: TerminalPanelProps) {
  const messages = useMessages();
  const [text] = useState(createTerminalText);
  const [toChunks] = useState(() => createItemChunker<TerminalLine>());
  const [measures] = useState(() => createRowMeasures<LineChunk>(({ items }) => items.length * lineHeight));
  const [showsAll, setShowsAll] = useUnfolded(`${memoryKey}/output`);
  text.update(output);
  const chunks = toChunks(text.lines);
  const first = showsAll ? undefined : chunks.findLast(({ from }) => from <= text.lines.length - shownLines);
  const followed = useFollowedEnd<HTMLPreElement>(isLive, output.length);
  return (
    <>
      {first !== undefined && first.from > 0 ? (
        <Button
          kind="fold"
          label={messages.showEarlierLines({ lines: first.from })}
          class="terminal-fold"
          onClick={() => setShowsAll(true)}
        />
      ) : undefined}
      <pre class="terminal-output" tabIndex={0} role="region" aria-label={label} {...followed}>
        <Windowed
          parts={first === undefined ? chunks : chunks.slice(first.key)}
          measures={measures}
          render={(chunk, marks) => (
            <div key={chunk.key} {...marks}>
              {chunk.items.map(renderLine)}
            </div>
          )}
        />
      </pre>
    </>
  );
}

type LineChunk = ItemChunk<TerminalLine>;

function renderLine(line: TerminalLine): VNode {
  return (
    <span class="terminal-line">
      {line.map(({ text, style }) =>
        style === "" ? toVisibleCode(text) : <span class={style}>{toVisibleCode(text)}</span>,
      )}
      {"\n"}
    </span>
  );
}
