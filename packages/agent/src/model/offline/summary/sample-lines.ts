/** A long text to a part of it that stands for the whole. */

/** Characters that are kept of a long text. */
const sampleSize = 120_000;
/** The beginning is kept whole, the end too. */
const headSize = 60_000;
const tailSize = 10_000;
const lineLimit = 8000;
const windowSize = 2000;

export interface SampledLines {
  readonly lines: readonly string[];
  readonly isSampled: boolean;
  /** Headings and fences of the whole text, counted in passing. */
  readonly headings: number;
  readonly codeBlocks: number;
}

/**
 * The beginning, the end, and even windows between; besides every heading. Windows never begin inside a fence.
 * Cheap: one look at the first characters of each line.
 */
export function sampleLines(lines: readonly string[], characters: number): SampledLines {
  if (characters <= sampleSize) return { lines, isSampled: false, headings: 0, codeBlocks: 0 };
  const stride = Math.ceil((windowSize * characters) / (sampleSize - headSize - tailSize));
  const kept: string[] = [];
  let offset = 0;
  let fence = 0;
  let character = "";
  let headings = 0;
  let codeBlocks = 0;
  let isOpen = true;
  for (const line of lines) {
    const isInside = fence > 0;
    const mark = toFenceLength(line);
    if (mark > 0) {
      if (!isInside) {
        fence = mark;
        character = line.trimStart().charAt(0);
        codeBlocks += 1;
      } else if (mark >= fence && line.trim() === character.repeat(mark)) fence = 0;
    }
    const isHeading = !isInside && line.charCodeAt(0) === 0x23 && /^#{1,6}\s+\S/.test(line.slice(0, 20));
    if (isHeading) headings += 1;
    const isWanted = offset < headSize || offset > characters - tailSize || offset % stride < windowSize;
    if (isWanted !== isOpen && !isInside) {
      isOpen = isWanted;
      kept.push("");
    }
    if ((isOpen || isHeading) && kept.length < lineLimit)
      kept.push(line.length > windowSize ? line.slice(0, windowSize) : line);
    offset += line.length + 1;
  }
  return { lines: kept, isSampled: true, headings, codeBlocks };
}

/** Length of the fence that a line may be; 0 for other lines. */
function toFenceLength(line: string): number {
  let start = 0;
  while (start < 4 && line.charCodeAt(start) === 0x20) start += 1;
  const code = line.charCodeAt(start);
  if (start > 3 || (code !== 0x60 && code !== 0x7e)) return 0;
  let end = start + 1;
  while (line.charCodeAt(end) === code) end += 1;
  return end - start >= 3 ? end - start : 0;
}
