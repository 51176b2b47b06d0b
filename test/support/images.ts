/** Files with the headers of images: as small as they can be, and of any size in pixels. */
import type { Attachment } from "@sheaf/protocol";
import { toAttachment } from "../../packages/base/src/files/attachment.ts";

export function createPng(width: number, height: number, extraBytes = 0): Buffer {
  const png = Buffer.alloc(33 + extraBytes);
  png.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

export function createGif(width: number, height: number): Buffer {
  const gif = Buffer.alloc(13);
  gif.write("GIF89a", "latin1");
  gif.writeUInt16LE(width, 6);
  gif.writeUInt16LE(height, 8);
  return gif;
}

/** With an application segment and a fill byte before the frame. */
export function createJpeg(width: number, height: number): Buffer {
  const app = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff]);
  const frame = Buffer.from([0xff, 0xc2, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3]);
  return Buffer.concat([app, frame]);
}

export type WebpKind = "VP8 " | "VP8L" | "VP8X";

export function createWebp(kind: WebpKind, width: number, height: number): Buffer {
  const webp = Buffer.alloc(30);
  webp.write("RIFF", "latin1");
  webp.write(`WEBP${kind}`, 8, "latin1");
  if (kind === "VP8 ") {
    webp.writeUInt16LE(width, 26);
    webp.writeUInt16LE(height, 28);
  } else if (kind === "VP8L") {
    webp.writeUInt8(0x2f, 20);
    webp.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  } else {
    webp.writeUIntLE(width - 1, 24, 3);
    webp.writeUIntLE(height - 1, 27, 3);
  }
  return webp;
}

export const pdf: Buffer = Buffer.from("%PDF-1.7\n%%EOF\n");

/** @throws Error with what is wrong. */
export function attach(bytes: Uint8Array, name: string): Attachment {
  const made = toAttachment(bytes, name);
  if (made.ok) return made.value;
  throw new Error(made.problem);
}
