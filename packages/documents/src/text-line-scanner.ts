import type { NestedCodeBlock } from "@sheaf/protocol";
import { BlockStructure, type OpenFence } from "./block-structure.ts";
import { findBlankEnd, isBlank, isLineEnd, toNextColumn } from "./characters.ts";
import { parseInfoString } from "./info-string.ts";
import type { SegmentWriter } from "./segment-writer.ts";

/**
 * The place of the next character: in the blanks at the start of the line, the block marks after them, a run of fence
 * characters, the info string after such a run, or a rest that needs no decision.
 */
type Phase = "indent" | "marks" | "run" | "info" | "rest";

const less = 0x3c;
const bracket = 0x5b;
const backtick = 0x60;
const tilde = 0x7e;

/** Characters that may precede the character that decides the line's block; fences, "<" and "[" are not among them. */
const marks = " \t>-*+_=#.)0123456789";

/** A table by character code: 1 for each of `marks`. */
const isMark = Uint8Array.from({ length: 128 }, (_, code) => (marks.includes(String.fromCharCode(code)) ? 1 : 0));

/**
 * Reads the lines outside of top-level fences. It delays a line that may still open such a fence, and blanks and line
 * ends that may be the last (N26). A line reaches the block structure once enough of it is known. For most lines that
 * is the first letter, and the scanner skips the rest.
 *
 * A *place* is in UTF-16 units of the whole text; `at` and `from` are in the current chunk.
 */
export class TextLineScanner {
  readonly #writer: SegmentWriter;
  readonly #structure = new BlockStructure();
  #phase: Phase = "indent";
  /** The line as received in earlier chunks, until the structure takes it. */
  #line = "";
  #lineTaken = false;
  /** Offset at which the line continues in this chunk. */
  #lineFrom = 0;
  #lineStart = 0;
  #previousLineEnd = 0;
  /** Columns of the blanks at the start of the line. */
  #column = 0;
  #runMarker = 0;
  #runLength = 0;
  /** True if the line may still open a top-level fence, so that all of it waits. */
  #mayOpenFence = false;
  /** Place of the first non-blank line of the text; -1 before it. */
  #contentStart = -1;
  #codeBlocks: NestedCodeBlock[] = [];
  /** Place where the open nested fence starts. */
  #nestedStart = 0;

  constructor(writer: SegmentWriter) {
    this.#writer = writer;
  }

  /** Starts a text after a top-level fence. */
  startText(): void {
    this.#structure.endFence();
    this.#contentStart = -1;
    this.#codeBlocks = [];
  }

  startLine(from: number, place: number): void {
    this.#phase = "indent";
    this.#line = "";
    this.#lineTaken = false;
    this.#lineFrom = from;
    this.#lineStart = place;
    this.#column = 0;
    this.#mayOpenFence = false;
  }

