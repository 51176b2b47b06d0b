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

/** A text as searches look at it, without regard to case. */
export function toWords(text: string): string {
  return toColumn(text.toLowerCase());
}

/** What the user wrote, of the events that begin a log; undefined: they do not. */
export function findPrompt([first]: readonly RunEvent[]): string | undefined {
  return first?.type === "run_start" ? first.prompt : undefined;
}
