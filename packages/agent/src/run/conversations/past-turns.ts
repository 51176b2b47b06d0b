/** A conversation from elsewhere, stored as logs: a client sent it with its message (X20). */
import { randomUUID } from "node:crypto";
import type { Attachment, RunEvent, RunEventBody, RunStart } from "@sheaf/protocol";
import type { SharedStore } from "@sheaf/store/store";
import { toTitle } from "./respond.ts";

/** A message and its answer. */
export interface PastTurn {
  readonly prompt: string;
  readonly attachments?: readonly Attachment[];
  readonly answer: string;
}

/** Stores the turns as the first responses of a new conversation. `start`: the model and workspace for the logs. */
export async function addPastTurns(
  store: SharedStore,
  start: Omit<RunStart, "type" | "sandbox">,
  turns: readonly PastTurn[],
  time: number,
): Promise<void> {
  const { conversationId: id, workspace } = start;
  const responses = turns.map((turn) => {
    const responseId = `chat_${randomUUID()}`;
    return { id: responseId, createdAt: time, events: toLog({ ...start, responseId }, turn, time) };
  });
  const title = toTitle(turns[0]?.prompt ?? "");
  await store.addConversation({ id, workspace, title, settings: {}, createdAt: time, updatedAt: time, responses });
}

/** The log has no end of a turn, because no model was called and no tokens were used. */
function toLog(start: Omit<RunStart, "type" | "sandbox">, turn: PastTurn, time: number): RunEvent[] {
  const { prompt, attachments = [], answer } = turn;
  const files = attachments.length > 0 ? { attachments } : {};
  const events: readonly RunEventBody[] = [
    { type: "run_start", ...start, sandbox: "untried", prompt, ...files, imported: true },
    { type: "turn_start", turn: 1 },
    { type: "text_delta", text: answer },
    { type: "run_end", reason: "end_turn" },
  ];
  return events.map((event, index) => ({ ...event, seq: index + 1, time }));
}