  /** Continues reading at `from`, up to the line end or the end of the chunk. */
  scan(chunk: string, from: number): number {
    let at = from;
    if (this.#phase === "indent") at = this.#scanIndent(chunk, at);
    if (this.#phase === "marks") at = this.#scanMarks(chunk, at);
    if (this.#phase === "run") at = this.#scanRun(chunk, at);
    if (this.#phase === "info") at = this.#scanInfo(chunk, at);
    if (this.#phase === "rest") at = this.#scanRest(chunk, at);
    return at;
  }

  /** True if the rest of this line decides no more, so that it needs no scan. */
  isDecided(): boolean {
    return this.#lineTaken && this.#phase === "rest";
  }

  /** Stores the needed part of an unfinished line for the next chunk. */
  endChunk(chunk: string): void {
    if (!this.#lineTaken) this.#line += chunk.slice(this.#lineFrom);
    this.#lineFrom = 0;
  }

  /** Ends the line at `at`. Returns the top-level fence that it opens, after which the text has ended. */
  endLine(chunk: string, at: number, place: number): OpenFence | undefined {
    if (!this.#lineTaken) this.#takeLine(this.#line + chunk.slice(this.#lineFrom, at));
    this.#previousLineEnd = place;
    const fence = this.#structure.fence;
    if (fence?.depth === 0) {
      this.#endText();
      return fence;
    }
    if (this.#mayOpenFence) this.#releaseLine(at);
    if (this.#contentStart < 0) this.#writer.drop(at + 1);
    return undefined;
  }

  /** Ends the text, in this line, at `place`. Returns the top-level fence that its last line opens. */
  end(place: number): OpenFence | undefined {
    if (this.#line !== "") this.#takeLine(this.#line);
    const fence = this.#structure.fence;
    if (fence?.depth !== 0) {
      if (fence !== undefined) this.#noteCodeBlock(fence, place);
      this.#writer.releaseHeldText();
    }
    this.#endText();
    return fence?.depth === 0 ? fence : undefined;
  }

  #endText(): void {
    this.#writer.endSegment(true, this.#codeBlocks);
  }

  #scanIndent(chunk: string, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (isBlank(code)) {
        this.#column = toNextColumn(code, this.#column);
      } else {
        if (isLineEnd(code)) return at;
        this.#mayOpenFence = (code === backtick || code === tilde) && this.#structure.canOpenFence(this.#column);
        if (!this.#mayOpenFence) this.#startContent();
        this.#phase = "marks";
        return at;
      }
    }
    return chunk.length;
  }

  #scanMarks(chunk: string, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (isLineEnd(code)) return at;
      if (code === backtick || code === tilde) {
        this.#phase = "run";
        this.#runMarker = code;
        this.#runLength = 0;
        return at;
      }
      if (!isBlank(code)) this.#writer.safeEnd = at + 1;
      if (code < 128 && isMark[code] === 1) continue;
      if (code === less || code === bracket) this.#phase = "rest";
      else if (!this.#decidePlainLine(at)) this.#decideLine(chunk, at + 1);
      return at + 1;
    }
    return chunk.length;
  }

  #scanRun(chunk: string, from: number): number {
    let at = from;
    while (at < chunk.length && chunk.charCodeAt(at) === this.#runMarker) at += 1;
    this.#runLength += at - from;
    if (!this.#mayOpenFence) this.#writer.safeEnd = at;
    if (at === chunk.length || isLineEnd(chunk.charCodeAt(at))) return at;
    if (this.#runLength < 3) this.#decideLine(chunk, at);
    else this.#phase = "info";
    return at;
  }

  #scanInfo(chunk: string, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (isLineEnd(code)) return at;
      if (code === backtick && this.#runMarker === backtick) {
        this.#decideLine(chunk, at + 1);
        return at + 1;
      }
      if (!this.#mayOpenFence && !isBlank(code)) this.#writer.safeEnd = at + 1;
    }
    return chunk.length;
  }

  #scanRest(chunk: string, from: number): number {
    let safeEnd = this.#writer.safeEnd;
    let at = from;
    for (; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (isLineEnd(code)) break;
      if (!isBlank(code)) safeEnd = at + 1;
    }
    this.#writer.safeEnd = safeEnd;
    return at;
  }

  /** Decides a line whose first character, at `at`, is ordinary text, if that is enough. */
  #decidePlainLine(at: number): boolean {
    if (at !== this.#lineFrom || this.#line !== "" || !this.#structure.takePlainLine()) return false;
    this.#phase = "rest";
    this.#lineTaken = true;
    return true;
  }

  /** Decides that the line opens no top-level fence, and skips it after `at`, unless the structure needs all of it. */
  #decideLine(chunk: string, at: number): void {
    this.#phase = "rest";
    this.#releaseLine(at);
    if (!this.#structure.needsWholeLine()) this.#takeLine(this.#line + chunk.slice(this.#lineFrom, at));
  }

  /** Stops holding the line back. */
  #releaseLine(at: number): void {
    this.#mayOpenFence = false;
    this.#startContent();
    this.#writer.safeEnd = at;
  }

  /** Notes that the line is content: it is not blank and opens no top-level fence. */
  #startContent(): void {
    if (this.#contentStart < 0) this.#contentStart = this.#lineStart;
  }

  /** Passes the line, or enough of it, to the structure. Records the start and the end of nested fences. */
  #takeLine(line: string): void {
    const before = this.#structure.fence;
    const closes = this.#structure.takeLine(line);
    const fence = this.#structure.fence;
    this.#line = "";
    this.#lineTaken = true;
    if (before === fence) return;
    if (before !== undefined) {
      this.#noteCodeBlock(before, closes ? this.#lineStart + findBlankEnd(line) : this.#previousLineEnd);
    }
    if (fence !== undefined) this.#nestedStart = this.#lineStart + fence.offset;
  }

  /** Records a nested fence that ends at this place. */
  #noteCodeBlock(fence: OpenFence, end: number): void {
    const { language } = parseInfoString(fence.info);
    const offset = this.#nestedStart - this.#contentStart;
    this.#codeBlocks.push({ offset, length: end - this.#nestedStart, language });
  }
}
