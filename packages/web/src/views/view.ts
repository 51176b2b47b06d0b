/** What a view gets: a document as the reducer gives it. Its metadata are foreign and may lack anything. */
import type { ComponentChildren } from "preact";

/** Metadata before they were looked at. */
export type ForeignMetadata = Readonly<Record<string, unknown>>;

export interface ShownDocument {
  /** Unique within the response (N9). */
  readonly id: string;
  /** One of the ten, or one that this page does not know (N13). */
  readonly type: string;
  readonly sequence: number;
  readonly content: string | null;
  readonly metadata: ForeignMetadata;
  /** There while it may still grow (N3). */
  readonly status?: "in_progress";
}

export interface ViewProps {
  readonly document: ShownDocument;
  readonly responseId: string;
  /** The response is the last one of the conversation: questions in it can be answered. */
  readonly isCurrent: boolean;
}

export type View = (props: ViewProps) => ComponentChildren;

/** True while more of the document may come. */
export function isOpen(document: ShownDocument): boolean {
  return document.status === "in_progress";
}
