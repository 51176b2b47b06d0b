/** Makes attachments of messages and results from bytes, checks and formats them (N65). */
import { hash } from "node:crypto";
import { basename } from "node:path";
import type { Attachment, AttachmentSummary, AttachmentType } from "@sheaf/protocol";
import { SheafError } from "../errors.ts";
import { readOrdinaryFile } from "../read-ordinary-file.ts";
import { decodeText } from "./text-format.ts";
import { detectMediaType, readImageSize } from "./image-header.ts";

/** Most bytes of an image. As base64 it has the 5 MiB that providers accept. */
const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;

/** Most bytes of a PDF, and of a message's attachments together. */
export const MAX_ATTACHED_BYTES = 10 * 1024 * 1024;

/** Most bytes of a message's texts together (X49). */
const MAX_TEXT_BYTES = 256 * 1024;

/** Most attachments of one message. */
const MAX_ATTACHMENTS = 20;

/** Most pixels that providers accept for one side of an image. */
const MAX_SIDE = 8000;

const MAX_NAME = 200;

/** Limits of every message, for all its senders. */
export const messageLimits = {
  imageBytes: MAX_IMAGE_BYTES,
  textBytes: MAX_TEXT_BYTES,
  messageFiles: MAX_ATTACHMENTS,
  messageBytes: MAX_ATTACHED_BYTES,
} as const;

const notAttachable = "is not a PNG, JPEG, GIF or WebP image and not a PDF";

/** An attachment, or its fault and the remedy as text that follows the name of the file. */
export type AttachmentResult =
  | { readonly ok: true; readonly value: Attachment }
  | { readonly ok: false; readonly problem: string };

/** Makes an attachment. `name` is for people and for the model; its folders and control characters disappear. */
export function toAttachment(bytes: Uint8Array, name: string): AttachmentResult {
  const mediaType = detectMediaType(bytes);
  if (!mediaType) {
    return fail(`${notAttachable}: convert it, for instance to PNG`);
  }
  const isImage = mediaType !== "application/pdf";
  const limit = isImage ? MAX_IMAGE_BYTES : MAX_ATTACHED_BYTES;
  if (bytes.length > limit) {
    const advice = isImage ? "make it smaller, or save it as JPEG" : "attach only the pages that matter";
    return fail(`has ${bytes.length} bytes, at most ${limit} are allowed: ${advice}`);
  }
  const size = isImage ? readImageSize(bytes, mediaType) : undefined;
  if (isImage && !size) return fail("is damaged, its header gives no size: save it again");
  if (size && Math.max(size.width, size.height) > MAX_SIDE) {
    return fail(
      `has ${size.width} x ${size.height} px, at most ${MAX_SIDE} px a side are allowed: make it smaller, or attach a part`,
    );
  }
  return { ok: true, value: { ...toValue(bytes, name, mediaType), ...size } };
}

/** Makes an attachment as `toAttachment` does, or from a text in UTF-8 (X49). */
export function toMessageFile(bytes: Uint8Array, name: string): AttachmentResult {
  if (detectMediaType(bytes) || /\.(png|jpe?g|gif|webp|pdf)$/i.test(name)) return toAttachment(bytes, name);
  if (bytes.includes(0) || decodeText(bytes, { encoding: "utf-8", hasMark: false }) === undefined) {
    return fail(`${notAttachable}, and not a text in UTF-8: convert it`);
  }
  if (bytes.length > MAX_TEXT_BYTES) {
    return fail(
      `has ${bytes.length} bytes, at most ${MAX_TEXT_BYTES} are allowed of a text: attach the part that matters`,
    );
  }
  return { ok: true, value: toValue(bytes, name, "text/plain") };
}

function toValue(bytes: Uint8Array, name: string, mediaType: AttachmentType): Attachment {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return { name: toShownName(name), mediaType, bytes: bytes.length, sha256: hash("sha256", bytes, "hex"), data };
}

function fail(problem: string): AttachmentResult {
  return { ok: false, problem };
}

function toShownName(name: string): string {
  const plain = basename(name.replaceAll("\\", "/"))
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}[\]]/gu, "")
    .slice(0, MAX_NAME);
  return plain.toWellFormed().trim() || "file";
}

/** Returns the fields that output formats may show (N66). */
export function toAttachmentSummary({ name, mediaType, bytes, sha256 }: Attachment): AttachmentSummary {
  return { name, mediaType, bytes, sha256 };
}

/** Formats an attachment as `shot.png (image/png, 640 x 480 px, 12345 bytes)`. */
export function formatAttachment({ name, mediaType, width, height, bytes }: Attachment): string {
  const size = width === undefined ? "" : ` ${width} x ${height} px,`;
  return `${name} (${mediaType},${size} ${bytes} bytes)`;
}

/** Reads files that the user named, once, in order. @throws SheafError USAGE with the file's name. */
export function readAttachments(files: readonly string[]): Attachment[] {
  return toMessageAttachments(files.map((file) => ({ name: file, bytes: readBytes(file) })));
}

/** A file of a message. */
export interface NamedBytes {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** False if the sender calls it an image or a document: a text is then a mistake (N126). */
  readonly isText?: false;
}

/** Makes the attachments of one message. @throws SheafError USAGE with the file's name, or with the limit. */
export function toMessageAttachments(files: readonly NamedBytes[]): Attachment[] {
  const found = files.map(({ name, bytes, isText }) => {
    const made = isText === false ? toAttachment(bytes, name) : toMessageFile(bytes, name);
    if (made.ok) return made.value;
    throw new SheafError("USAGE", `${name} ${made.problem}`);
  });
  const excess = findExcess(found);
  if (excess !== undefined) throw new SheafError("USAGE", excess);
  return found;
}

type Measured = Pick<Attachment, "mediaType" | "bytes">;

/** Returns the limit that the attachments of one message exceed, with a remedy; undefined if they fit. */
export function findExcess(attachments: readonly Measured[]): string | undefined {
  if (attachments.length > MAX_ATTACHMENTS) {
    return `the message has ${attachments.length} attachments, at most ${MAX_ATTACHMENTS} are allowed: send some later`;
  }
  const texts = attachments.filter(({ mediaType }) => mediaType === "text/plain");
  const totals: readonly (readonly [string, readonly Measured[], number])[] = [
    ["attachments", attachments, MAX_ATTACHED_BYTES],
    ["attached texts", texts, MAX_TEXT_BYTES],
  ];
  for (const [what, those, most] of totals) {
    const bytes = those.reduce((sum, each) => sum + each.bytes, 0);
    if (bytes > most)
      return `the ${what} have ${bytes} bytes, at most ${most} are allowed in a message: send some later`;
  }
  return undefined;
}

function readBytes(file: string): Buffer {
  const read = readOrdinaryFile(file, MAX_ATTACHED_BYTES);
  if (read.ok) return read.bytes;
  throw new SheafError("USAGE", `the attachment ${file} ${read.problem}: name an image, a PDF or a text`);
}
