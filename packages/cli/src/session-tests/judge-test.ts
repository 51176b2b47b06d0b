/** Decides if a played test passes, and adds up its cost. */
import { createRunSummary } from "@sheaf/documents/run-summary";
import { type Divergence, findDivergence, toDiff } from "@sheaf/agent/output/session-tests/compare-responses";
import type { PlayedTest } from "./play-test.ts";
import type { Expectations, TestFile } from "./test-file.ts";

interface TestCost {
  readonly turns: number;
  readonly tokens: number;
  /** Cost in US dollars; undefined without a known price. */
  readonly usd: number | undefined;
}

export interface Judgement {
  /** The first failure; undefined if the test passes. */
  readonly failure: Divergence | undefined;
  readonly cost: TestCost;
}

/** Judges a test. `isLive`: a real model answered, so only `expect` and the ends of the responses apply. */
export function judgeTest(test: TestFile, played: PlayedTest, isLive: boolean): Judgement {
  const cost = sumCost(played);
  const failure =
    (isLive ? findOtherEnd(test, played) : findDivergence(test, played.responses, played.root)) ??
    findUnexpected(test.expect ?? {}, played, cost);
  return { failure, cost };
}

/** Finds a response that ended in another way than in the test: the model may not have answered. */
function findOtherEnd({ responses, expect }: TestFile, played: PlayedTest): Divergence | undefined {
  for (const [at, { end = "completed" }] of played.responses.entries()) {
    const isLast = at === responses.length - 1;
    const wanted = (isLast ? expect?.end : undefined) ?? responses[at]?.end ?? "completed";
    if (end !== wanted) return { place: `response ${at + 1}`, message: "its end", diff: toDiff(wanted, end) };
  }
  return undefined;
}

function sumCost({ logs }: PlayedTest): TestCost {
  const sum = { turns: 0, tokens: 0, usd: undefined as number | undefined };
  for (const log of logs) {
    const summary = createRunSummary();
    for (const event of log) summary.push(event);
    const { turnCount, costUsd } = summary.toMetadata(log.at(-1)?.time ?? 0, "end_turn");
    sum.turns += turnCount;
    sum.tokens += summary.toUsage().totalTokens;
    if (costUsd !== undefined) sum.usd = (sum.usd ?? 0) + costUsd;
  }
  return sum;
}

function findUnexpected(expect: Expectations, played: PlayedTest, cost: TestCost): Divergence | undefined {
  const last = played.responses.at(-1);
  const fail = (message: string, diff = ""): Divergence => ({ place: "expect", message, diff });
  const end = last?.end ?? "completed";
  if (expect.end !== undefined && end !== expect.end) return fail("end", toDiff(expect.end, end));
  const [misjudged] = played.misjudged;
  if (misjudged !== undefined) return fail(`rules: ${misjudged}`);
  const calls = played.responses.flatMap(({ turns }) => turns.flatMap(({ calls: made = [] }) => made));
  let next = 0;
  for (const { tool } of calls) if (tool === expect.calls?.[next]) next += 1;
  const missing = expect.calls?.[next];
  const names = calls.map(({ tool }) => tool).join(", ") || "none";
  if (missing !== undefined) return fail(`calls: ${missing} was not called in this order; the calls are ${names}`);
  const forbidden = calls.find(({ status, returns }) => status === "rejected" && isForbidden(returns, expect.never));
  if (forbidden) return fail(`never: ${forbidden.returns?.split("\n")[0]}`);
  for (const [path, text] of Object.entries(expect.files ?? {})) {
    const found = played.files[path] ?? null;
    if (found === text) continue;
    if (found === null || text === null) return fail(`files: ${path} ${text === null ? "exists" : "does not exist"}`);
    return fail(`files: ${path} has another text`, toDiff(text, found));
  }
  const answer = last?.turns.at(-1)?.text ?? "";
  const unmet = expect.answer?.find((pattern) => !new RegExp(pattern, "u").test(answer));
  if (unmet !== undefined) return fail(`answer: /${unmet}/ does not match`, toDiff(`/${unmet}/`, answer));
  const unseen = expect.sees?.find((pattern) => !new RegExp(pattern, "u").test(played.seen));
  if (unseen !== undefined) return fail(`sees: /${unseen}/ does not match the last request`);
  const { max_turns: turns, max_tokens: tokens, max_cost_usd: usd } = expect;
  if (turns !== undefined && cost.turns > turns) return fail(`max_turns: ${cost.turns} turns, not ${turns}`);
  if (tokens !== undefined && cost.tokens > tokens) return fail(`max_tokens: ${cost.tokens} tokens, not ${tokens}`);
  if (usd !== undefined && (cost.usd ?? 0) > usd) return fail(`max_cost_usd: ${cost.usd} US dollars, not ${usd}`);
  return undefined;
}

/** True if a result contains one of the rules: a refusal has the rule that caused it. */
function isForbidden(returns = "", rules: readonly string[] = []): boolean {
  return rules.some((rule) => returns.includes(rule));
}
