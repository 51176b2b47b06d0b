/** A message that is being written. */
import type { SentFile } from "@sheaf/client/chat";
import type { AttachedFile } from "./attached-file.ts";

/** A file of it: at the server as soon as it is chosen (X46). */
export interface DraftFile extends Pick<AttachedFile, "name" | "mediaType"> {
  /** Of this draft alone. */
  readonly key: number;
  /** Bytes. */
  readonly size: number;
  /** Its bytes; after a reload the page does not have them. */
  readonly blob?: Blob | undefined;
  /** `gone`: neither the server nor the page has it any more. */
  readonly state: "sending" | "sent" | "failed" | "gone";
  /** `att_<id>`, once it was sent. */
  readonly id?: string | undefined;
  /** The reason why it could not be sent. */
  readonly error?: unknown;
}

export interface Draft {
  readonly text: string;
  readonly files: readonly DraftFile[];
  /** It is sent as soon as its files are. */
  readonly isWaiting: boolean;
}

export const emptyDraft: Draft = { text: "", files: [], isWaiting: false };

/** True if it can be sent, now or once its files were. */
export function isSendable({ text, files, isWaiting }: Draft): boolean {
  if (isWaiting || files.some(({ state }) => state === "failed" || state === "gone")) return false;
  return text.trim() !== "" || files.length > 0;
}

/** Its files, as a message has them. */
export function toSentFiles(files: readonly DraftFile[]): readonly SentFile[] | undefined {
  const sent = files.flatMap(({ id, name, mediaType, blob }) =>
    id === undefined ? [] : [{ id, name, mediaType, blob }],
  );
  return sent.length > 0 ? sent : undefined;
}
