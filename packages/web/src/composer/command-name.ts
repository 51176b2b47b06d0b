/** A command or a skill that a message names (C91): `/risks Think of old browsers, too.` */
import type { OpenWord } from "./completion-sources.ts";

/** The name that ends at the caret; undefined for any other text: only the beginning of a message names a command. */
export function findCommandName(text: string, caret: number): OpenWord | undefined {
  const [whole, query] = /^\s*\/([\w.-]*)$/.exec(text.slice(0, caret)) ?? [];
  return whole === undefined || query === undefined ? undefined : { start: caret - query.length - 1, query };
}
