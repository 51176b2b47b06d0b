/** Files in the bodies of other APIs: `data:` addresses, never ones of the web (N65, S-102). */
import type { Attachment, ChatAttachment } from "@sheaf/protocol";
import { isBase64 } from "@sheaf/protocol/schema";
import { toMessageAttachments } from "@sheaf/base/files/attachment";
import { detectMediaType } from "@sheaf/base/files/image-header";
import { HttpError } from "./http-error.ts";

/** @throws HttpError USAGE with the name of the field. */
export function readDataAddress(address: string, name: string | undefined, field: string): ChatAttachment {
  const [head] = /^data:[^,]{0,200};base64,/.exec(address) ?? [];
  const data = head === undefined ? "" : address.slice(head.length);
  // A text that claims to be an image would otherwise be taken as a text (X49).
  const isFile = head?.startsWith("data:text/") || detectMediaType(Buffer.from(data.slice(0, 32), "base64"));
  if (isBase64(data) && isFile) return { name: name || "file", data };
  const message = `the body is not valid at ${field}: ${JSON.stringify(address.slice(0, 50))} is not a file: send the bytes of an image, a PDF or a text as "data:…;base64,…"`;
  throw new HttpError("USAGE", message, { field });
}

/** @throws SheafError USAGE with the name of the file. */
export function toFiles(attachments: readonly ChatAttachment[]): readonly Attachment[] {
  return toMessageAttachments(attachments.map(({ name, data }) => ({ name, bytes: Buffer.from(data, "base64") })));
}
