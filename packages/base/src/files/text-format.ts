/** Converts text and bytes: the encoding of a file, its line ends, and cuts between characters. */

/** The encoding of a file, which an edit preserves. */

export interface TextFormat {
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be";
  /** True if the file starts with a byte order mark. */
  readonly hasMark: boolean;
}

/** Number of bytes at a file's start that are examined. */
export const FORMAT_HEAD_BYTES = 8192;

const marks: Readonly<Record<TextFormat["encoding"], readonly number[]>> = {
  "utf-8": [0xef, 0xbb, 0xbf],
  "utf-16le": [0xff, 0xfe],
  "utf-16be": [0xfe, 0xff],
};

/** Detects the format by the first bytes. Undefined for a binary file: a NUL, and no mark of UTF-16. */
export function detectTextFormat(head: Uint8Array): TextFormat | undefined {
  const encodings = ["utf-8", "utf-16le", "utf-16be"] as const;
  const marked = encodings.find((name) => marks[name].every((byte, index) => head[index] === byte));
  const format = { encoding: marked ?? ("utf-8" as const), hasMark: marked !== undefined };
  if (format.encoding === "utf-8") return head.subarray(0, FORMAT_HEAD_BYTES).includes(0) ? undefined : format;
  // A mark of UTF-32 in little endian starts like the mark of UTF-16.
  return head[0] === 0xff && head[2] === 0 && head[3] === 0 ? undefined : format;
}

/** Returns the text without its mark; undefined if the bytes are not valid in this format. */
export function decodeText(bytes: Uint8Array, format: TextFormat): string | undefined {
  try {
    return new TextDecoder(format.encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Encodes a well-formed text. */
export function encodeText(text: string, format: TextFormat): Buffer {
  const mark = Buffer.from(format.hasMark ? marks[format.encoding] : []);
  const body = Buffer.from(text, format.encoding === "utf-8" ? "utf8" : "utf16le");
  if (format.encoding === "utf-16be") body.swap16();
  return Buffer.concat([mark, body]);
}

/** A line end; a lone "\r" is not one. */

export type LineEnd = "\n" | "\r\n";

/** Returns the line end of all lines; `mixed` if they differ, undefined for a single line without one. */
export function detectLineEnd(text: string): LineEnd | "mixed" | undefined {
  let found: LineEnd | undefined;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) {
    const end = text[index - 1] === "\r" ? "\r\n" : "\n";
    if (found !== undefined && found !== end) return "mixed";
    found = end;
  }
  return found;
}

export function toLineEnd(text: string, lineEnd: LineEnd): string {
  const unix = text.replaceAll("\r\n", "\n");
  return lineEnd === "\n" ? unix : unix.replaceAll("\n", "\r\n");
}

export function countLineEnds(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) count += 1;
  return count;
}

/** Counts lines as people do: a line end at the end does not add an empty line. */
export function countLines(text: string): number {
  if (text === "") return 0;
  return countLineEnds(text) + (text.endsWith("\n") ? 0 : 1);
}

/** Returns the longest prefix of at most `bytes`. */
export function toPrefix(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/** Returns head and tail of a text, in about `maxUnits` UTF-16 units. */
export function cutMiddle(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text;
  const half = Math.floor(maxUnits / 2);
  const head = text.slice(0, half);
  const tail = text.slice(text.length - half);
  return `${head}\n(${text.length - 2 * half} characters were left out here.)\n${tail}`.toWellFormed();
}
