/** Reads a file's media type and an image's size from its first bytes. Sheaf decodes no other part of it (S-102). */
import type { AttachmentType } from "@sheaf/protocol";

/** Width and height in pixels. */
interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Number of bytes that `detectMediaType` needs. */
const HEAD_BYTES = 12;

type DetectedType = Exclude<AttachmentType, "text/plain">;

/** Returns the media type; undefined if it is not an image or a PDF (N65). */
export function detectMediaType(bytes: Uint8Array): DetectedType | undefined {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  if (/^RIFF[^]{4}WEBP/.test(head)) return "image/webp";
  return head.startsWith("%PDF-") ? "application/pdf" : undefined;
}

/** Returns the size in the header; undefined if the header is damaged. */
export function readImageSize(bytes: Uint8Array, mediaType: Exclude<DetectedType, "application/pdf">) {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = readers[mediaType](view);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // The file ends within its header.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const readers: Readonly<Record<Exclude<DetectedType, "application/pdf">, (view: Buffer) => ImageSize | undefined>> = {
  "image/png": (view) => ({ width: view.readUInt32BE(16), height: view.readUInt32BE(20) }),
  "image/gif": (view) => ({ width: view.readUInt16LE(6), height: view.readUInt16LE(8) }),
  "image/jpeg": readJpegSize,
  "image/webp": readWebpSize,
};

/** Searches the segments for the frame header. */
function readJpegSize(view: Buffer): ImageSize | undefined {
  for (let at = 2; view[at] === 0xff;) {
    const marker = view.readUInt8(at + 1);
    // This byte only fills space.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.readUInt16BE(at + 7), height: view.readUInt16BE(at + 5) };
    at += 2 + Math.max(2, view.readUInt16BE(at + 2));
  }
  return undefined;
}

/** Reads the three kinds: lossy, lossless, or extended. */
function readWebpSize(view: Buffer): ImageSize | undefined {
  const kind = view.toString("latin1", 12, 16);
  if (kind === "VP8 ") return { width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff };
  if (kind === "VP8X") return { width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 };
  if (kind !== "VP8L") return undefined;
  const bits = view.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
