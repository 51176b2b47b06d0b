import type { JsonObject } from "./read-json.ts";

/** An error that the provider put into the body of an answer. */
export interface ProviderError {
  /** The provider's own code as text: `code`, else `status`, else `type`; "" where there is none. */
  readonly code: string;
  /** The provider's kind of error (`overloaded_error`, `server_error`), or "". */
  readonly type: string;
  readonly message: string;
  /** The error as it came. */
  readonly raw: JsonObject;
}

/** Something that the provider ran or added itself: a web search, code execution, a compaction. No tool call. */
export interface ServerItem {
  /** The provider's own word (`server_tool_use`, `web_search_call`, `executableCode`). */
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  /** JSON text; there for server tools whose input is streamed. */
  readonly arguments?: string;
}

/** A secret mark on reasoning or on a call that some providers want back in the next request. */
export interface ModelSignature {
  /** The call that it belongs to; absent for reasoning and text. */
  readonly callId?: string;
  readonly value: string;
}

/** What a body held beside its events. Grows while the body is read. */
export interface ModelStreamReport {
  /**
   * End markers that were seen, in order, joined by " + ": `[DONE]`, `message_stop`, `response.completed`, `finishReason` …
   * null = the body has stopped without one. Some servers never send one (Perplexity); so an answer is cut for certain
   * where `finish` is null as well, which `turn_end` tells as `unknown` with no word.
   */
  readonly ended: string | null;
  /** The provider's own word for why the answer ended, or null. */
  readonly finish: string | null;
  /** The provider's id of the answer, or null. */
  readonly responseId: string | null;
  /** The model that the provider says it used, or null. */
  readonly model: string | null;
  /** The last usage object as it came (Anthropic: those of start and delta merged), or null. */
  readonly usage: JsonObject | null;
  /** Everything that the model said in refusing, joined. */
  readonly refusal: string;
  readonly errors: readonly ProviderError[];
  readonly serverItems: readonly ServerItem[];
  readonly signatures: readonly ModelSignature[];
  /** JSON objects read. */
  readonly payloads: number;
  /** Payloads that are no JSON object; they were skipped. */
  readonly unparsable: number;
  /**
   * Those of them that were meant to be one and came before the answer told why it ended: a part of it is missing. A word
   * such as `ping` is none.
   */
  readonly broken: number;
  /** How often the answer began again (a second `message_start`); its attempts are joined. */
  readonly restarts: number;
}

/** The same, for those who fill it. */
export type ModelStreamReportDraft = {
  -readonly [Field in keyof ModelStreamReport]: ModelStreamReport[Field] extends readonly (infer Entry)[]
    ? Entry[]
    : ModelStreamReport[Field];
};

/** A report of nothing yet. */
export function createModelStreamReport(): ModelStreamReportDraft {
  return {
    ended: null,
    finish: null,
    responseId: null,
    model: null,
    usage: null,
    refusal: "",
    errors: [],
    serverItems: [],
    signatures: [],
    payloads: 0,
    unparsable: 0,
    broken: 0,
    restarts: 0,
  };
}
