/** The command or skill in a message (C91): `/risks Think of old browsers.` */
import type { OpenWord } from "./completion-sources.ts";

/**
 * Returns the name that ends at the caret. Undefined for other text: a command is always the first word of a message.
 */
export function findCommandName(text: string, caret: number): OpenWord | undefined {
  const [whole, query] = /^\s*\/([\w.-]*)$/.exec(text.slice(0, caret)) ?? [];
  return whole === undefined || query === undefined ? undefined : { start: caret - query.length - 1, query };
}
