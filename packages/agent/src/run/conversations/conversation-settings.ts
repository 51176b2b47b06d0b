/** What the next message of a conversation goes on with, unless it says otherwise (X25). */
import { type ConversationRecord, type ConversationSettings, findNewestResponse, type Store } from "@sheaf/store/store";

/** Those of a conversation that was imported, or written by a Sheaf that stored none, are in the log of its last response. */
export async function readConversationSettings(
  store: Store,
  { id, settings }: Pick<ConversationRecord, "id" | "settings">,
): Promise<ConversationSettings> {
  if (settings.mode !== undefined) return settings;
  const last = await findNewestResponse(store, id);
  const [start] = last ? await store.readEvents(last.id, 0, 1) : [];
  return start?.type === "run_start" ? { mode: start.mode, effort: start.effort, ...settings } : settings;
}
