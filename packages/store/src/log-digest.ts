/** Digests of logs, stored beside them, so that lists and searches of conversations needn't read logs (X35, X36). */
import type { RunEvent, TokenPrice } from "@sheaf/protocol";
import { findPrice, toCostUsd, toEndedRequest } from "@sheaf/protocol/cost";

/** Longest text of an answer for searches. UTF-16 units. */
const MAX_ANSWER = 100_000;

/** A log that has ended, in short. */
export interface LogDigest {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** US dollars of the requests with a known price; undefined: no request has one. */
  readonly costUsd: number | undefined;
  /** The text of the model, one line between its turns; only the start of a very long one. Without NUL. */
  readonly answer: string;
}

/** Digests a log. A store calls this when a response ends, and for each response that it gets whole. */
export function digestLog(events: Iterable<RunEvent>): LogDigest {
  let price: TokenPrice | undefined;
  let [promptTokens, completionTokens] = [0, 0];
  let costUsd: number | undefined;
  let answer = "";
  for (const event of events) {
    if (event.type === "run_start") price = event.price;
    if (event.type === "turn_start" && answer !== "") answer += "\n";
    if (event.type === "text_delta" && answer.length < MAX_ANSWER) answer += event.text;
    const ended = toEndedRequest(event);
    if (!ended) continue;
    promptTokens += ended.usage.promptTokens;
    completionTokens += ended.usage.completionTokens;
    const paid = findPrice(ended, price);
    if (paid) costUsd = (costUsd ?? 0) + toCostUsd(ended.usage, paid);
  }
  return {
    promptTokens: toWhole(promptTokens),
    completionTokens: toWhole(completionTokens),
    costUsd: Number.isFinite(costUsd) ? costUsd : undefined,
    answer: answer.slice(0, MAX_ANSWER).replaceAll("\0", " ").trimEnd(),
  };
}

/** Rounds to a number that every column can contain: model servers may report fractions, or unbounded numbers. */
function toWhole(count: number): number {
  return Math.min(Math.round(count) || 0, Number.MAX_SAFE_INTEGER);
}
