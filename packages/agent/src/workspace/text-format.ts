/** How the text of a file is written as bytes; kept over an edit. */

export interface TextFormat {
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be";
  /** The file begins with a byte order mark. */
  readonly hasMark: boolean;
}

/** Bytes of a file's beginning that are looked at. */
export const FORMAT_HEAD_BYTES = 8192;

const plain: TextFormat = { encoding: "utf-8", hasMark: false };
const marks: Readonly<Record<TextFormat["encoding"], readonly number[]>> = {
  "utf-8": [0xef, 0xbb, 0xbf],
  "utf-16le": [0xff, 0xfe],
  "utf-16be": [0xfe, 0xff],
};

/** The format that the first bytes tell; undefined for a binary file: a NUL, and no mark of UTF-16. */
export function detectTextFormat(head: Uint8Array): TextFormat | undefined {
  for (const encoding of ["utf-8", "utf-16le", "utf-16be"] as const) {
    if (!marks[encoding].every((byte, index) => head[index] === byte)) continue;
    if (encoding !== "utf-8") return isUtf32(head) ? undefined : { encoding, hasMark: true };
    return head.subarray(0, FORMAT_HEAD_BYTES).includes(0) ? undefined : { encoding, hasMark: true };
  }
  return head.subarray(0, FORMAT_HEAD_BYTES).includes(0) ? undefined : plain;
}

/** UTF-32 in little endian begins like UTF-16. */
function isUtf32(head: Uint8Array): boolean {
  return head[0] === 0xff && head[2] === 0 && head[3] === 0;
}

/** The text without its mark; undefined if the bytes are not valid in this format. */
export function decodeText(bytes: Uint8Array, format: TextFormat): string | undefined {
  try {
    return new TextDecoder(format.encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** `text` is well formed. */
export function encodeText(text: string, format: TextFormat): Buffer {
  const mark = Buffer.from(format.hasMark ? marks[format.encoding] : []);
  const body = Buffer.from(text, format.encoding === "utf-8" ? "utf8" : "utf16le");
  if (format.encoding === "utf-16be") body.swap16();
  return Buffer.concat([mark, body]);
}
