/** What a provider writes in the three protocols that the agents speak: the frames of an answer, and the body of an error. */
import { randomUUID } from "node:crypto";

/** How an answer ends. */
export type AnswerEnd = "whole" | "token_limit" | "never";

export interface Wire {
  /** Of an answer with this text. An answer that never ends lacks its last frames. */
  readonly encode: (words: readonly string[], end: AnswerEnd) => readonly string[];
  /** Of an answer that is one call of a tool. */
  readonly encodeCall: (call: ToolCall) => readonly string[];
  readonly encodeError: (status: number, message: string) => object;
}

/** `input`: the arguments of the tool. */
export interface ToolCall {
  readonly name: string;
  readonly input: object;
}

const toFrame = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const toNamedFrame = (type: string, fields: object): string => `event: ${type}\n${toFrame({ type, ...fields })}`;

const errorTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  429: "rate_limit_error",
  503: "overloaded_error",
};

const encodeOpenAiError = (status: number, message: string): object => ({
  error: { message, type: errorTypes[status], param: null, code: status === 401 ? "invalid_api_key" : null },
});

const anthropic: Wire = {
  encode(words, end) {
    const usage = { input_tokens: 100, output_tokens: words.length };
    const id = `msg_${randomUUID().replaceAll("-", "")}`;
    const head = { id, type: "message", role: "assistant", model: "local", content: [] };
    const message = { ...head, stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } };
    const block = [
      toNamedFrame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      ...words.map((text) => toNamedFrame("content_block_delta", { index: 0, delta: { type: "text_delta", text } })),
    ];
    const stop_reason = end === "token_limit" ? "max_tokens" : "end_turn";
    return [
      toNamedFrame("message_start", { message }),
      ...(words.length === 0 ? [] : block),
      ...(end === "never" || words.length === 0 ? [] : [toNamedFrame("content_block_stop", { index: 0 })]),
      ...(end === "never"
        ? []
        : [
            toNamedFrame("message_delta", { delta: { stop_reason, stop_sequence: null }, usage }),
            toNamedFrame("message_stop", {}),
          ]),
    ];
  },
  encodeCall({ name, input }) {
    const usage = { input_tokens: 100, output_tokens: 9 };
    const head = { id: `msg_${randomUUID()}`, type: "message", role: "assistant", model: "local", content: [], usage };
    const block = { type: "tool_use", id: `toolu_${randomUUID()}`, name, input: {} };
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
    return [
      toNamedFrame("message_start", { message: { ...head, stop_reason: null, stop_sequence: null } }),
      toNamedFrame("content_block_start", { index: 0, content_block: block }),
      toNamedFrame("content_block_delta", { index: 0, delta }),
      toNamedFrame("content_block_stop", { index: 0 }),
      toNamedFrame("message_delta", { delta: { stop_reason: "tool_use", stop_sequence: null }, usage }),
      toNamedFrame("message_stop", {}),
    ];
  },
  encodeError: (status, message) => ({ type: "error", error: { type: errorTypes[status], message } }),
};

const chat: Wire = {
  encode(words, end) {
    const head = {
      id: `chatcmpl-${randomUUID()}`,
      object: "chat.completion.chunk",
      created: 1_763_800_000,
      model: "local",
    };
    const toChunk = (delta: object, finish_reason: string | null = null): string =>
      toFrame({ ...head, choices: [{ index: 0, delta, finish_reason }] });
    const usage = { prompt_tokens: 100, completion_tokens: words.length, total_tokens: 100 + words.length };
    return [
      toChunk({ role: "assistant", content: "" }),
      ...words.map((content) => toChunk({ content })),
      ...(end === "never"
        ? []
        : [
            toChunk({}, end === "token_limit" ? "length" : "stop"),
            toFrame({ ...head, choices: [], usage }),
            "data: [DONE]\n\n",
          ]),
    ];
  },
  encodeCall({ name, input }) {
    const head = {
      id: `chatcmpl-${randomUUID()}`,
      object: "chat.completion.chunk",
      created: 1_763_800_000,
      model: "local",
    };
    const called = { name, arguments: JSON.stringify(input) };
    const tool_calls = [{ index: 0, id: `call_${randomUUID()}`, type: "function", function: called }];
    const toChoices = (delta: object, finish_reason: string | null) => [{ index: 0, delta, finish_reason }];
    return [
      toFrame({ ...head, choices: toChoices({ role: "assistant", tool_calls }, null) }),
      toFrame({ ...head, choices: toChoices({}, "tool_calls") }),
      "data: [DONE]\n\n",
    ];
  },
  encodeError: encodeOpenAiError,
};

const responses: Wire = {
  encode(words, end) {
    let sequence_number = 0;
    const toEvent = (type: string, fields: object): string =>
      toNamedFrame(type, { sequence_number: (sequence_number += 1), ...fields });
    const text = words.join("");
    const part = (content: string) => ({ type: "output_text", text: content, annotations: [] });
    const id = `msg_${randomUUID().replaceAll("-", "")}`;
    const item = { id, type: "message", role: "assistant", status: "completed", content: [part(text)] };
    const started = { ...item, status: "in_progress", content: [] };
    const place = { item_id: id, output_index: 0, content_index: 0 };
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: words.length,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 100 + words.length,
    };
    const head = {
      id: `resp_${randomUUID().replaceAll("-", "")}`,
      object: "response",
      created_at: 1_763_800_000,
      model: "local",
    };
    const isCut = end === "token_limit";
    const status = isCut ? "incomplete" : "completed";
    const details = isCut ? { reason: "max_output_tokens" } : null;
    const output = words.length === 0 ? [] : [item];
    const begun = { ...head, status: "in_progress", output: [] };
    const ended = { ...head, status, incomplete_details: details, error: null, output, usage };
    const opening = [
      toEvent("response.output_item.added", { output_index: 0, item: started }),
      toEvent("response.content_part.added", { ...place, part: part("") }),
      ...words.map((delta) => toEvent("response.output_text.delta", { ...place, delta })),
    ];
    const closing = [
      toEvent("response.output_text.done", { ...place, text }),
      toEvent("response.content_part.done", { ...place, part: part(text) }),
      toEvent("response.output_item.done", { output_index: 0, item }),
    ];
    return [
      toEvent("response.created", { response: begun }),
      ...(words.length === 0 ? [] : opening),
      ...(end === "never" || words.length === 0 ? [] : closing),
      ...(end === "never" ? [] : [toEvent(`response.${status}`, { response: ended })]),
    ];
  },
  encodeCall({ name, input }) {
    const ids = { id: `fc_${randomUUID()}`, call_id: `call_${randomUUID()}` };
    const item = { ...ids, type: "function_call", name, arguments: JSON.stringify(input), status: "completed" };
    const response = { id: `resp_${randomUUID()}`, object: "response", model: "local", output: [item], error: null };
    const usage = { input_tokens: 100, output_tokens: 9, total_tokens: 109 };
    return [
      toNamedFrame("response.created", { response: { ...response, status: "in_progress", output: [] } }),
      toNamedFrame("response.output_item.added", { output_index: 0, item: { ...item, arguments: "" } }),
      toNamedFrame("response.output_item.done", { output_index: 0, item }),
      toNamedFrame("response.completed", { response: { ...response, status: "completed", usage } }),
    ];
  },
  encodeError: encodeOpenAiError,
};

/** By the end of the path. */
export function findWire(path: string): Wire | undefined {
  if (/\/messages(\?|$)/.test(path)) return anthropic;
  if (/\/chat\/completions(\?|$)/.test(path)) return chat;
  return /\/responses(\?|$)/.test(path) ? responses : undefined;
}
