import type { JsonObject } from "./read-json.ts";

/** An error in the body of an answer. */
export interface ProviderError {
  /** The provider's code as text: `code`, else `status`, else `type`, else "". */
  readonly code: string;
  /** The provider's kind of error (`overloaded_error`, `server_error`), or "". */
  readonly type: string;
  readonly message: string;
  /** The error, unchanged. */
  readonly raw: JsonObject;
}

/** A step that the provider ran or added itself: a web search, code execution, a compaction. Not a tool call. */
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
  /** The id of its call; absent for reasoning and text. */
  readonly callId?: string;
  readonly value: string;
}

/** The content of a body that became no event. It grows with each chunk. */
export interface ModelStreamReport {
  /**
   * End markers in order, joined by " + ": `[DONE]`, `message_stop`, `response.completed`, `finishReason` … It is null
   * if the body stopped without one. Some servers never send one (Perplexity), see `isWhole`.
   */
  readonly ended: string | null;
  /** True if the body has ended with an end marker, or at least a reason of its end, which comes last. */
  readonly isWhole: boolean;
  /** The provider's own reason why the answer ended, or null. */
  readonly finish: string | null;
  readonly responseId: string | null;
  /** The model that the provider reports, or null. */
  readonly model: string | null;
  /** The last usage object, unchanged (Anthropic: start and delta merged), or null. */
  readonly usage: JsonObject | null;
  /** The text of refusals, joined. */
  readonly refusal: string;
  readonly errors: readonly ProviderError[];
  readonly serverItems: readonly ServerItem[];
  readonly signatures: readonly ModelSignature[];
  /** Payloads and parts of payloads that the reader of the protocol does not know. */
  readonly others: readonly JsonObject[];
  /** Number of JSON objects. */
  readonly payloads: number;
  /** Number of skipped payloads that are not a JSON object. */
  readonly unparsable: number;
  /**
   * Number of such payloads that should be an object and precede the reason of the end, so that a part of the answer is
   * missing. It does not include a plain word such as `ping`.
   */
  readonly broken: number;
  /** Number of times that the answer restarted (a second `message_start`); the attempts are joined. */
  readonly restarts: number;
}

/** The report with writable fields. */
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
