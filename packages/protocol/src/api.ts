/** Requests of the Chat API, and the answers other than responses. Clauses: section 7 of docs/formats/documents.md. */
import type { ChatResponse, ClarificationAnswer, Mode } from "./chat.ts";

/** Limits of one response (C24). */
export interface ChatBudget {
  readonly maxTurns?: number;
  readonly maxToolCalls?: number;
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  /** Seconds. */
  readonly timeout?: number;
}

/** Body of `POST /v1/chat`. */
export interface ChatRequest {
  /** What the user says. */
  readonly message: string;
  /** Continues a conversation; without it a new one begins. */
  readonly conversationId?: string;
  /** Ext: name of a workspace that the server serves, for a new conversation; default: its first one. */
  readonly workspace?: string;
  readonly mode?: Mode;
  readonly model?: string;
  /** Server-Sent Events instead of one JSON object. */
  readonly stream?: boolean;
  /** Answers to the clarification that ended the response before (N42). */
  readonly answers?: readonly ClarificationAnswer[];
  /** Default: `deny`, so that a client that cannot ask a person never hangs (X8). */
  readonly approvals?: "deny" | "ask";
  readonly accept?: {
    /** Document types beyond the ten (N13). */
    readonly documentTypes?: readonly string[];
    /** Send `reasoning_delta` events (N14). */
    readonly reasoning?: boolean;
  };
  /** Default: `continue`, the run goes on when its reader disconnects (X7). */
  readonly onDisconnect?: "continue" | "cancel";
  /** What to do while another response of the conversation streams. Default: `reject`. */
  readonly whenBusy?: "reject" | "queue" | "cancel";
  readonly budget?: ChatBudget;
}

/** Body of `POST /v1/responses/{id}/approvals/{approvalId}` (X8). */
export interface ApprovalAnswer {
  /** One of the options of the request. */
  readonly optionId: string;
  /** Replaces the arguments of the call. */
  readonly editedArguments?: Readonly<Record<string, unknown>>;
  /** Message for the model, for instance why not. */
  readonly message?: string;
}

/** One row of `GET /v1/conversations`. */
export interface ConversationSummary {
  /** `conv_<id>`. */
  readonly id: string;
  /** First message, shortened. */
  readonly title: string;
  /** RFC 3339 with `Z`. */
  readonly created: string;
  /** Of the last change; RFC 3339 with `Z`. */
  readonly updated: string;
  /** Ext: name of its workspace, if it is still served. */
  readonly workspace?: string;
}

/** `GET /v1/conversations`: newest first. */
export interface ConversationPage {
  readonly conversations: readonly ConversationSummary[];
  /** Value of `?before=` for the next page; left out on the last one. */
  readonly next?: string;
}

/** One message of a conversation and the response to it. */
export interface ConversationTurn {
  /** What the user said. */
  readonly message: string;
  /** Answers to the clarification before (N42). */
  readonly answers?: readonly ClarificationAnswer[];
  readonly response: ChatResponse;
}

/** `GET /v1/conversations/{id}`: everything in order. */
export interface Conversation extends ConversationSummary {
  readonly turns: readonly ConversationTurn[];
}

/** Body of `POST /v1/conversations/{id}/revert`. */
export interface RevertRequest {
  /** The first response to revert; later ones are reverted too. */
  readonly responseId: string;
  /** Ext: what to do with files changed by something else since. Default: `refuse`. */
  readonly onConflict?: "refuse" | "leave" | "overwrite";
}

/** Answer to `POST /v1/conversations/{id}/revert`. */
export interface RevertResult {
  /** Responses removed from the conversation, in order. */
  readonly responseIds: readonly string[];
  /** The outcome for each file. */
  readonly files: readonly { readonly filePath: string; readonly action: "restored" | "removed" | "unchanged" }[];
  /** Files left unchanged. */
  readonly conflicts: readonly { readonly filePath: string; readonly reason: string }[];
}

/** One row of `GET /v1/models`. */
export interface ModelInfo {
  /** Value for `model` in a request. */
  readonly id: string;
  readonly name?: string;
}

/** `GET /v1/models`. */
export interface ModelList {
  readonly models: readonly ModelInfo[];
}
