import type { JsonObject } from "./read-json.ts";

/** An error in the body of an answer. */
export interface ProviderError {
  /** The provider's own code as text: `code`, else `status`, else `type`; "" where there is none. */
  readonly code: string;
  /** The provider's kind of error (`overloaded_error`, `server_error`), or "". */
  readonly type: string;
  readonly message: string;
  /** The error as received. */
  readonly raw: JsonObject;
}

/** Something that the provider ran or added itself: a web search, code execution, a compaction. Not a tool call. */
export interface ServerItem {
  /** The provider's own name (`server_tool_use`, `web_search_call`, `executableCode`). */
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  /** JSON text; present for server tools whose input is streamed. */
  readonly arguments?: string;
}

/** An opaque signature of reasoning or of a call, which some providers require in the next request. */
export interface ModelSignature {
  /** The call that it belongs to; absent for reasoning and text. */
  readonly callId?: string;
  readonly value: string;
}

/** What a body contains besides its events. Grows while the body is read. */
export interface ModelStreamReport {
  /**
   * End markers in order, joined by " + ": `[DONE]`, `message_stop`, `response.completed`, `finishReason` …
   * null: the body stopped without one. Some servers never send one (Perplexity): see `isWhole`.
   */
  readonly ended: string | null;
  /**
   * Once the body has ended: whether the answer is whole. It has an end marker, or at least a reason of its end, which
   * providers send after everything else of an answer.
   */
  readonly isWhole: boolean;
  /** The provider's own reason why the answer ended, or null. */
  readonly finish: string | null;
  /** The provider's id of the answer, or null. */
  readonly responseId: string | null;
  /** The model that the provider says it used, or null. */
  readonly model: string | null;
  /** The last usage object as received (Anthropic: start and delta merged), or null. */
  readonly usage: JsonObject | null;
  /** The text of refusals, joined. */
  readonly refusal: string;
  readonly errors: readonly ProviderError[];
  readonly serverItems: readonly ServerItem[];
  readonly signatures: readonly ModelSignature[];
  /** Payloads and parts of payloads that the reader of the protocol does not know. */
  readonly others: readonly JsonObject[];
  /** JSON objects read. */
  readonly payloads: number;
  /** Payloads other than a JSON object; they were skipped. */
  readonly unparsable: number;
  /**
   * Those among them that were meant to be one and came before the reason of the end, so that a part of the answer is
   * missing. A plain word such as `ping` does not count.
   */
  readonly broken: number;
  /** Number of times that the answer restarted (a second `message_start`); the attempts are joined. */
  readonly restarts: number;
}

/** The same, writable. */
export type ModelStreamReportDraft = {
  -readonly [Field in keyof ModelStreamReport]: ModelStreamReport[Field] extends readonly (infer Entry)[]
    ? Entry[]
    : ModelStreamReport[Field];
};

/** An empty report. */
export function createModelStreamReport(): ModelStreamReportDraft {
  return {
    ended: null,
    isWhole: false,
    finish: null,
    responseId: null,
    model: null,
    usage: null,
    refusal: "",
    errors: [],
    serverItems: [],
    signatures: [],
    others: [],
    payloads: 0,
    unparsable: 0,
    broken: 0,
    restarts: 0,
  };
}
