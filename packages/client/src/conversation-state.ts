/** The state of one conversation in a user interface. Every part is a value: unchanged parts are the same objects. */
import type {
  ApprovalRequestData,
  ChatResponse,
  ClarificationAnswer,
  Conversation,
  ConversationTurn,
  Effort,
  Mode,
  WaitingMessage,
} from "@sheaf/protocol";
import { createReducer } from "@sheaf/protocol";
import { type MessageFile, type SentFile, toTurnFile } from "./encode-file.ts";
import type { Reasoning } from "./conversation-reasoning.ts";
import type { ConnectionState } from "./response-stream.ts";

/** A message of a person. */
export interface OutgoingMessage {
  /** Text, which may be empty if there are answers or attachments. */
  readonly message: string;
  /** Answers to the questions of the clarification that ended the last response (N42). */
  readonly answers?: readonly ClarificationAnswer[] | undefined;
  /** Files of the message: uploaded ones (`addAttachment`) by their ids, others with their bytes. */
  readonly attachments?: readonly (MessageFile | SentFile)[] | undefined;
}

/** An attachment of a turn. Without `blob`, the server has the bytes: another client sent the message. */
interface TurnFile {
  readonly name: string;
  readonly mediaType: string;
  readonly blob?: Blob;
}

/** A message and its response. */
export interface Turn {
  readonly message: string;
  /** Answers to the questions of the previous response (N42). */
  readonly answers?: readonly ClarificationAnswer[];
  readonly attachments?: readonly TurnFile[];
  /** The response. Its id is "" until the server accepts the message. Fields that break the contract are absent. */
  readonly response: ChatResponse;
  /** Ids of the responses in this place, oldest first, including its own; undefined: only one. `show` shows another. */
  readonly versions?: readonly string[];
  /** Reasoning of the model: with the option `reasoning`, or after `loadReasoning` (N14). */
  readonly reasoning?: Reasoning;
}

/** Settings of the next message (X25). Undefined: the server's default. */
export interface ConversationSettings {
  readonly mode: Mode;
  readonly model: string | undefined;
  readonly effort: Effort | undefined;
}

export interface ConversationState {
  /** Id of the conversation; undefined until the server has accepted the first message. */
  readonly id: string | undefined;
  /** Title; "" until the first message. */
  readonly title: string;
  /** Name of the workspace; undefined: the server's default, or a workspace that it no longer serves. */
  readonly workspace: string | undefined;
  readonly settings: ConversationSettings;
  /** `loading` until `load` has ended, `missing` without such a conversation, `failed` with the reason in `error`. */
  readonly status: "loading" | "ready" | "missing" | "failed";
  readonly turns: readonly Turn[];
  /** Ids of responses that once followed the last turn, oldest first; `show` shows them again. */
  readonly nextVersions: readonly string[];
  /** True if the last response is not complete. */
  readonly isAnswering: boolean;
  /** Calls of the last response that wait for a decision (X8). */
  readonly approvals: readonly ApprovalRequestData[];
  /** State of the stream. When `broken`, the store has stopped trying (N51), until `reconnect`. */
  readonly connection: "idle" | ConnectionState | "broken";
  /** True if `cancel` was called, and the response hasn't ended yet. */
  readonly isCancelling: boolean;
  /** Messages that wait at the server, in the order in which they start (C241). */
  readonly waiting: readonly WaitingMessage[];
  /**
   * The reason why the last request failed: `SheafApiError` if the server refused it, `ConnectionError` without an
   * answer, `StreamBrokenError` for a stream that can't be resumed. Undefined from the next request on.
   */
  readonly error: Error | undefined;
}

const noApprovals: readonly ApprovalRequestData[] = [];

export function toEmptyState(id: string | undefined): ConversationState {
  return {
    id,
    title: "",
    workspace: undefined,
    settings: { mode: "agent", model: undefined, effort: undefined },
    status: id === undefined ? "ready" : "loading",
    turns: [],
    nextVersions: [],
    isAnswering: false,
    approvals: noApprovals,
    connection: "idle",
    isCancelling: false,
    waiting: [],
    error: undefined,
  };
}

