/** Finds a stored session or response by the user's word: an id, whole or shortened (C14). */
import { SheafError } from "@sheaf/base/errors";
import { isSessionWord, isUuid, toConversationId } from "./session-id.ts";
import { toBareId } from "@sheaf/agent/output/result-line";
import type { ConversationRecord, ResponseRecord, Store } from "@sheaf/store/store";

/** More sessions than any store has, so that a shortened id is compared with all. */
const ALL = 1_000_000;

/**
 * Returns the id of the stored session for a word, `conv_<uuid>`.
 * `isResumed`: the word of `--resume`, where a whole new id starts a session (C14).
 * @throws SheafError USAGE if none matches, or several do.
 */
export async function findConversation(
  store: Store,
  word: string,
  { isResumed = false }: { readonly isResumed?: boolean } = {},
): Promise<string> {
  checkSessionWord(word, { isResumed });
  const whole = toConversationId(word);
  if (whole !== undefined && (await store.getConversation(whole))) return whole;
  const response = await findResponseAnywhere(store, word);
  if (response) return response.conversationId;
  if (whole !== undefined && isResumed) return whole;
  if (whole !== undefined || word.startsWith("chat_"))
    throw createMissingError(`the session ${toBareId(whole ?? word)}`);
  return chooseByBeginning(await store.listConversations({ limit: ALL }), toBeginning(word, "conv_"), "session").id;
}

/** Checks only the form of a session's word. @throws SheafError USAGE if it can't be the start of an id. */
export function checkSessionWord(word: string, { isResumed = false }: { readonly isResumed?: boolean } = {}): void {
  if (isSessionWord(word)) return;
  const advice = isResumed ? ', and the prompt after --, as in --resume -- "go on"' : "";
  throw new SheafError("USAGE", `"${word}" is not the id of a session: write one that sheaf ls --all shows${advice}`);
}

/** Returns the response of a session for a word. @throws SheafError USAGE if none matches, or several do. */
export async function findResponse(store: Store, conversationId: string, word: string): Promise<ResponseRecord> {
  const id = word.replace(/^chat_/, "");
  if (!isSessionWord(id)) {
    throw new SheafError("USAGE", `"${word}" is not a response id: use the request_id of its result line`);
  }
  return chooseByBeginning(
    await store.listResponses(conversationId),
    toBeginning(id, "chat_"),
    `response of ${toBareId(conversationId)}`,
  );
}

/** Finds the session of a `request_id`, a slip with one possible meaning. */
async function findResponseAnywhere(store: Store, word: string): Promise<ResponseRecord | undefined> {
  const id = word.replace(/^chat_/, "");
  return isUuid(id) ? store.getResponse(`chat_${id.toLowerCase()}`) : undefined;
}

function toBeginning(word: string, prefix: string): string {
  return prefix + word.replace(/^conv_/, "").toLowerCase();
}

function chooseByBeginning<Row extends Pick<ConversationRecord, "id">>(
  rows: readonly Row[],
  beginning: string,
  what: string,
): Row {
  const found = rows.filter(({ id }) => id.startsWith(beginning));
  const [first] = found;
  if (first === undefined) throw createMissingError(`a ${what} whose id starts with ${toBareId(beginning)}`);
  if (found.length === 1) return first;
  const ids = found.slice(0, 3).map(({ id }) => toBareId(id));
  const list = [...ids, ...(found.length > ids.length ? ["…"] : [])].join(", ");
  throw new SheafError("USAGE", `${toBareId(beginning)} starts more than one ${what} (${list}): write more of the id`);
}

function createMissingError(what: string): SheafError {
  return new SheafError("USAGE", `${what} is not stored: run sheaf ls --all to list the sessions, or check SHEAF_HOME`);
}
