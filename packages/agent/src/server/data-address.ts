/** Files in the bodies of other APIs: `data:` addresses, never ones of the web (N65, S-102). */
import type { Attachment, ChatAttachment } from "@sheaf/protocol";
import { toMessageAttachments } from "../workspace/attachment.ts";
import { HttpError } from "./http-error.ts";

/** @throws HttpError USAGE that names the field. */
export function readDataAddress(address: string, name: string | undefined, field: string): ChatAttachment {
  const [, data] = /^data:[^,]{0,200};base64,([A-Za-z0-9+/]+={0,2})$/.exec(address) ?? [];
  if (data !== undefined) return { name: name || "file", data };
  const message = `the body is not valid at ${field}: ${JSON.stringify(address.slice(0, 50))} is not a file: send "data:…;base64,…"`;
  throw new HttpError("USAGE", message, { field });
}

/** @throws SheafError USAGE that names the file. */
export function toFiles(attachments: readonly ChatAttachment[]): readonly Attachment[] {
  return toMessageAttachments(attachments.map(({ name, data }) => ({ name, bytes: Buffer.from(data, "base64") })));
}