/** Derives the parts of the state that depend on the turns. */
export function toTurnsState(turns: readonly Turn[]): Pick<ConversationState, "turns" | "isAnswering" | "approvals"> {
  const response = turns.at(-1)?.response;
  return { turns, isAnswering: response?.status === "streaming", approvals: response?.approvals ?? noApprovals };
}

/** The state of a conversation that the server returned. */
export function toLoadedState(
  { id, title, workspace, mode = "agent", model, effort, turns, nextVersions = [], waiting = [] }: Conversation,
  before: readonly Turn[],
) {
  return {
    id,
    title,
    workspace,
    settings: { mode, model, effort },
    status: "ready",
    connection: "idle",
    nextVersions,
    waiting,
    ...toTurnsState(keepReasoning(before, turns.map(toCheckedTurn))),
  } satisfies Partial<ConversationState>;
}

/** Keeps known reasoning for turns that were loaded again, unless more may have arrived since. */
function keepReasoning(before: readonly Turn[], turns: readonly Turn[]): readonly Turn[] {
  const known = new Map(before.map(({ response, reasoning }) => [response.id, reasoning]));
  return turns.map((turn) => {
    const reasoning = turn.response.status === "streaming" ? undefined : known.get(turn.response.id);
    return reasoning === undefined ? turn : { ...turn, reasoning };
  });
}

/** Passes the response through the reducer, which removes invalid fields, so that views need not expect them. */
function toCheckedTurn(turn: ConversationTurn): Turn {
  const reducer = createReducer();
  reducer.push({ id: 1, event: "snapshot", data: { response: turn.response } });
  const { lastEventId } = turn.response.metadata;
  const { response } = reducer;
  const metadata = { ...response.metadata, ...(lastEventId !== undefined && { lastEventId }) };
  return { ...turn, response: { ...response, metadata } };
}

/** A turn that the server doesn't know yet. `others`: the ids of its other versions. */
export function toFirstTurn(
  { message, answers, attachments }: OutgoingMessage,
  mode: Mode,
  created: string,
  others: readonly string[] = [],
): Turn {
  return {
    message,
    ...(others.length > 0 && { versions: [...others, ""] }),
    ...(answers && { answers }),
    ...(attachments && { attachments: attachments.map(toTurnFile) }),
    response: {
      id: "",
      conversationId: "",
      model: "",
      mode,
      created,
      status: "streaming",
      documents: [],
      usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
      metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0 },
    },
  };
}

/** A turn with its response so far. */
export function toAnsweredTurn(turn: Turn, response: ChatResponse, reasoning: Reasoning | undefined): Turn {
  const versions = turn.versions?.includes("") ? turn.versions.map((id) => id || response.id) : turn.versions;
  return { ...turn, response, ...(versions && { versions }), ...(reasoning && { reasoning }) };
}

/** The title of a conversation until the server has another one. */
export function toTitle(first: Turn | undefined): string {
  return (first?.message || first?.attachments?.[0]?.name)?.slice(0, 80) ?? "";
}

/** The turn of the message that starts next, with the id of its response. */
export function toNextTurn({ responseId, message, attachments }: WaitingMessage, mode: Mode, created: string): Turn {
  const { response, ...turn } = toFirstTurn({ message }, mode, created);
  return { ...turn, ...(attachments && { attachments }), response: { ...response, id: responseId } };
}

/** Leaves out the messages that the newest response has (C242). */
export function toStillWaiting(waiting: readonly WaitingMessage[], turns: readonly Turn[]): readonly WaitingMessage[] {
  const { id, messages = [] } = turns.at(-1)?.response ?? {};
  const told = new Set([id, ...messages.map(({ messageId }) => messageId)]);
  return waiting.some(({ responseId }) => told.has(responseId))
    ? waiting.filter(({ responseId }) => !told.has(responseId))
    : waiting;
}
