/** What the user says while a response runs (C240). */
import type { RunEnd, UserMessage } from "@sheaf/protocol";
import type { RunHooks } from "./run-hooks.ts";
import type { EventGroup } from "./run-log.ts";

/** The port to the messages, wherever they wait. */
export interface AddedMessages {
  /** The messages that the user has added since the last call. Never rejects. */
  readonly takeMessages?: (() => Promise<readonly Omit<UserMessage, "type">[]>) | undefined;
}

/** Gives the messages to the model with its next turn. Returns the end of the run if a hook ends it at a message. */
export async function* takeMessages(
  hooks: RunHooks,
  ports: AddedMessages,
  signal: AbortSignal,
): AsyncGenerator<EventGroup, RunEnd | undefined> {
  for (const message of (await ports.takeMessages?.()) ?? []) {
    yield { events: [{ type: "user_message", ...message }], durability: "synced" };
    // The history leaves out what a hook refuses, and the run continues.
    yield* hooks.atMessage(message.message, signal);
  }
  return hooks.end;
}
