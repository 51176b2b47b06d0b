/** The response of the Chat API. Clauses: docs/formats/documents.md. */
import type { Document } from "./documents.ts";

/** R2. */
export type Mode = "agent" | "plan" | "ask" | "debug";

/** `completed`: the agent ended its turn itself (N2). */
export type ResponseStatus = "completed" | "streaming" | "error";

/** Ext: why a response ended (N2). */
export type FinishReason = "end_turn" | "clarification" | "refusal" | "cancelled" | "max_tokens" | "budget" | "error";

/** Sum over all model requests of the response (N6). */
export interface Usage {
  readonly promptTokens: number;
  /** Reasoning tokens included (N6). */
  readonly completionTokens: number;
  /** `promptTokens + completionTokens` (N6). */
  readonly totalTokens: number;
  /** Ext (N6). */
  readonly reasoningTokens?: number;
  /** Ext: part of `promptTokens` read from the provider's cache (N6). */
  readonly cachedPromptTokens?: number;
  /** Ext: part of `promptTokens` written to the provider's cache. */
  readonly cacheWriteTokens?: number;
  /** Ext: true if the provider sent no usage (N6). */
  readonly estimated?: true;
}

/** R2. */
export interface ResponseMetadata {
  /** From `created` to the end, including waits for approvals (N7). */
  readonly duration_ms: number;
  /** Documents of type `tool_call` (N4). */
  readonly toolCallCount: number;
  /** Model requests, without retries (N5). */
  readonly turnCount: number;
  /** Ext: tool executions of every kind (N4). */
  readonly actionCount?: number;
  /** Ext: part of `duration_ms` spent waiting for approvals (N7). */
  readonly waiting_ms?: number;
  /** Ext (N2). */
  readonly finishReason?: FinishReason;
  /** Ext: the last event included in this snapshot; only while streaming (N3). */
  readonly lastEventId?: number;
}

/** Ext (X8). */
export interface ApprovalOption {
  readonly id: string;
  readonly label: string;
  readonly kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
}

/** Ext (X8). */
export interface ApprovalRequestData {
  readonly approvalId: string;
  readonly documentId: string;
  readonly title: string;
  readonly description: string;
  readonly subject: { readonly type: "command" | "file_edit" | "tool_call" } & Readonly<Record<string, unknown>>;
  readonly options: readonly ApprovalOption[];
  /** RFC 3339 with `Z`. */
  readonly expiresAt: string;
}

/** One answer (R2). Complete when `status` is not `streaming` (N1). */
export interface ChatResponse {
  /** `chat_<id>`, unique. */
  readonly id: string;
  /** `conv_<id>`. */
  readonly conversationId: string;
  /** The id used in the request to the provider (N7). */
  readonly model: string;
  readonly mode: Mode;
  /** Start of the response, UTC, RFC 3339 with `Z` (N7). */
  readonly created: string;
  readonly status: ResponseStatus;
  readonly documents: readonly Document[];
  readonly usage: Usage;
  readonly metadata: ResponseMetadata;
  /** Ext: open approvals; only while streaming, absent if none are open (X8). */
  readonly approvals?: readonly ApprovalRequestData[];
}

/** Ext: an answer to a question of a clarification document (N42). */
export interface ClarificationAnswer {
  readonly documentId: string;
  readonly questionId: string;
  readonly optionIds: readonly string[];
  readonly text: string;
}

/** Body of every error before the first event (N52). */
export interface ErrorBody {
  readonly error: {
    readonly errorCode: string;
    readonly message: string;
    readonly source: string;
    readonly details: string;
  };
}
