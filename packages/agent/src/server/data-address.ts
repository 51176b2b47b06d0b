/** Files in the bodies of other APIs: `data:` addresses, never ones of the web (N65, S-102). */
import type { Attachment, ChatAttachment } from "@sheaf/protocol";
import { isBase64 } from "@sheaf/protocol/schema";
import { toMessageAttachments } from "../workspace/attachment.ts";
import { HttpError } from "./http-error.ts";

/** @throws HttpError USAGE that names the field. */
export function readDataAddress(address: string, name: string | undefined, field: string): ChatAttachment {
  const [head] = /^data:[^,]{0,200};base64,/.exec(address) ?? [];
  const data = head === undefined ? "" : address.slice(head.length);
  if (isBase64(data)) return { name: name || "file", data };
  const message = `the body is not valid at ${field}: ${JSON.stringify(address.slice(0, 50))} is not a file: send "data:…;base64,…"`;
  throw new HttpError("USAGE", message, { field });
}

/** @throws SheafError USAGE that names the file. */
export function toFiles(attachments: readonly ChatAttachment[]): readonly Attachment[] {
  return toMessageAttachments(attachments.map(({ name, data }) => ({ name, bytes: Buffer.from(data, "base64") })));
}
