/** Text as bytes: the encoding of a file, its line ends, and cuts that fall between characters. */

/** The way the text of a file is written as bytes; an edit keeps it. */

export interface TextFormat {
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be";
  /** The file begins with a byte order mark. */
  readonly hasMark: boolean;
}

/** Bytes of a file's beginning that are examined. */
export const FORMAT_HEAD_BYTES = 8192;

const marks: Readonly<Record<TextFormat["encoding"], readonly number[]>> = {
  "utf-8": [0xef, 0xbb, 0xbf],
  "utf-16le": [0xff, 0xfe],
  "utf-16be": [0xfe, 0xff],
};

/** The format that the first bytes show; undefined for a binary file: a NUL, and no mark of UTF-16. */
export function detectTextFormat(head: Uint8Array): TextFormat | undefined {
  const encodings = ["utf-8", "utf-16le", "utf-16be"] as const;
  const marked = encodings.find((name) => marks[name].every((byte, index) => head[index] === byte));
  const format = { encoding: marked ?? ("utf-8" as const), hasMark: marked !== undefined };
  if (format.encoding === "utf-8") return head.subarray(0, FORMAT_HEAD_BYTES).includes(0) ? undefined : format;
  // UTF-32 in little endian begins like UTF-16.
  return head[0] === 0xff && head[2] === 0 && head[3] === 0 ? undefined : format;
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

/** A lone "\r" is not a line end. */

export type LineEnd = "\n" | "\r\n";

/** The line end that all lines of a text have; `mixed` if they differ, undefined if there is none. */
export function detectLineEnd(text: string): LineEnd | "mixed" | undefined {
  let found: LineEnd | undefined;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) {
    const end = text[index - 1] === "\r" ? "\r\n" : "\n";
    if (found !== undefined && found !== end) return "mixed";
    found = end;
  }
  return found;
}

/** The same text with one kind of line end. */
export function toLineEnd(text: string, lineEnd: LineEnd): string {
  const unix = text.replaceAll("\r\n", "\n");
  return lineEnd === "\n" ? unix : unix.replaceAll("\n", "\r\n");
}

export function countLineEnds(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) count += 1;
  return count;
}

/** Lines as people count them: a line end at the end begins no further one. */
export function countLines(text: string): number {
  if (text === "") return 0;
  return countLineEnds(text) + (text.endsWith("\n") ? 0 : 1);
}

/** The longest beginning with at most `bytes`. */
export function toPrefix(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/** Head and tail of a text, in about `maxUnits` UTF-16 units. */
export function cutMiddle(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text;
  const half = Math.floor(maxUnits / 2);
  const head = text.slice(0, half);
  const tail = text.slice(text.length - half);
  return `${head}\n(${text.length - 2 * half} characters were left out here.)\n${tail}`.toWellFormed();
}
