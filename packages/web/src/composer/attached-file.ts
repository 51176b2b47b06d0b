/** An image, a PDF or a text that goes with a message, as bytes (X19, X49). */
import type { AttachmentList } from "@sheaf/client";

export interface AttachedFile {
  readonly name: string;
  /** Media type by the first bytes of the file; the browser only looks at the name. */
  readonly mediaType: string;
  /** Bytes of the file, with the same type: the page shows no other bytes (S-102). */
  readonly blob: Blob;
}

/** The server's limits of files (X108), in bytes, except `messageFiles`. */
export type FileLimits = Pick<
  AttachmentList["limits"],
  "fileBytes" | "imageBytes" | "textBytes" | "messageFiles" | "messageBytes"
>;

/** Limits until the server has sent its limits. */
export const defaultFileLimits: FileLimits = {
  fileBytes: 10 * 1024 * 1024,
  imageBytes: 3.75 * 1024 * 1024,
  textBytes: 256 * 1024,
  messageFiles: 20,
  messageBytes: 10 * 1024 * 1024,
};

const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^%PDF-/, "application/pdf"],
];

/** Returns the media type of an image or a PDF by its first bytes; undefined for all other files. */
export function detectMediaType(head: Uint8Array): string | undefined {
  const text = String.fromCharCode(...head.subarray(0, 12));
  return beginnings.find(([pattern]) => pattern.test(text))?.[1];
}

/** Reads a file; undefined if the server doesn't accept its type, or if the browser can't read it. */
export async function readAttachedFile(file: File, limits: FileLimits): Promise<AttachedFile | undefined> {
  try {
    const head = new Uint8Array(await file.slice(0, 12).arrayBuffer());
    const mediaType = detectMediaType(head) ?? ((await isText(file, limits)) ? "text/plain" : undefined);
    if (mediaType === undefined) return undefined;
    const blob = file.slice(0, file.size, mediaType);
    return { name: file.name || "file", mediaType, blob };
  } catch {
    return undefined;
  }
}

/** True for UTF-8 without NUL whose name has no extension of another type (X49). */
async function isText(file: File, { textBytes }: FileLimits): Promise<boolean> {
  if (file.size === 0 || file.size > textBytes || /\.(png|jpe?g|gif|webp|pdf)$/i.test(file.name)) return false;
  const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  return !text.includes("\0");
}

/** Number of bytes a file of this type may have. */
export function findLimit({ mediaType }: Pick<AttachedFile, "mediaType">, limits: FileLimits): number {
  return mediaType.startsWith("image/") ? limits.imageBytes : limits.fileBytes;
}

interface MeasuredFile extends Pick<AttachedFile, "mediaType"> {
  /** Size in bytes. */
  readonly size: number;
}

/** True if one message may have all these files. */
export function fitsMessage(files: readonly MeasuredFile[], limits: FileLimits): boolean {
  const measure = (some: readonly MeasuredFile[]): number => some.reduce((sum, { size }) => sum + size, 0);
  const texts = files.filter(({ mediaType }) => mediaType === "text/plain");
  const { messageFiles, messageBytes, textBytes } = limits;
  return files.length <= messageFiles && measure(files) <= messageBytes && measure(texts) <= textBytes;
}
