/** A message that is being written. */
import type { AttachedFile } from "./attached-file.ts";

export interface Draft {
  readonly text: string;
  /** Images and PDF files that go with the message, as bytes. */
  readonly files: readonly AttachedFile[];
}

export const emptyDraft: Draft = { text: "", files: [] };

export function isSendable({ text, files }: Draft): boolean {
  return text.trim() !== "" || files.length > 0;
}
