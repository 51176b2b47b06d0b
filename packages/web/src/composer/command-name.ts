/** The command or skill in a message (C91): `/risks Think of old browsers.` */
import type { OpenWord } from "./completion-sources.ts";

/** Returns the name that ends at the caret; undefined for other text. A command is always a message's first word. */
export function findCommandName(text: string, caret: number): OpenWord | undefined {
  const [whole, query] = /^\s*\/([\w.-]*)$/.exec(text.slice(0, caret)) ?? [];
  return whole === undefined || query === undefined ? undefined : { start: caret - query.length - 1, query };
}
