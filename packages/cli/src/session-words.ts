/** The way a person names a stored session or response: by its id, whole or shortened (C14). */
import { SheafError } from "@sheaf/base/errors";
import { isSessionWord, isUuid, toConversationId } from "./session-id.ts";
import { toBareId } from "@sheaf/agent/output/result-line";
import type { ConversationRecord, ResponseRecord, Store } from "@sheaf/store/store";

/** More sessions than any store has: a shortened id means one of all, not of the newest. */
const ALL = 1_000_000;

/**
 * The id of the stored session that the word names, `conv_<uuid>`.
 * `isResumed`: the word of `--resume`, where a whole id that is not stored begins a session (C14).
 * @throws SheafError USAGE when it names none, or several.
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

/** True if it is stored is not looked up. @throws SheafError USAGE for what is not even the beginning of an id. */
export function checkSessionWord(word: string, { isResumed = false }: { readonly isResumed?: boolean } = {}): void {
  if (isSessionWord(word)) return;
  const advice = isResumed ? ', and the prompt after --, as in --resume -- "go on"' : "";
  throw new SheafError("USAGE", `"${word}" is not the id of a session: write one that sheaf ls --all shows${advice}`);
}

/** The response of the session that the word names. @throws SheafError USAGE when it names none, or several. */
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

/** A `request_id` where a session is expected is a slip that has one meaning. */
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
  if (first === undefined) throw createMissingError(`a ${what} whose id begins with ${toBareId(beginning)}`);
  if (found.length === 1) return first;
  const ids = found.slice(0, 3).map(({ id }) => toBareId(id));
  const list = [...ids, ...(found.length > ids.length ? ["…"] : [])].join(", ");
  throw new SheafError("USAGE", `${toBareId(beginning)} begins more than one ${what} (${list}): write more of the id`);
}

function createMissingError(what: string): SheafError {
  return new SheafError("USAGE", `${what} is not stored: see sheaf ls --all, or check SHEAF_HOME`);
}
