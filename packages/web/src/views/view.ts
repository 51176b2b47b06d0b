/** Input of a view: a document as the reducer returns it. Its metadata is untrusted, and any field may be missing. */
import type { ComponentChildren } from "preact";
import { readObject } from "./metadata.ts";

/** Unchecked metadata. */
export type ForeignMetadata = Readonly<Record<string, unknown>>;

export interface ShownDocument {
  /** Id, unique within the response (N9). */
  readonly id: string;
  /** One of the ten types, or a type unknown to this page (N13). */
  readonly type: string;
  readonly sequence: number;
  readonly content: string | null;
  readonly metadata: ForeignMetadata;
  /** Present while the document may still grow (N3). */
  readonly status?: "in_progress";
}

export interface ViewProps {
  readonly document: ShownDocument;
  readonly responseId: string;
  /** True if the response is the last one of the conversation, so that the user can answer its questions. */
  readonly isCurrent: boolean;
}

export type View = (props: ViewProps) => ComponentChildren;

/** True if the result of the call is an error. */
export function isFailed({ metadata }: ShownDocument): boolean {
  return readObject(metadata, "result")?.["status"] === "error";
}

/** True while more of the document may follow. */
export function isOpen(document: ShownDocument): boolean {
  return document.status === "in_progress";
}
