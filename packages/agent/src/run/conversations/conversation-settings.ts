/** The settings of a conversation's next message, unless the message sets others (X25). */
import { type ConversationRecord, type ConversationSettings, findNewestResponse, type Store } from "@sheaf/store/store";

/** Reads the log of the last response if the record lacks them, as after an import or with an older Sheaf. */
export async function readConversationSettings(
  store: Store,
  { id, settings }: Pick<ConversationRecord, "id" | "settings">,
): Promise<ConversationSettings> {
  if (settings.mode !== undefined) return settings;
  const last = await findNewestResponse(store, id);
  const [start] = last ? await store.readEvents(last.id, 0, 1) : [];
  return start?.type === "run_start" ? { mode: start.mode, effort: start.effort, ...settings } : settings;
}
