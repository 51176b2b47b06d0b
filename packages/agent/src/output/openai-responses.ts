/** The log as events of OpenAI's Responses (N72): one message with one text, tools unseen. One event per line. */
import type { RunEvent } from "@sheaf/protocol";
import { createGrowingText } from "@sheaf/base/growing-text";
import { OpenAiChat } from "./openai-chat.ts";
import type { Projection } from "./projection.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Creates the events, and the response that they add up to. */
export function createOpenAiResponse() {
  const fold = new OpenAiChat();
  const text = createGrowingText();
  let count = 0;
  let hasText = false;

  const toEvent = (type: string, fields: Fields): Fields => ({ type, sequence_number: count++, ...fields });
  const toPart = (): Fields => ({ type: "output_text", text: text.text, annotations: [], logprobs: [] });
  const toItem = (status: string, content: readonly Fields[]): Fields => ({
    id: `msg_${fold.id}`,
    type: "message",
    role: "assistant",
    status,
    content,
  });
  const place = (): Fields => ({ item_id: `msg_${fold.id}`, output_index: 0, content_index: 0 });

  const toUsage = (): Fields => {
    const { promptTokens, completionTokens, totalTokens, cachedPromptTokens = 0, reasoningTokens = 0 } = fold.used;
    return {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: cachedPromptTokens },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: totalTokens,
    };
  };

  const toStatus = (): string => {
    if (fold.failure) return "failed";
    if (fold.finishReason === undefined) return "in_progress";
    return fold.finishReason === "stop" ? "completed" : "incomplete";
  };

  const toResponse = (): Fields => {
    const status = toStatus();
    const reason = fold.finishReason === "length" ? "max_output_tokens" : "content_filter";
    const error = fold.failure?.error;
    return {
      id: `resp_${fold.id}`,
      object: "response",
      created_at: fold.created,
      status,
      error: error ? { code: error.code, message: error.message } : null,
      incomplete_details: status === "incomplete" ? { reason } : null,
      instructions: null,
      model: fold.model,
      output:
        hasText && status !== "in_progress" ? [toItem(status === "failed" ? "incomplete" : status, [toPart()])] : [],
      parallel_tool_calls: true,
      tool_choice: "auto",
      tools: [],
      text: { format: { type: "text" } },
      metadata: {},
      usage: status === "in_progress" ? null : toUsage(),
    };
  };

  const pushText = (delta: string): Fields[] => {
    const events: Fields[] = [];
    if (!hasText) {
      events.push(
        toEvent("response.output_item.added", { output_index: 0, item: toItem("in_progress", []) }),
        toEvent("response.content_part.added", { ...place(), part: toPart() }),
      );
      hasText = true;
    }
    text.push(delta);
    return [...events, toEvent("response.output_text.delta", { ...place(), delta, logprobs: [] })];
  };

  const end = (): Fields[] => {
    const status = toStatus();
    const item = toItem(status === "failed" ? "incomplete" : status, [toPart()]);
    const ends = hasText
      ? [
          toEvent("response.output_text.done", { ...place(), text: text.text, logprobs: [] }),
          toEvent("response.content_part.done", { ...place(), part: toPart() }),
          toEvent("response.output_item.done", { output_index: 0, item }),
        ]
      : [];
    return [...ends, toEvent(`response.${status}`, { response: toResponse() })];
  };

  return {
    push(event: RunEvent): Fields[] {
      const deltas = fold.push(event);
      if (event.type === "run_start") {
        return ["created", "in_progress"].map((name) => toEvent(`response.${name}`, { response: toResponse() }));
      }
      const events = deltas.flatMap(({ content }) => (content ? pushText(content) : []));
      return event.type === "run_end" ? [...events, ...end()] : events;
    },
    get response() {
      return toResponse();
    },
    get text() {
      return text.text;
    },
    get failure() {
      return fold.failure;
    },
  };
}

export function createOpenAiResponseProjection(): Projection {
  const response = createOpenAiResponse();
  return { push: (event) => response.push(event).map((each) => `${JSON.stringify(each)}\n`) };
}
