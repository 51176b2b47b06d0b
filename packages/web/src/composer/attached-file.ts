/** An image or a PDF that goes with a message, as bytes (X19). */

export interface AttachedFile {
  readonly name: string;
  /** What its bytes are, by their beginning; the browser goes by the name. */
  readonly mediaType: string;
  /** Has that type, too: nothing else is shown (S-102). */
  readonly blob: Blob;
}

/** Of one message, as the server has them. */
const MAX_FILES = 20;
const MAX_BYTES = 10 * 1024 * 1024;

const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^%PDF-/, "application/pdf"],
];

/** Undefined for what is no image and no PDF. */
export function detectMediaType(head: Uint8Array): string | undefined {
  const text = String.fromCharCode(...head.subarray(0, 12));
  return beginnings.find(([pattern]) => pattern.test(text))?.[1];
}

/** Undefined for what is no image and no PDF, or cannot be read. */
export async function readAttachedFile(file: File): Promise<AttachedFile | undefined> {
  try {
    const mediaType = detectMediaType(new Uint8Array(await file.slice(0, 12).arrayBuffer()));
    if (mediaType === undefined) return undefined;
    const blob = file.slice(0, file.size, mediaType);
    return { name: file.name || "file", mediaType, blob };
  } catch {
    return undefined;
  }
}

/** Whether a message takes these files; `sizes` in bytes. */
export function fitsMessage(sizes: readonly number[]): boolean {
  return sizes.length <= MAX_FILES && sizes.reduce((sum, size) => sum + size, 0) <= MAX_BYTES;
}
