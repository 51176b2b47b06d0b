import { useRef } from "preact/hooks";
import type { ComponentChildren, VNode } from "preact";
import { useRemembered } from "../elements/remembered.ts";
import { useMessages } from "../messages/use-messages.ts";
import type { TokenLine } from "./highlighter.ts";
import { type HighlightedCode, useHighlight } from "./use-highlight.ts";

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

/** Lines per element: while code grows, elements before the last never change. */
const chunkSize = 40;
/** Longer code is folded. */
const foldedLines = 24;

/** Lines of code, highlighted as soon as the grammar has loaded. */
export function CodeText({ code: source, language, isOpen, firstLine, label, memoryKey }: CodeTextProps) {
  const messages = useMessages();
  // The end of the last line does not start another line.
  const code = source.replaceAll(/\r\n?/g, "\n").replace(/\n$/, "");
  const [isUnfolded, setUnfolded] = useRemembered(`${memoryKey}/lines`, false);
  const highlighted = useHighlight(code, language);
  const cache = useRef<Chunk[]>([]);
  const lines = code.split("\n");
  const canFold = lines.length > foldedLines + 8 && memoryKey !== "";
  // While it grows, folded code shows its end; once complete, its beginning.
  const isFolded = canFold && !isUnfolded;
  const from = isFolded && isOpen ? Math.floor((lines.length - foldedLines) / chunkSize) * chunkSize : 0;
  const to = isFolded && !isOpen ? foldedLines : lines.length;
  return (
    <>
      <pre class="code" tabIndex={0} role="region" aria-label={label}>
        <code>{renderChunks({ lines, from, to, highlighted, code, firstLine, cache: cache.current })}</code>
      </pre>
      {canFold ? (
        <button type="button" class="fold-button" aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
          {isUnfolded ? messages.showLess : messages.showAllLines(lines.length)}
        </button>
      ) : undefined}
    </>
  );
}

interface Chunk {
  readonly text: string;
  readonly tokens: TokenLine | undefined;
  readonly element: VNode;
}

interface ChunkSource {
  readonly lines: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly highlighted: HighlightedCode | undefined;
  readonly code: string;
  readonly firstLine: number | undefined;
  readonly cache: Chunk[];
}

function renderChunks(source: ChunkSource): VNode[] {
  const { lines, from, to, cache } = source;
  const tokens = toUsableTokens(source);
  const elements: VNode[] = [];
  for (let start = from; start < to; start += chunkSize) {
    const end = Math.min(start + chunkSize, to);
    const text = lines.slice(start, end).join("\n");
    const index = start / chunkSize;
    const known = cache[index];
    const firstTokens = tokens[start];
    if (known === undefined || known.text !== text || known.tokens !== firstTokens) {
      cache[index] = { text, tokens: firstTokens, element: renderChunk(source, tokens, start, end) };
    }
    elements.push(cache[index]!.element);
  }
  return elements;
}

/** Tokens of the lines that have not changed. */
function toUsableTokens({ highlighted, code }: ChunkSource): readonly TokenLine[] {
  if (highlighted === undefined) return [];
  if (highlighted.code === code) return highlighted.lines;
  return code.startsWith(highlighted.code) ? highlighted.lines.slice(0, -1) : [];
}

function renderChunk(
  { lines, firstLine }: ChunkSource,
  tokens: readonly TokenLine[],
  start: number,
  end: number,
): VNode {
  const isLast = end === lines.length;
  const rows = lines.slice(start, end).map((line, index) => {
    const lineEnd = isLast && start + index === end - 1 ? "" : "\n";
    return [renderLine(line, tokens[start + index]), lineEnd];
  });
  if (firstLine === undefined) {
    return (
      <span key={start} class="code-chunk">
        {rows}
      </span>
    );
  }
  const numbers = Array.from({ length: end - start }, (_, index) => firstLine + start + index).join("\n");
  return (
    <span key={start} class="code-chunk numbered">
      <span class="line-numbers" aria-hidden="true">
        {numbers}
      </span>
      <span class="code-lines">{rows}</span>
    </span>
  );
}

function renderLine(line: string, tokens: TokenLine | undefined): ComponentChildren {
  if (tokens === undefined) return line;
  return tokens.map(({ text, kind }) => (kind === "" ? text : <span class={`token-${kind}`}>{text}</span>));
}
