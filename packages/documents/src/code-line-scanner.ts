import type { OpenFence } from "./block-structure.ts";
import { isBlank, isLineEnd, toNextColumn } from "./characters.ts";
import type { SegmentWriter } from "./segment-writer.ts";

/** The place of the next character: indentation, a run of fence characters, blanks after the run, or other content. */
type Phase = "indent" | "run" | "run_end" | "rest";

/**
 * Reads the lines of a top-level fence. It delays only a line that may be the closing one, with the line end before it
 * (N26). It removes the indentation of the opening fence; a tab that reaches beyond it becomes spaces (N24, CommonMark
 * 0.31, 2.2).
 */
export class CodeLineScanner {
  readonly #fence: OpenFence;
  /** Code of the fence's character. */
  readonly #marker: number;
  readonly #writer: SegmentWriter;
  #phase: Phase = "indent";
  #column = 0;
  #runLength = 0;

  constructor(fence: OpenFence, writer: SegmentWriter) {
    this.#fence = fence;
    this.#marker = fence.marks.charCodeAt(0);
    this.#writer = writer;
  }

  startLine(): void {
    this.#phase = "indent";
    this.#column = 0;
    this.#runLength = 0;
  }

  /** Continues reading at `from`, up to the line end or the end of the chunk. */
  scan(chunk: string, from: number): number {
    let at = from;
    if (this.#phase === "indent") at = this.#scanIndent(chunk, at);
    if (this.#phase === "run") at = this.#scanRun(chunk, at);
    if (this.#phase === "run_end") at = this.#scanRunEnd(chunk, at);
    if (this.#phase !== "rest") return at;
    while (at < chunk.length && !isLineEnd(chunk.charCodeAt(at))) at += 1;
    this.#writer.safeEnd = at;
    return at;
  }

  /** True if the rest of this line decides no more, so that it needs no scan. */
  isDecided(): boolean {
    return this.#phase === "rest";
  }

  /** Ends the line at `at`. Returns true if it is the closing one; otherwise it is content. */
  endLine(at: number): boolean {
    if (this.#isClosing()) return true;
    this.#writer.safeEnd = at;
    return false;
  }

  /** Ends the text. Returns true if this line is the closing one. The line end before an empty line is not content. */
  end(): boolean {
    if (this.#isClosing()) return true;
    if (this.#phase !== "indent" || this.#column > 0) this.#writer.safeEnd = 0;
    return false;
  }

  #isClosing(): boolean {
    return (this.#phase === "run" || this.#phase === "run_end") && this.#runLength >= this.#fence.marks.length;
  }

  #scanIndent(chunk: string, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (isLineEnd(code)) return at;
      if (!isBlank(code)) {
        this.#phase = code === this.#marker ? "run" : "rest";
        return at;
      }
      const column = toNextColumn(code, this.#column);
      const { indent } = this.#fence;
      if (this.#column < indent) this.#writer.replace(at, at + 1, Math.max(0, column - indent));
      this.#column = column;
      if (column >= 4) {
        this.#phase = "rest";
        return at + 1;
      }
    }
    return chunk.length;
  }

  #scanRun(chunk: string, from: number): number {
    let at = from;
    while (at < chunk.length && chunk.charCodeAt(at) === this.#marker) at += 1;
    this.#runLength += at - from;
    if (at < chunk.length && !isLineEnd(chunk.charCodeAt(at))) {
      this.#phase = this.#runLength >= this.#fence.marks.length ? "run_end" : "rest";
    }
    return at;
  }

  #scanRunEnd(chunk: string, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (isBlank(code)) continue;
      if (!isLineEnd(code)) this.#phase = "rest";
      return at;
    }
    return chunk.length;
  }
}
