/** What the page knows of one conversation. */
import type { ChatResponse, ClarificationAnswer, Effort, Mode } from "@sheaf/protocol";
import type { ShownFile } from "../composer/attached-files.tsx";

/** A message and its answer. */
export interface Turn {
  readonly message: string;
  /** Answers to the questions of the previous response (N42). */
  readonly answers?: readonly ClarificationAnswer[];
  /** Images and PDF files of the message (X19). */
  readonly attachments?: readonly ShownFile[];
  /** Without documents and id until the server has answered. */
  readonly response: ChatResponse;
}

/** What the next message goes on with (X25). */
export interface ConversationSettings {
  readonly mode: Mode;
  /** Undefined: the server's default. */
  readonly model: string | undefined;
  /** Undefined: the server's default. */
  readonly effort: Effort | undefined;
}

/** State of the connection to the coming answer. `broken`: lost, and what is shown is incomplete (N51). */
type Connection = "idle" | "connecting" | "open" | "waiting" | "broken";

export interface ConversationState {
  /** Undefined until the first message was accepted. */
  readonly id: string | undefined;
  readonly title: string;
  readonly settings: ConversationSettings;
  /** Name of its workspace; undefined: the server's default, or one that is no longer served. */
  readonly workspace: string | undefined;
  readonly phase: "loading" | "ready" | "missing" | "failed";
  readonly turns: readonly Turn[];
  readonly connection: Connection;
  readonly isCancelling: boolean;
  /** Why the last request was refused; shown next to the message field. */
  readonly refusal: string | undefined;
}

export const emptyConversation: ConversationState = {
  id: undefined,
  title: "",
  settings: { mode: "agent", model: undefined, effort: undefined },
  workspace: undefined,
  phase: "ready",
  turns: [],
  connection: "idle",
  isCancelling: false,
  refusal: undefined,
};

/** An answer of which nothing has arrived yet. */
export function toEmptyResponse(mode: ChatResponse["mode"], created: string): ChatResponse {
  return {
    id: "",
    conversationId: "",
    model: "",
    mode,
    created,
    status: "streaming",
    documents: [],
    usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
    metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0 },
  };
}

/** Whether an answer is still coming. */
export function isStreaming({ turns }: ConversationState): boolean {
  return turns.at(-1)?.response.status === "streaming";
}
