/** The id of a conversation in the address of its page. */
import type { ConversationOptions } from "./conversation-store.ts";

/** Options of a conversation that a reload opens again: its id is the hash of the page's address. */
export function keepInAddress(): Pick<ConversationOptions, "id" | "onChange"> {
  return {
    id: location.hash.slice(1) || undefined,
    onChange: (id) => location.replace(`#${id}`),
  };
}
