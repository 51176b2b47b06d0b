/** The log as OpenAI's chat completions (X20), without tools: one chunk per line, or the object of all chunks. */
import type { RunEnd, RunEvent, Usage } from "@sheaf/protocol";
import { addUsage } from "@sheaf/protocol/cost";
import { isSentenceContinued, SEAM_CHARACTERS } from "@sheaf/protocol/pieces";
import { errorTable, isErrorCode } from "@sheaf/base/errors";
import type { Projection } from "./projection.ts";
import { toBareId } from "./result-line.ts";
import { formatPlan, formatQuestions } from "./text.ts";

interface OpenAiChatOptions {
  /** True to include the model's reasoning, as `reasoning_content` (N14). */
  readonly includeThinking?: boolean;
  /** True to end with a chunk that has the usage. */
  readonly includeUsage?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** A failure in OpenAI's words. */
export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  /** The field of the request that is wrong. */
  readonly param: string | null;
  readonly code: string;
}

/** The failure of an answer that had started. */
export interface OpenAiFailure {
  readonly status: number;
  readonly error: OpenAiError;
}

/** Codes that clients of OpenAI know; the others are Sheaf's own. */
const knownCodes: Readonly<Record<string, string>> = {
  AUTH_REQUIRED: "invalid_api_key",
  AUTH_REJECTED: "invalid_api_key",
  MODEL_NOT_FOUND: "model_not_found",
  CONTEXT_LENGTH: "context_length_exceeded",
  CONTENT_FILTER: "content_filter",
  RATE_LIMITED: "rate_limit_exceeded",
  LIMIT_REACHED: "rate_limit_exceeded",
};

const typesByStatus: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

