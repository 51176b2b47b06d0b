/** Turns that ended too early: the run continues with a note, a few times. */
import type { ModelEvent } from "@sheaf/protocol";
import { parseJson } from "@sheaf/protocol/check-value";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { AnswerCheck } from "../../src/run/final-answer.ts";
import { toFailure } from "../../src/tools/failure.ts";
import type { ToolBox } from "../../src/tools/tool.ts";
import { call, createFakeModel, createFakeTools, end, last, ok, runModel, start, text, usage } from "./fake-ports.ts";

const cutText = [text("One tw"), end("max_tokens")];
const cutCall = (raw: string): ModelEvent[] => [
  { type: "tool_call_start", callId: "cut", toolName: "write", documentType: "tool_call" },
  { type: "tool_call_arguments", callId: "cut", arguments: {}, ...(raw !== "" && { rawArguments: raw }) },
];
const done = [text("o three."), end()];

async function runTurns(turns: readonly (readonly ModelEvent[])[], settings: object = {}, checkAnswer?: AnswerCheck) {
  const ran: string[] = [];
  const model = createFakeModel(turns.map((events) => [events]));
  const tools: ToolBox = {
    ...createFakeTools({}),
    definitions: [{ name: "write", description: "", parameters: {} }],
    async execute({ callId, rawArguments }) {
      if (rawArguments !== undefined) return toFailure("INVALID_ARGUMENTS", rawArguments);
      ran.push(callId);
      return ok();
    },
  };
  const groups = await runModel(model, { tools, settings: { start, ...settings }, checkAnswer });
  const events = groups.flat();
  return {
    ran,
    requests: model.requests,
    end: last(groups),
    notes: events.flatMap((event) => (event.type === "turn_start" && event.note ? [event.note] : [])),
    results: events.filter((event) => event.type === "tool_result"),
  };
}

const isCut = "Your last message reached its token limit.";
const goOn = `${isCut} Continue where it ends, without repeating it.`;
const incomplete = `${isCut} The call of write was not whole and did not run: write it again, whole, in smaller parts.`;
const isEmpty = "Your last message was empty: answer the user, or call a tool.";

describe("the run continues", () => {
  test.each<readonly [string, readonly ModelEvent[], string]>([
    ["a text that was cut", cutText, goOn],
    ["a call that was cut", [...cutCall('{"a": "x'), end("max_tokens")], incomplete],
    ["a call without arguments that was cut", [...cutCall(""), end("max_tokens")], incomplete],
    ["a call in the text that was cut", [text('<tool_call>{"name":"write","argum'), end("max_tokens")], incomplete],
    [
      "a whole call in a text that was cut",
      [text('<tool_call>{"name":"write","arguments":{"a":1}}</tool_call>'), end("max_tokens")],
      incomplete,
    ],
    [
      "nothing but thoughts",
      [{ type: "reasoning_delta", text: "Hm" }, end("max_tokens")],
      `${isCut} It had no text: think less, and answer.`,
    ],
    ["an empty message", [end()], isEmpty],
    ["blanks", [text(" \n"), end()], isEmpty],
  ])(verifies("C185", "after %s"), async (_, turn, note) => {
    const run = await runTurns([turn, done]);
    expect(run.end).toMatchObject({ reason: "end_turn" });
    expect(run.notes).toEqual([note]);
    expect(run.ran).toEqual([]);
  });

  test(verifies("C185", "the whole calls of a cut turn run, its last one is shown as it was written"), async () => {
    const turn = [...call("whole", "write", { a: 1 }), ...cutCall('{"a": "x'), end("max_tokens")];
    const run = await runTurns([turn, done]);
    expect([run.ran, run.notes]).toEqual([["whole"], [incomplete]]);
    expect(run.results).toMatchObject([{ status: "success" }, { callId: "cut", status: "error" }]);
    const sent = run.requests[1]!.messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
    expect(sent).toMatchObject([{ callId: "whole" }, { callId: "cut", rawArguments: '{"a": "x' }]);
  });
});

test.each<readonly [string, readonly (readonly ModelEvent[])[], object, number]>([
  ["three cuts in a row", [cutText, cutText, cutText], { reason: "max_tokens", error: { code: "MAX_TOKENS" } }, 3],
  ["two empty messages", [[end()], [end()]], { error: { code: "EMPTY_ANSWER" } }, 2],
  [
    "two empty messages after text",
    [[text("a"), ...call("c", "write", { a: 1 }), end()], [end()], [end()]],
    { reason: "end_turn" },
    3,
  ],
  [
    "cuts that are not in a row",
    [cutText, cutText, [...call("c", "write", { a: 1 }), end("tool_calls")], cutText, cutText, done],
    { reason: "end_turn" },
    6,
  ],
])(verifies("C185", "%s end as before"), async (_, turns, outcome, requests) => {
  const run = await runTurns(turns);
  expect(run.end).toMatchObject(outcome);
  expect(run.requests).toHaveLength(requests);
});

test.each([
  ["continued", [text('"a"}'), end()], { name: "a" }],
  ["written again", [text('{"name": "b"}'), end()], { name: "b" }],
])(
  verifies(["C185", "C10"], "a cut answer for a schema is judged as a whole, or %s"),
  async (_how, lastTurn, output) => {
    const cut = [text('{"name": '), end("max_tokens")];
    const checkAnswer: AnswerCheck = async (answer) => {
      const value = parseJson(answer);
      return value === undefined ? { ok: false, problem: "no JSON" } : { ok: true, value };
    };
    const run = await runTurns([cut, lastTurn], {}, checkAnswer);
    expect([run.requests.length, run.end]).toMatchObject([2, { reason: "end_turn", output }]);
  },
);

test(verifies(["C185", "C24"], "a budget that is used up leaves no second try"), async () => {
  const run = await runTurns([[text("a"), { ...end("max_tokens"), usage } as ModelEvent], done], {
    limits: { maxTurns: 1 },
  });
  expect([run.requests.length, run.end]).toMatchObject([1, { error: { code: "MAX_TOKENS" } }]);
});
