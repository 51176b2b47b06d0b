/** Messages that the user adds while a response runs (C240). */
import type { RunEnd, UserMessage } from "@sheaf/protocol";
import type { RunHooks } from "./run-hooks.ts";
import type { EventGroup } from "./run-log.ts";

/** The port to the messages, wherever they wait. */
export interface AddedMessages {
  /** The next message that the user has added. Never rejects. */
  readonly takeMessage?: (() => Promise<Omit<UserMessage, "type"> | undefined>) | undefined;
}

/** Gives the messages to the model with its next turn. Returns the end of the run if a hook ends it at a message. */
export async function* takeMessages(
  hooks: RunHooks,
  ports: AddedMessages,
  signal: AbortSignal,
): AsyncGenerator<EventGroup, RunEnd | undefined> {
  // After the end of the run, the others wait for the next response.
  while (!hooks.end && !signal.aborted) {
    const message = await ports.takeMessage?.();
    if (!message) break;
    yield { events: [{ type: "user_message", ...message }], durability: "synced" };
    // If a hook refuses the message, the history leaves it out and the run continues.
    yield* hooks.atMessage(message.message, signal);
  }
  return hooks.end;
}
