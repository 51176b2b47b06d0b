/** Text that is safe on a terminal (C11, S-70). */
import { toOneLine } from "@sheaf/base/to-one-line";

/** Control characters but tab and line feed, the C1 range, and the marks that reorder or hide text. */
// oxlint-disable-next-line no-control-regex -- these are the characters that must not pass
const unsafe = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** Replaces each unsafe character by a visible one: control pictures for C0 and DEL, U+FFFD for the rest. CRLF becomes LF. */
export function toVisibleText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unsafe, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\uFFFD";
  });
}

/** Escapes each unsafe character of JSON text, which keeps its value. */
export function toVisibleJson(json: string): string {
  return json.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function toVisibleLine(text: string): string {
  return toOneLine(toVisibleText(text));
}
