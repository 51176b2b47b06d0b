/** A message that is being written. */
import type { AttachedFile } from "./attached-file.ts";

export interface Draft {
  readonly text: string;
  /** Workspace files that the message mentions. */
  readonly paths: readonly string[];
  /** Images and PDF files that go with the message, as bytes. */
  readonly files: readonly AttachedFile[];
}

export const emptyDraft: Draft = { text: "", paths: [], files: [] };

export function isSendable({ text, paths, files }: Draft): boolean {
  return text.trim() !== "" || paths.length > 0 || files.length > 0;
}

/**
 * The message as it is sent. Files are sent as paths, in mentions after the text (`@src/main.py`): the model
 * reads them with its tools, under the server's rules; these are not uploaded.
 */
export function toMessageText({ text, paths }: Draft): string {
  const mentions = paths.map((path) => (/\s/.test(path) ? `@"${path}"` : `@${path}`)).join(" ");
  return [text.trim(), mentions].filter((part) => part !== "").join("\n\n");
}
