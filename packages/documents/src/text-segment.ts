import type { CodePurpose, NestedCodeBlock } from "@sheaf/protocol";

/** Free text between fences (N15, N24). */
export interface TextSegmentText {
  readonly type: "text";
}

/** A top-level fence whose info string is no reference (N19). */
export interface TextSegmentCodeBlock {
  readonly type: "code_block";
  /** The first blank-separated word of the info string, as it is; "" if there is none. */
  readonly language: string;
  /** The whole info string, if it contains more than the language. */
  readonly info?: string;
  /** From an info attribute `purpose=…` (N23). */
  readonly purpose?: CodePurpose;
}

/** A top-level fence that quotes lines of a file (N19). */
export interface TextSegmentCodeReference {
  readonly type: "code_reference";
  /** As the model wrote it; N21 is up to the caller. */
  readonly filePath: string;
  /** From 1. */
  readonly startLine: number;
  /** Inclusive; at least `startLine`. */
  readonly endLine: number;
  /** By the file name (N20). */
  readonly language: string;
}

/** One piece of a model's text; it becomes one document. */
export type TextSegment = TextSegmentText | TextSegmentCodeBlock | TextSegmentCodeReference;

/** What is known when a segment ends. */
export interface SegmentEnd {
  /** False for a fence without a closing line (N18). Text is always closed. */
  readonly closed: boolean;
  /**
   * The fences nested in a text, if there are any (N17): each from its first backtick or tilde up to the last one
   * of its closing line, or up to its last line. Offsets and lengths are in UTF-16 units of the content.
   */
  readonly codeBlocks?: readonly NestedCodeBlock[];
}

/** The output of the parser. The deltas of a segment, joined, are its content (N47). */
export type TextParserEvent =
  | { readonly type: "segment_start"; readonly segment: TextSegment }
  | { readonly type: "segment_delta"; readonly delta: string }
  | ({ readonly type: "segment_end" } & SegmentEnd);

/** Receives the same as calls. */
export interface SegmentSink {
  startSegment(segment: TextSegment): void;
  writeDelta(delta: string): void;
  endSegment(end: SegmentEnd): void;
}
