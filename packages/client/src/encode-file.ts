/** Files as the Chat API takes them (X19). */
import type { ChatAttachment } from "@sheaf/protocol";

/** A file of a message (X19). */
export interface MessageFile {
  readonly name: string;
  /** Its bytes, a `File` of the browser for instance. */
  readonly blob: Blob;
}

/** Bytes of one step: a multiple of three, and few enough for one call. */
const step = 3 * 8192;

export async function encodeFile({ name, blob }: MessageFile): Promise<ChatAttachment> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += step) text += btoa(String.fromCharCode(...bytes.subarray(at, at + step)));
  return { name, data: text };
}
