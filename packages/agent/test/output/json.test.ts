import type { Notice, RunEventBody } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { createJsonProjection } from "../../src/output/json.ts";
import { createOpenAiCompletion } from "../../src/output/openai-chat.ts";
import { createTextProjection } from "../../src/output/text.ts";
import { parseValidLines } from "../../../../test/support/schema-check.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { project, runStart, toCall, toLog, toTexts, turnEnd } from "./log.ts";

/** What was said before a call, and the deltas after it. */
const sentences = [
  ["I will read README.md", " ", "and answer."],
  ["I will read `README.md` ", "and answer."],
  ["Ich lese README.md", ", dann antworte ich."],
  ["我來讀取 README.md 檔案", "，然後建立摘要。"],
  ["README.md を読み", "要約します。"],
] as const;

const print = (...bodies: readonly RunEventBody[]) => project(createJsonProjection(), toLog(runStart, ...bodies));

test(verifies("C3", "exactly one object on success, byte for byte, keys in order"), () => {
  const printed = print(...toTexts("Hi ", "you"), turnEnd, { type: "run_end", reason: "end_turn" });
  expect(printed).toEqual([
    `{"type":"result","subtype":"success","is_error":false,"duration_ms":40,"duration_api_ms":40,"result":"Hi you","session_id":"c6b62c6f-7ead-4fd6-9922-e952131177ff","request_id":"10e11780-df2f-45dc-a1ff-4540af32e9c0","usage":{"inputTokens":10,"outputTokens":5,"cacheReadTokens":4,"cacheWriteTokens":0},"finish_reason":"end_turn","duration_model_ms":7,"num_turns":1,"sandbox":"disabled"}\n`,
  ]);
  parseValidLines("stream-json", printed);
});

const effort: Notice = { code: "EFFORT_CHANGED", message: "no such effort" };
const hook: Notice = { code: "HOOK_NOT_RUN", message: "a hook does not run" };
const branch: Notice = { code: "TREE_BRANCH", message: "a branch" };
const sandbox: Notice = { code: "SANDBOX_UNAVAILABLE", message: "no commands" };

test(verifies("C36", "notices of the model are in the result, each once"), () => {
  const noticed = { ...turnEnd, notice: effort };
  const printed = print(...toTexts("Hi"), noticed, noticed, { type: "run_end", reason: "end_turn" });
  expect(parseValidLines("stream-json", printed)).toMatchObject([{ notices: [effort] }]);
});

test(
  verifies(["C5", "C10"], "notices of the start, which no line before tells, come first, and those of the end last"),
  () => {
    const start = { ...runStart, notices: [hook] };
    const events = [
      ...toTexts("Hi"),
      { ...turnEnd, notice: effort },
      { type: "run_end", reason: "end_turn", notices: [branch] },
    ] as const;
    const [line] = project(createJsonProjection(), toLog(start, ...events));
    expect(JSON.parse(line!)).toMatchObject({ notices: [hook, effort, branch] });
    const cursor = createJsonProjection({ profile: "cursor-2026" });
    expect(JSON.parse(project(cursor, toLog(start, ...events))[0]!)).not.toHaveProperty("notices");
  },
);

test(verifies("C3", "texts before and after a tool call are separated by a blank line"), () => {
  const call = toCall("call_1", "read_file", {}, {});
  const events = [...toTexts("I read."), ...call, ...toTexts("    Done."), turnEnd] as const;
  const end = { type: "run_end", reason: "end_turn" } as const;
  expect(JSON.parse(print(...events, end)[0]!)).toMatchObject({ result: "I read.\n\nDone." });
  const cursor = createJsonProjection({ profile: "cursor-2026" });
  const [line] = project(cursor, toLog(runStart, ...events, end));
  expect(JSON.parse(line!)).toMatchObject({ result: "I read.    Done." });
});

test(verifies("C3", "a sentence that a tool call interrupts stays one sentence, in every format"), () => {
  const call = toCall("call_1", "read_file", {}, {});
  const log = (before: string, after: readonly string[]) => [
    ...toTexts(before),
    ...call,
    { type: "turn_start", turn: 2 } as const,
    ...toTexts(...after),
    turnEnd,
    { type: "run_end", reason: "end_turn" } as const,
  ];
  for (const [before, ...after] of sentences) {
    const whole = `${before}${after.join("")}`;
    const events = log(before, after);
    expect(JSON.parse(print(...events)[0]!)).toMatchObject({ result: whole });
    const text = project(createTextProjection({ locale: "en" }), toLog(runStart, ...events)).join("");
    expect(text).toBe(`Read file\n\n${whole}\n`);
    const completion = createOpenAiCompletion(false);
    for (const event of toLog(runStart, ...events)) completion.push(event);
    expect(completion.completion).toMatchObject({ choices: [{ message: { content: whole } }] });
  }
});

test(verifies("C3", "nothing on failure"), () => {
  const error = { code: "OVERLOADED", message: "m", source: "provider", details: "", retryable: true };
  expect(print(...toTexts("half"), turnEnd, { type: "run_end", reason: "error", error })).toEqual([]);
});

test(verifies(["C3", "C22", "S-31"], "an answer without its commands is printed, with its error and notices"), () => {
  const error = { code: "SANDBOX_UNAVAILABLE", message: "m", source: "sandbox", details: "", retryable: false };
  const end = { type: "run_end", reason: "error", error, output: 1 } as const;
  const log = toLog({ ...runStart, notices: [sandbox] }, ...toTexts("Whole."), turnEnd, end);
  const expected = { subtype: "error", is_error: true, result: "Whole.", error: { code: "SANDBOX_UNAVAILABLE" } };
  expect(parseValidLines("stream-json", project(createJsonProjection(), log))).toMatchObject([
    { ...expected, notices: [sandbox], structured_output: 1 },
  ]);
  expect(project(createJsonProjection({ profile: "cursor-2026" }), log)).toEqual([]);
});

test(verifies(["C22", "C25"], "needs_input prints the object with its questions"), () => {
  const effect = { kind: "question", title: "t", questions: [{ id: "q", text: "Q?", options: [] }] } as const;
  const call = toCall("call_1", "ask_question", {}, { effect });
  const printed = print(...call, turnEnd, { type: "run_end", reason: "clarification", notices: [branch] });
  expect(parseValidLines("stream-json", printed)).toMatchObject([
    {
      subtype: "needs_input",
      is_error: false,
      questions: [{ id: "q", prompt: "Q?", options: [], allowMultiple: false }],
      notices: [branch],
    },
  ]);
});
