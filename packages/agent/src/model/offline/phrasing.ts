/** Pieces of text that are built alike in every language. */
import { toFence } from "../../base/to-fence.ts";
import type { Language } from "./languages/english.ts";

/** A phrase with its places `{0}`, `{1}`, `{2}` filled in. */
export function fill(phrase: string, ...values: readonly (string | number)[]): string {
  return phrase.replaceAll(/\{(\d)\}/g, (_, place: string) => String(values[Number(place)] ?? ""));
}

/** `a, b and c`. */
export function formatList({ phrases }: Language, entries: readonly string[]): string {
  const before = entries.slice(0, -1).join(", ");
  return before + (before === "" ? "" : phrases.and) + (entries.at(-1) ?? "");
}

/** One line of Markdown code, safe with backticks inside. */
export function formatCode(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const fence = toFence(line, 1);
  const pad = /^`|`$|^$/.test(line) ? " " : "";
  return fence + pad + line + pad + fence;
}

/** A fenced block that nothing inside can close (N16). */
export function formatFence(content: string, info: string): string {
  const fence = toFence(content);
  return `${fence}${info.replaceAll("`", "")}\n${content.replace(/\r?\n$/, "")}\n${fence}`;
}

/** List items; how many are left out, if they are more than the limit. */
export function formatItems(language: Language, items: readonly string[], limit = 40): string {
  const left = items.length - limit;
  const more = left > 0 ? [fill(language.phrases.more, left)] : [];
  return [...items.slice(0, limit), ...more].map((item) => `- ${item}`).join("\n");
}
