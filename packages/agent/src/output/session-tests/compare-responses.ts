/** Finds the place where a run differs from its test. */
import { createTwoFilesPatch } from "diff";
import type { TestCall, TestResponse, TestTurn } from "./test-response.ts";

/** The first difference of a run from its test. */
export interface Divergence {
  /** Place such as "response 1, turn 2, call 1 (read_file)". */
  readonly place: string;
  /** The difference, without a full stop. */
  readonly message: string;
  /** Lines of a unified diff, from the test to the run; "" if the message is enough. */
  readonly diff: string;
}

/** Returns the first difference, apart from times, ids and paths; undefined without one. `root`: the run's folder. */
export function findDivergence(
  test: { readonly responses: readonly TestResponse[] },
  run: readonly TestResponse[],
  root: string,
): Divergence | undefined {
  const settle = (text: string): string => settleText(text.replaceAll(root, "<workspace>"));
  for (const [at, expected] of test.responses.entries()) {
    const place = `response ${at + 1}`;
    const found = run[at];
    if (!found) return { place, message: "it was not begun", diff: "" };
    const divergence = compareResponse(expected, found, { place, settle });
    if (divergence) return divergence;
  }
  return undefined;
}

interface Comparison {
  readonly place: string;
  readonly settle: (text: string) => string;
}

function compareResponse(
  expected: TestResponse,
  found: TestResponse,
  { place, settle }: Comparison,
): Divergence | undefined {
  const parts = Object.keys(expected.sent ?? {}).filter((part) => expected.sent?.[part] !== found.sent?.[part]);
  const divergence = compareTurns(expected.turns, found.turns, { place, settle });
  if (divergence) return divergence;
  const [ended = "completed", end = "completed"] = [expected.end, found.end];
  const extra = found.turns.length - expected.turns.length;
  const isShort = extra < 0 ? "the run ended before these answers were used" : undefined;
  const isLong = extra > 0 ? "the run asks for more answers than the test has" : undefined;
  const message = isShort ?? isLong ?? (end === ended ? undefined : "the response ended in another way");
  if (message !== undefined) {
    const turns = `${expected.turns.length} turns, ${ended}`;
    return { place, message, diff: toDiff(turns, `${found.turns.length} turns, ${end}`) };
  }
  // This is checked after the calls, because a tool's result explains more.
  if (parts.length > 0) return { place, message: `the model is sent something else: ${parts.join(", ")}`, diff: "" };
  return undefined;
}

function compareTurns(
  expected: readonly TestTurn[],
  found: readonly TestTurn[],
  { place, settle }: Comparison,
): Divergence | undefined {
  for (const [at, turn] of expected.entries()) {
    const made = found[at];
    if (!made) return undefined;
    const there = `${place}, turn ${at + 1}`;
    if (toKind(made) !== toKind(turn))
      return { place: there, message: `the run had ${toKind(made)}, not ${toKind(turn)}`, diff: "" };
    const divergence = compareCalls(turn, made, { place: there, settle });
    if (divergence) return divergence;
  }
  return undefined;
}

function toKind({ summary, breaks }: TestTurn): string {
  return summary !== undefined ? "a summary" : breaks ? "an answer that broke off" : "an answer";
}

function compareCalls(expected: TestTurn, found: TestTurn, { place, settle }: Comparison): Divergence | undefined {
  for (const [at, call] of (expected.calls ?? []).entries()) {
    const made = found.calls?.[at];
    const there = `${place}, call ${at + 1} (${call.tool})`;
    if (!made) return { place: there, message: "the run did not make the call", diff: "" };
    if (made.tool !== call.tool) return { place: there, message: `the run called ${made.tool}`, diff: "" };
    const inner = call.turns && compareTurns(call.turns, made.turns ?? [], { place: there, settle });
    if (inner) return inner;
    const toOutcome = ({ status, returns = "" }: TestCall): string =>
      // A call without `returns` accepts any result.
      formatOutcome({ ...(status && { status }), returns: call.returns === undefined ? "" : returns }, settle);
    const [before, after] = [toOutcome(call), toOutcome(made)];
    if (before !== after)
      return { place: there, message: "the tool returned something else", diff: toDiff(before, after) };
  }
  return undefined;
}

/** Formats the status and the text of a result for a comparison. */
export function formatOutcome(
  { status, returns }: Pick<TestCall, "status" | "returns">,
  settle: (text: string) => string,
): string {
  return `${status ?? "success"}\n${returns === undefined ? "" : settle(returns)}`;
}

/** Most lines that a diff adds and removes. The time grows with the square of this number. */
const MAX_CHANGES = 1000;

/** Number of lines from each text that a larger difference shows. */
const SHOWN_LINES = 20;

/** Returns a unified diff, or only its first lines if the texts differ too much. */
export function toDiff(before: string, after: string): string {
  const options = { context: 2, maxEditLength: MAX_CHANGES };
  const patch = createTwoFilesPatch("test", "run", `${before}\n`, `${after}\n`, undefined, undefined, options);
  if (patch !== undefined) return patch.split("\n").slice(3).join("\n").trimEnd();
  const [old, made] = [before.split("\n"), after.split("\n")];
  const first = old.findIndex((line, at) => line !== made[at]);
  const start = first === -1 ? old.length : first;
  const [removed, added] = [old, made].map((lines) => lines.slice(start, start + SHOWN_LINES)) as [string[], string[]];
  return [
    `@@ -${start + 1},${removed.length} +${start + 1},${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    `\\ More than ${MAX_CHANGES} lines differ: these are the first.`,
  ].join("\n");
}

/** Patterns of text that changes from run to run. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<id>"],
  [/\b(call|chat|conv)_[\w-]+/g, "<id>"],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, "<time>"],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, "<time>"],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|µs|seconds?|minutes?)\b/g, "<time>"],
  [/\bduration_ms:? \d+(?:\.\d+)?/g, "<time>"],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g, "<id>"],
  [/\/(?:tmp|var\/folders|private\/tmp)\/[^\s:'")]+/g, "<path>"],
  [/\b(127\.0\.0\.1|localhost):\d{4,5}\b/g, "$1:<port>"],
];

export function settleText(text: string): string {
  return changing.reduce((settled, [pattern, word]) => settled.replace(pattern, word), text).trimEnd();
}