export function toOpenAiError(code: string, message: string, status: number, param: string | null = null): OpenAiError {
  const type = typesByStatus[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
  return { message, type, param, code: knownCodes[code] ?? code };
}

/** Converts a run's failure. A provider that refuses a key does not mean the client's. */
function toFailure({ code, message }: NonNullable<RunEnd["error"]>): OpenAiFailure {
  const { httpStatus } = errorTable[isErrorCode(code) ? code : "INTERNAL"];
  if (httpStatus === 401) return { status: 502, error: { message, type: "server_error", param: null, code } };
  return { status: httpStatus, error: toOpenAiError(code, message, httpStatus) };
}

const finishReasons: Readonly<Record<RunEnd["reason"], string | undefined>> = {
  end_turn: "stop",
  clarification: "stop",
  refusal: "content_filter",
  max_tokens: "length",
  budget: "length",
  error: undefined,
  cancelled: undefined,
};

/** Creates the chunks of one choice, which never calls tools of the client. */
export function createOpenAiChatProjection({ includeThinking, includeUsage }: OpenAiChatOptions = {}): Projection {
  const fold = new OpenAiChat();
  const toChunk = (rest: Fields): string => `${JSON.stringify({ ...fold.head("chat.completion.chunk"), ...rest })}\n`;
  const toChoice = (delta: Delta, finish: string | null = null): string =>
    toChunk({ choices: [{ index: 0, delta, finish_reason: finish }], ...(includeUsage && { usage: null }) });
  return {
    push(event) {
      const deltas = fold.push(event).filter((delta) => includeThinking || !("reasoning_content" in delta));
      const lines = deltas.map((delta) => toChoice(delta));
      if (fold.failure) return [...lines, `${JSON.stringify({ error: fold.failure.error })}\n`];
      if (fold.finishReason === undefined) return lines;
      const usage = includeUsage ? [toChunk({ choices: [], usage: fold.usage })] : [];
      return [...lines, toChoice({}, fold.finishReason), ...usage];
    },
  };
}

/** Collects a log that has ended. */
export function createOpenAiCompletion(includeThinking: boolean) {
  const fold = new OpenAiChat();
  const message = { content: "", reasoning_content: "" };
  return {
    push(event: RunEvent): void {
      for (const delta of fold.push(event)) {
        message.content += delta.content ?? "";
        message.reasoning_content += delta.reasoning_content ?? "";
      }
    },
    get failure() {
      return fold.failure;
    },
    get completion(): Fields {
      const { content, reasoning_content } = message;
      const hasThinking = includeThinking && reasoning_content !== "";
      const said = { role: "assistant", content, refusal: null, ...(hasThinking && { reasoning_content }) };
      const choice = { index: 0, message: said, finish_reason: fold.finishReason ?? null, logprobs: null };
      return { ...fold.head("chat.completion"), choices: [choice], usage: fold.usage };
    },
  };
}

interface Delta {
  readonly role?: "assistant";
  readonly content?: string;
  readonly reasoning_content?: string;
}

/** A log as one text, with the words of OpenAI for its end. */
export class OpenAiChat {
  /** Present after an end without a failure. */
  finishReason: string | undefined;
  failure: OpenAiFailure | undefined;
  used: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  /** UUID of the response. */
  id = "";
  /** Seconds since 1970. */
  created = 0;
  model = "";
  /** The end of the text so far. */
  #tail = "";
  /** Blanks after a tool call, kept until text follows them. Undefined inside a piece of the text. */
  #seam: string | undefined;
  /** Paragraphs after the text. */
  #plan = "";
  #questions: readonly string[] = [];

  head(object: string): Fields {
    return { id: `chatcmpl-${this.id}`, object, created: this.created, model: this.model };
  }

  get usage(): Fields {
    const { promptTokens, completionTokens, totalTokens, cachedPromptTokens = 0, reasoningTokens = 0 } = this.used;
    return {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: totalTokens,
      prompt_tokens_details: { cached_tokens: cachedPromptTokens },
      completion_tokens_details: { reasoning_tokens: reasoningTokens },
    };
  }

  push(event: RunEvent): readonly Delta[] {
    switch (event.type) {
      case "run_start":
        this.id = toBareId(event.responseId);
        this.created = Math.floor(event.time / 1000);
        this.model = event.model;
        return [{ role: "assistant", content: "" }];
      case "turn_start":
        this.#seam ??= "";
        return [];
      case "tool_call_start":
        // Calls that Sheaf itself makes at the end separate nothing.
        if (event.origin !== "agent") this.#seam ??= "";
        return [];
      case "text_delta":
        if (event.text.trim() !== "") this.#plan = "";
        return this.#pushText(event.text);
      case "reasoning_delta":
        return [{ reasoning_content: event.text }];
      case "tool_result":
        if (event.status !== "success") return [];
        if (event.effect?.kind === "plan") this.#plan = formatPlan(event.effect);
        if (event.effect?.kind === "question") this.#questions = formatQuestions(event.effect);
        return [];
      case "turn_end":
      case "compaction":
        this.used = addUsage(this.used, event.usage);
        return [];
      case "run_end":
        return this.#end(event);
      default:
        return [];
    }
  }

  #pushText(text: string): readonly Delta[] {
    if (this.#seam === undefined) return this.#write(text);
    const piece = this.#seam + text;
    const isBlank = piece.trim() === "";
    this.#seam = isBlank ? piece : undefined;
    if (isBlank) return [];
    return isSentenceContinued(this.#tail, piece) ? this.#write(piece) : this.#writeParagraph(piece);
  }

  #writeParagraph(text: string): readonly Delta[] {
    const line = this.#tail.endsWith("\n") ? "\n" : "\n\n";
    const gap = this.#tail === "" || this.#tail.endsWith("\n\n") ? "" : line;
    return this.#write(`${gap}${text.trimStart()}`);
  }

  #write(content: string): readonly Delta[] {
    if (content === "") return [];
    this.#tail = `${this.#tail}${content}`.slice(-SEAM_CHARACTERS);
    return [{ content }];
  }

  #end({ reason, error }: RunEnd): readonly Delta[] {
    this.finishReason = finishReasons[reason];
    if (this.finishReason === undefined) {
      const unknown = { code: "INTERNAL", message: "the run failed", source: "agent", details: "", retryable: false };
      this.failure = toFailure(error ?? unknown);
      return [];
    }
    const paragraphs = [this.#plan, ...this.#questions].filter((paragraph) => paragraph !== "");
    return paragraphs.flatMap((paragraph) => this.#writeParagraph(paragraph));
  }
}
