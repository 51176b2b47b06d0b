/** Cuts text that may grow into chunks of lines, so that only those in sight need to be elements. */

/** Lines of a text, or a piece of a very long line. */
export interface TextChunk {
  /** Position among the chunks. */
  readonly key: number;
  /** Index of its first UTF-16 unit, and of the one after its last. The line feed at its end belongs to it. */
  readonly from: number;
  readonly to: number;
  /** Index of its first line. */
  readonly line: number;
  /** Number of its line feeds. */
  readonly ends: number;
  /** True if its start is the start of a line. */
  readonly startsLine: boolean;
}

export interface TextCutter {
  /** Returns the chunks of the text. All but the last one stay the same objects while the text grows. */
  readonly cut: (text: string) => readonly TextChunk[];
}

/** Limits of a chunk: a number of lines, and of UTF-16 units. */
const chunkLines = 40;
const chunkSize = 8192;

/** Creates a cutter. Only "\n" ends a line. */
export function createTextCutter(): TextCutter {
  let known = "";
  let chunks: readonly TextChunk[] = [];
  return {
    cut(text) {
      if (text === known && chunks.length > 0) return chunks;
      const kept: TextChunk[] = text.startsWith(known) ? chunks.slice(0, -1) : [];
      known = text;
      do kept.push(cutChunk(text, kept));
      while (kept.at(-1)!.to < text.length);
      chunks = kept;
      return chunks;
    },
  };
}

function cutChunk(text: string, before: readonly TextChunk[]): TextChunk {
  const last = before.at(-1);
  const from = last?.to ?? 0;
  const line = last === undefined ? 0 : last.line + last.ends;
  let to = from;
  let ends = 0;
  while (ends < chunkLines) {
    const end = text.indexOf("\n", to);
    if (end < 0 || end >= from + chunkSize) break;
    to = end + 1;
    ends += 1;
  }
  const limit = Math.min(text.length, from + chunkSize);
  const isAtEnd = ends < chunkLines && limit === text.length;
  // Cut a line that is too long, unless the lines before it can be a chunk.
  if (isAtEnd || to === from) to = findCharacterEnd(text, limit);
  return { key: before.length, from, to, line, ends, startsLine: from === 0 || text[from - 1] === "\n" };
}

function findCharacterEnd(text: string, end: number): number {
  return end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!) ? end - 1 : end;
}

/** Returns the number of lines in all chunks together. */
export function countLines(chunks: readonly TextChunk[]): number {
  const last = chunks.at(-1);
  return last === undefined ? 0 : last.line + last.ends + 1;
}

/** Returns the first lines of a text, without the line feed after them. */
export function takeLines(text: string, count: number): string {
  let end = -1;
  for (let line = 0; line < count; line += 1) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) return text;
  }
  return text.slice(0, end);
}
