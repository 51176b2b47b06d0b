/** Files in the form of the Chat API (X19). */
import type { AttachmentReference, ChatAttachment } from "@sheaf/protocol";

/** A file of a message (X19). */
export interface MessageFile {
  readonly name: string;
  /** Bytes of the file, for instance a `File` of the browser. */
  readonly blob: Blob;
}

/** A file that the server has already (X46). */
export interface SentFile {
  /** Id of the file: `att_<id>`. */
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  /** Bytes of the file, if the client has them: to show them, and to send them again. */
  readonly blob?: Blob | undefined;
}

/** Bytes of one step: a multiple of three, and few enough for one call. */
const step = 3 * 8192;

export async function encodeFile({ name, blob }: MessageFile): Promise<ChatAttachment> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += step) text += btoa(String.fromCharCode(...bytes.subarray(at, at + step)));
  return { name, data: text };
}

/** Turns a file into an entry of a message's `attachments` (X47). */
export async function toEntry(file: MessageFile | SentFile): Promise<ChatAttachment | AttachmentReference> {
  return "id" in file ? { id: file.id } : encodeFile(file);
}

/** Turns a file into an attachment of a turn. */
export function toTurnFile(file: MessageFile | SentFile) {
  const { name, blob } = file;
  return { name, mediaType: "id" in file ? file.mediaType : file.blob.type, ...(blob && { blob }) };
}
