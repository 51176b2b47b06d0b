/** An image, a PDF or a text that goes with a message, as bytes (X19, X49). */

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
const MAX_TEXT_BYTES = 256 * 1024;

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

/** Undefined for what the server does not take, or what cannot be read. */
export async function readAttachedFile(file: File): Promise<AttachedFile | undefined> {
  try {
    const head = new Uint8Array(await file.slice(0, 12).arrayBuffer());
    const mediaType = detectMediaType(head) ?? ((await isText(file)) ? "text/plain" : undefined);
    if (mediaType === undefined) return undefined;
    const blob = file.slice(0, file.size, mediaType);
    return { name: file.name || "file", mediaType, blob };
  } catch {
    return undefined;
  }
}

/** UTF-8 without NUL, whose name does not say that it is something else (X49). */
async function isText(file: File): Promise<boolean> {
  if (file.size === 0 || file.size > MAX_TEXT_BYTES || /\.(png|jpe?g|gif|webp|pdf)$/i.test(file.name)) return false;
  const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  return !text.includes("\0");
}

/** Whether a message takes these files. */
export function fitsMessage(
  files: readonly { readonly mediaType: string; readonly blob: Pick<Blob, "size"> }[],
): boolean {
  const measure = (some: typeof files): number => some.reduce((sum, { blob }) => sum + blob.size, 0);
  const texts = files.filter(({ mediaType }) => mediaType === "text/plain");
  return files.length <= MAX_FILES && measure(files) <= MAX_BYTES && measure(texts) <= MAX_TEXT_BYTES;
}
