/** Texts as columns of PostgreSQL. */
import type { RunEvent } from "@sheaf/protocol";

/** PostgreSQL takes every character in a text but NUL, so another one that nobody writes stands for it. */
const STAND_IN = "\u{10FFFF}";

export function toColumn(text: string): string {
  return text.replaceAll("\0", STAND_IN);
}

export function fromColumn(text: string): string {
  return text.replaceAll(STAND_IN, "\0");
}

/** What a search looks at, of the events that begin a log; null: they do not. */
export function toPromptWords([first]: readonly RunEvent[]): string | null {
  return first?.type === "run_start" ? toColumn(first.prompt.toLowerCase()) : null;
}
