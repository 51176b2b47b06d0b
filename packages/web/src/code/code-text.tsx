import { useState } from "preact/hooks";
import type { ComponentChildren, VNode } from "preact";
import { Button } from "../elements/button.tsx";
import { copyText } from "../elements/copy-text.ts";
import { countLines, createTextCutter, takeLines, type TextChunk } from "../elements/cut-text.ts";
import { useUnfolded } from "../elements/remembered.ts";
import { useGrowingText } from "../elements/use-growing-text.ts";
import { toVisibleCode } from "../elements/visible-text.tsx";
import { createRowMeasures } from "../list/row-measures.ts";
import { type PartMarks, Windowed } from "../list/windowed.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { TokenLine } from "./highlighter.ts";
import { type Highlighting, useHighlight } from "./use-highlight.ts";

interface CodeTextProps {
  readonly code: string;
  readonly language: string;
  readonly isOpen: boolean;
  /** Number of the first line; without it lines have no numbers. */
  readonly firstLine?: number | undefined;
  /** Label for screen readers. */
  readonly label: string;
  readonly memoryKey: string;
}

/** Number of lines up to which code is unfolded. */
const foldedLines = 24;
/** Height of a line in pixels, until it is measured. */
const lineHeight = 20;

/** Lines of code, highlighted as soon as the grammar has loaded. */
export function CodeText({ code: whole, language, isOpen, firstLine, label, memoryKey }: CodeTextProps) {
  const messages = useMessages();
  const source = useGrowingText(whole, isOpen);
  // The end of the last line does not start another line.
  const lines = source.includes("\r") ? source.replaceAll(/\r\n?/g, "\n") : source;
  const code = lines.endsWith("\n") ? lines.slice(0, -1) : lines;
  const [isUnfolded, setUnfolded] = useUnfolded(`${memoryKey}/lines`);
  const highlighting = useHighlight(code, language);
  const [cutter] = useState(createTextCutter);
  const [measures] = useState(() => createRowMeasures<TextChunk>(({ ends }) => (ends + 1) * lineHeight));
  const chunks = cutter.cut(code);
  const count = countLines(chunks);
  const canFold = count > foldedLines + 8 && memoryKey !== "";
  return (
    <>
      <pre class="code" tabIndex={0} role="region" aria-label={label}>
        <Windowed
          as="code"
          parts={canFold && !isUnfolded ? foldChunks(chunks, code, isOpen) : chunks}
          measures={measures}
          toVersion={({ line }) => highlighting.lines[line] ?? highlighting.highlighter}
          render={(chunk, marks) => renderChunk({ chunk, code, highlighting, firstLine }, marks)}
        />
      </pre>
      {canFold ? (
        <Button
          kind="fold"
          label={isUnfolded ? messages.showLess : messages.showAllLines({ lines: count })}
          aria-expanded={isUnfolded}
          onClick={() => setUnfolded(!isUnfolded)}
        />
      ) : undefined}
    </>
  );
}

/** Returns the visible chunks of folded code: its end while it grows, its start once complete. */
function foldChunks(chunks: readonly TextChunk[], code: string, isOpen: boolean): readonly TextChunk[] {
  const count = countLines(chunks);
  if (isOpen) return chunks.slice(chunks.findLastIndex(({ line }) => line <= count - foldedLines));
  const { length } = takeLines(code, foldedLines);
  const shown = chunks.slice(0, chunks.findIndex(({ to }) => to >= length) + 1);
  const last = shown.pop()!;
  // The last chunk is a shortened one, so it has another key.
  return [...shown, { ...last, key: -1, to: length, ends: foldedLines - 1 - last.line }];
}

interface DrawnChunk {
  readonly chunk: TextChunk;
  readonly code: string;
  readonly highlighting: Highlighting;
  readonly firstLine: number | undefined;
}

function renderChunk({ chunk, code, highlighting, firstLine }: DrawnChunk, marks: PartMarks): VNode {
  const { from, to, line, ends, startsLine } = chunk;
  const text = copyText(code.slice(from, to));
  const lines = text.split("\n");
  const pieces = highlighting.lines[line] === undefined ? highlighting.highlighter?.toLines(text) : undefined;
  const rows = lines.map((content, index) => [
    renderLine(content, pieces?.[index] ?? highlighting.lines[line + index]),
    index < ends ? "\n" : "",
  ]);
  if (firstLine === undefined) {
    return (
      <span key={chunk.key} class="code-chunk" {...marks}>
        {rows}
      </span>
    );
  }
  const count = text.endsWith("\n") ? ends : ends + 1;
  const numbers = Array.from({ length: count }, (_, index) =>
    index === 0 && !startsLine ? "" : firstLine + line + index,
  ).join("\n");
  return (
    <span key={chunk.key} class="code-chunk numbered" {...marks}>
      <span class="line-numbers" aria-hidden="true">
        {numbers}
      </span>
      <span class="code-lines">{rows}</span>
    </span>
  );
}

/** Renders a line with its tokens, unless they belong to another version of the line. */
function renderLine(line: string, tokens: TokenLine | undefined): ComponentChildren {
  if (tokens === undefined || tokens.reduce((sum, { text }) => sum + text.length, 0) !== line.length)
    return toVisibleCode(line);
  return tokens.map(({ text, kind }) =>
    kind === "" ? toVisibleCode(text) : <span class={`token-${kind}`}>{toVisibleCode(text)}</span>,
  );
}
