import type { CodePurpose, NestedCodeBlock } from "@sheaf/protocol";

/** Free text between fences (N15, N24). */
export interface TextSegmentText {
  readonly type: "text";
}

/** A top-level fence whose info string is not a reference (N19). */
export interface TextSegmentCodeBlock {
  readonly type: "code_block";
  /** The first word of the info string, unchanged; "" for an empty one. */
  readonly language: string;
  /** The whole info string, if it contains more than the language. */
  readonly info?: string;
  /** Value of the info attribute `purpose=…` (N23). */
  readonly purpose?: CodePurpose;
}

/** A top-level fence that quotes lines of a file (N19). */
export interface TextSegmentCodeReference {
  readonly type: "code_reference";
  /** The path as the model wrote it; the caller applies N21. */
  readonly filePath: string;
  /** Number of the first line, from 1. */
  readonly startLine: number;
  /** Number of the last line, which is included; at least `startLine`. */
  readonly endLine: number;
  /** Language by the file name (N20). */
  readonly language: string;
}

/** One piece of a model's text; it becomes one document. */
export type TextSegment = TextSegmentText | TextSegmentCodeBlock | TextSegmentCodeReference;

/** The facts at the end of a segment. */
export interface SegmentEnd {
  /** False for a fence without a closing line (N18). Text is always closed. */
  readonly closed: boolean;
  /**
   * The fences nested in a text, if any (N17): each from its first backtick or tilde to the last one of its closing
   * line, or to its last line. Offsets and lengths are in UTF-16 units of the content.
   */
  readonly codeBlocks?: readonly NestedCodeBlock[];
}

/** The output of the parser. The deltas of a segment, joined, are its content (N47). */
export type TextParserEvent =
  | { readonly type: "segment_start"; readonly segment: TextSegment }
  | { readonly type: "segment_delta"; readonly delta: string }
  | ({ readonly type: "segment_end" } & SegmentEnd);

/** Receives the parser's output as calls. */
export interface SegmentSink {
  startSegment(segment: TextSegment): void;
  writeDelta(delta: string): void;
  endSegment(end: SegmentEnd): void;
}
