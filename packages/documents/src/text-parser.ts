import type { NestedCodeBlock } from "@sheaf/protocol";
import { trimBlankEnd } from "./blank.ts";
import type { OpenFence } from "./block-structure.ts";
import { CodeLineScanner } from "./code-line-scanner.ts";
import { parseInfoString } from "./info-string.ts";
import { carriageReturn, isLineEnd, lineFeed } from "./line-end.ts";
import { SegmentWriter } from "./segment-writer.ts";
import { isHighSurrogate } from "./surrogate.ts";
import { TextLineScanner } from "./text-line-scanner.ts";
import type { TextParserEvent, TextSegment } from "./text-segment.ts";

export type { CodePurpose, NestedCodeBlock } from "@sheaf/protocol";
export type {
  TextParserEvent,
  TextSegment,
  TextSegmentCodeBlock,
  TextSegmentCodeReference,
  TextSegmentText,
} from "./text-segment.ts";

/** Splits the text of one model request into segments while it comes (N15–N27). Every request needs a new one (N27). */
export interface TextParser {
  /** Takes the next piece of text, cut anywhere. Gives what is certain now: at most one delta per segment. */
  push(chunk: string): TextParserEvent[];
  /** The text is over: gives what was held back and ends the open segment. To be called once, last. */
  end(): TextParserEvent[];
}

/** A segment with its content, of a complete text. */
export type ParsedSegment = TextSegment & {
  readonly content: string;
  readonly closed: boolean;
  readonly codeBlocks?: readonly NestedCodeBlock[];
};

/** A parser for the text of one model request. */
export function createTextParser(): TextParser {
  return new FenceParser();
}

/** The segments of a complete text; by the chunk law (N25) the same as those of its pieces. */
export function parseText(text: string): ParsedSegment[] {
  const parser = createTextParser();
  const segments: ParsedSegment[] = [];
  let segment: TextSegment = { type: "text" };
  let content = "";
  for (const event of [...parser.push(text), ...parser.end()]) {
    if (event.type === "segment_start") {
      segment = event.segment;
      content = "";
    } else if (event.type === "segment_delta") {
      content += event.delta;
    } else {
      const { type: _, ...end } = event;
      segments.push({ ...segment, content, ...end });
    }
  }
  return segments;
}

/** The parser, with its two ways apart. */
export class FenceParser implements TextParser {
  readonly #writer = new SegmentWriter();
  readonly #text = new TextLineScanner(this.#writer);
  /** Set inside of a top-level fence. */
  #code: CodeLineScanner | undefined;
  /** UTF-16 units of the text before the current chunk. */
  #chunkStart = 0;
  /** The last line end was a CR: a LF right behind it is part of it. */
  #afterReturn = false;
  /** The segment has started, and its current line decides nothing any more. */
  #passes = false;

  push(chunk: string): TextParserEvent[] {
    const delta = this.pass(chunk);
    return delta === undefined ? this.scan(chunk) : [{ type: "segment_delta", delta }];
  }

  /**
   * The quick way: most chunks lie within a line that decides nothing any more. Gives the delta that such a chunk
   * makes; undefined for any other, which has not been taken and is to be scanned.
   */
  pass(chunk: string): string | undefined {
    if (!this.#passes) return undefined;
    let code = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      code = chunk.charCodeAt(at);
      if (code <= carriageReturn && isLineEnd(code)) return undefined;
    }
    let length = chunk.length;
    if (isHighSurrogate(code)) length -= 1;
    else if (code <= 0x20 && this.#code === undefined) length = trimBlankEnd(chunk).length;
    if (length === 0) return undefined;
    this.#chunkStart += chunk.length;
    return this.#writer.passChunk(chunk, length);
  }

  /** Takes any chunk. */
  scan(chunk: string): TextParserEvent[] {
    this.#writer.openChunk(chunk);
    let at = 0;
    while (at < chunk.length) {
      if (this.#afterReturn) {
        at = this.#skipLineFeed(chunk, at);
      } else {
        at = this.#code === undefined ? this.#text.scan(chunk, at) : this.#code.scan(chunk, at);
        if (at < chunk.length) at = this.#endLine(chunk, at);
      }
    }
    if (this.#code === undefined) this.#text.endChunk(chunk);
    this.#chunkStart += chunk.length;
    const events = this.#writer.closeChunk();
    this.#passes = this.#writer.hasStarted && (this.#code ?? this.#text).isDecided();
    return events;
  }

  end(): TextParserEvent[] {
    const writer = this.#writer;
    writer.openChunk("");
    if (this.#code === undefined) {
      const fence = this.#text.end(this.#chunkStart);
      if (fence !== undefined) {
        writer.startSegment(parseInfoString(fence.info));
        writer.endSegment(false, []);
      }
    } else {
      writer.endSegment(this.#code.end(), []);
    }
    return writer.closeChunk();
  }

  /** Ends the line whose line end is at `at`; gives the place behind that one character. */
  #endLine(chunk: string, at: number): number {
    this.#afterReturn = chunk.charCodeAt(at) === carriageReturn;
    if (this.#code === undefined) {
      const fence = this.#text.endLine(chunk, at, this.#chunkStart + at);
      if (fence !== undefined) this.#startCode(fence, at + 1);
    } else if (this.#code.endLine(at)) {
      this.#startText(at + 1);
    }
    this.#startLine(at + 1);
    return at + 1;
  }

  #skipLineFeed(chunk: string, at: number): number {
    this.#afterReturn = false;
    if (chunk.charCodeAt(at) !== lineFeed) return at;
    // Where the CR was no content, the LF is none.
    if (this.#writer.isEmptyUntil(at)) this.#writer.drop(at + 1);
    this.#startLine(at + 1);
    return at + 1;
  }

  #startLine(from: number): void {
    if (this.#code === undefined) this.#text.startLine(from, this.#chunkStart + from);
    else this.#code.startLine();
  }

  #startCode(fence: OpenFence, from: number): void {
    this.#writer.startSegment(parseInfoString(fence.info));
    this.#writer.drop(from);
    this.#code = new CodeLineScanner(fence, this.#writer);
  }

  #startText(from: number): void {
    this.#writer.endSegment(true, []);
    this.#writer.startSegment({ type: "text" });
    this.#writer.drop(from);
    this.#text.startText();
    this.#code = undefined;
  }
}
