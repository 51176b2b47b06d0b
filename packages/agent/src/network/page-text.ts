/** The bytes of a page as text. */
import { toMarkdown } from "./html-to-markdown.ts";

/** How much of a page is looked through for what it says of its own encoding. Bytes. */
const HEAD_BYTES = 2048;

/** How a type of content is read; undefined: it is no text. No type at all is taken as text. */
export function findTextKind(contentType: string): "html" | "text" | undefined {
  const [type = ""] = contentType.toLowerCase().split(";", 1);
  const name = type.trim();
  if (name === "text/html" || name === "application/xhtml+xml") return "html";
  if (name === "" || name.startsWith("text/")) return "text";
  return /^application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|toml|javascript|ecmascript|typescript|x-sh)$/.test(name)
    ? "text"
    : undefined;
}

/** Text of a page: HTML as Markdown. Bytes that are no text of its encoding become U+FFFD. */
export function decodePage(bytes: Uint8Array, contentType: string, kind: "html" | "text", address: string): string {
  const text = createDecoder(bytes, contentType, kind).decode(bytes);
  return kind === "html" ? toMarkdown(text, address) : text;
}

function createDecoder(
  bytes: Uint8Array,
  contentType: string,
  kind: "html" | "text",
): InstanceType<typeof TextDecoder> {
  const marked = /charset\s*=\s*["']?([\w:.-]{1,40})/i;
  const head = kind === "html" ? Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1") : "";
  const label = findMark(bytes) ?? marked.exec(contentType)?.[1] ?? marked.exec(head)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** The encoding of a byte order mark. */
function findMark(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}
