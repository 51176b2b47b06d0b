/** The forms of a session's id (C5, C14). */

/** Matches the start of an id; with fewer characters it's probably a slip. */
const beginning = /^(conv_)?[0-9a-f][0-9a-f-]{3,}$/i;

/** True if a word is the id of a session (C5). */
export function isUuid(word: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(word);
}

/** Returns `conv_<uuid>` for a whole id, with or without its `conv_`; undefined for any other word. */
export function toConversationId(word: string): string | undefined {
  const id = word.replace(/^conv_/, "");
  return isUuid(id) ? `conv_${id.toLowerCase()}` : undefined;
}

/** True for the whole or shortened id of a session, or for an id of a response. */
export function isSessionWord(word: string): boolean {
  return beginning.test(word) || isUuid(word.replace(/^chat_/, ""));
}
