/** The response of the Chat API. Clauses: docs/formats/documents.md. */
import type { Document } from "./documents.ts";

/** R2. */
export type Mode = "agent" | "plan" | "ask" | "debug";

/** `completed` means: the agent ended its turn by itself (N2). */
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
  /** Ext: part of `promptTokens` that came from the provider's cache (N6). */
  readonly cachedPromptTokens?: number;
  /** Ext: part of `promptTokens` that was written to the provider's cache. */
  readonly cacheWriteTokens?: number;
  /** Ext: true where the provider sent none (N6). */
  readonly estimated?: true;
}

/** R2. */
export interface ResponseMetadata {
  /** From `created` to the end, waiting for approvals included (N7). */
  readonly duration_ms: number;
  /** Documents of type `tool_call` (N4). */
  readonly toolCallCount: number;
  /** Model requests made, retries not counted (N5). */
  readonly turnCount: number;
  /** Ext: tool executions of every kind (N4). */
  readonly actionCount?: number;
  /** Ext: part of `duration_ms` spent waiting for approvals (N7). */
  readonly waiting_ms?: number;
  /** Ext (N2). */
  readonly finishReason?: FinishReason;
  /** Ext: the last event that this snapshot holds; only while streaming (N3). */
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
  /** Ext: approvals that wait for a person; only while streaming, left out when there are none (X8). */
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
