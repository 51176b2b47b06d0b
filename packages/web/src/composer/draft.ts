/** An unsent message. */
import type { SentFile } from "@sheaf/client/chat";
import type { AttachedFile } from "./attached-file.ts";

/** A file of a draft, uploaded as soon as the user chooses it (X46). */
export interface DraftFile extends Pick<AttachedFile, "name" | "mediaType"> {
  /** Key of the file, unique in this draft. */
  readonly key: number;
  /** Size in bytes. */
  readonly size: number;
  /** Bytes of the file; the page loses them at a reload. */
  readonly blob?: Blob | undefined;
  /** State of the upload. `gone`: the server and the page have lost the file. */
  readonly state: "sending" | "sent" | "failed" | "gone";
  /** Id `att_<id>`, after the upload. */
  readonly id?: string | undefined;
  /** The reason why the upload failed. */
  readonly error?: unknown;
}

export interface Draft {
  readonly text: string;
  readonly files: readonly DraftFile[];
  /** True if the page sends the draft as soon as its files are uploaded. */
  readonly isWaiting: boolean;
}

export const emptyDraft: Draft = { text: "", files: [], isWaiting: false };

/** True if the user can send the draft, now or after its uploads. */
export function isSendable({ text, files, isWaiting }: Draft): boolean {
  if (isWaiting || files.some(({ state }) => state === "failed" || state === "gone")) return false;
  return text.trim() !== "" || files.length > 0;
}

/** Returns the uploaded files, as a message has them; undefined without any. */
export function toSentFiles(files: readonly DraftFile[]): readonly SentFile[] | undefined {
  const sent = files.flatMap(({ id, name, mediaType, blob }) =>
    id === undefined ? [] : [{ id, name, mediaType, blob }],
  );
  return sent.length > 0 ? sent : undefined;
}
