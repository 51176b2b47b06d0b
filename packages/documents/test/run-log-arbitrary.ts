/** Arbitrary run logs for property tests. */
import type { FinishReason, RunEnd, RunEvent, RunEventBody, ToolEffect, ToolResult } from "@sheaf/protocol";
import fc from "fast-check";
import { toDocumentType } from "../src/tool-names.ts";
import { toCall, toPieces, toResult, toRunLog, toTurn } from "./run-log.ts";

const word = fc.constantFrom(
  "Hello",
  "world 🙂",
  "grüße",
  "`x`",
  "- item",
  "> quote",
  "1. one",
  "  ",
  "{",
  "\\",
  '"',
  "__proto__",
);
const lineEnd = fc.constantFrom("\n", "\n\n", "\r\n", " ");
const fence = fc.constantFrom(
  "```ts\nconst a = 1;\n```\n",
  "```3:5:src/a.ts\nlet x;\n```\n",
  "```4:4:/w/src/b.py\ny\n```\n",
  '~~~js title="a" purpose=example\nx\n~~~\n',
  "````md\n```js\n1\n```\n````\n",
  "- in a list\n  ```sh\n  ls\n  ```\n",
  "```\nunclosed",
);

/** Model text with everything in it that becomes a document. */
export const modelText: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 3, arbitrary: fc.tuple(word, lineEnd).map((pair) => pair.join("")) }, fence), {
    maxLength: 8,
  })
  .map((parts) => parts.join(""));

interface Call {
  readonly toolName: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly effect: ToolEffect | undefined;
}

const content = fc.oneof(modelText, fc.string({ unit: "binary", maxLength: 20 }));

const writeCall = content.map((text): Call => ({
  toolName: "write_file",
  values: { target_file: "/w/src/new.ts", content: text },
  effect: {
    kind: "file_edit",
    changes: [
      {
        operation: "create",
        filePath: "src/new.ts",
        path: "/w/src/new.ts",
        content: text,
        linesAdded: 1,
        linesRemoved: 0,
        bytes: text.length,
      },
    ],
  },
}));

const editCall = fc.tuple(content, fc.integer({ min: 1, max: 3 })).map(([text, edits]): Call => {
  const diff = { oldString: "before", newString: text, startLine: 2, endLine: 2 };
  const change = { path: "/w/a.ts", content: text, linesAdded: 1, linesRemoved: 1, bytes: 9 };
  return {
    toolName: "edit_file",
    values: {
      edits: Array.from({ length: edits }, () => ({ old_string: "before", new_string: text })),
      target_file: "a.ts",
    },
    effect: { kind: "file_edit", changes: [{ ...change, operation: "edit", filePath: "a.ts", diff }] },
  };
});

const fileCall = fc.constantFrom<Call>(
  { toolName: "delete_file", values: { target_file: "a.ts" }, effect: undefined },
  { toolName: "rename_file", values: { source_file: "a.ts", destination_file: "b.py" }, effect: undefined },
);

const planCall = content.map((plan): Call => ({
  toolName: "create_plan",
  values: { title: "T", overview: "O", plan, todos: [{ id: "a", content: "A" }] },
  effect: {
    kind: "plan",
    title: "T",
    overview: "O",
    plan,
    todos: [{ id: "a", content: "A", status: "pending", dependencies: [] }],
    planId: "plan_1",
    revision: 1,
  },
}));

const otherCall = fc.constantFrom<Call>(
  { toolName: "read_file", values: { target_file: "src/a.ts" }, effect: undefined },
  { toolName: "my__proto__tool", values: { ["__proto__"]: 1, a: [{}] }, effect: undefined },
  { toolName: "run_terminal_cmd", values: { command: "ls", working_directory: "src" }, effect: undefined },
  {
    toolName: "ask_question",
    values: { title: "Which?", questions: [{ id: "q", prompt: "P", options: [{ id: "o", label: "L" }] }] },
    effect: undefined,
  },
  {
    toolName: "todo_write",
    values: { todos: [{ id: "a", content: "A", status: "completed" }], merge: true },
    effect: { kind: "todo", changes: [{ id: "a", status: "completed" }], todos: [] },
  },
);

const call = fc.oneof(writeCall, editCall, fileCall, planCall, otherCall);

/** What becomes of a call: `none` leaves it open until the run ends. */
type Outcome = ToolResult["status"] | "approved" | "none" | "unparsed";

const outcome = fc.constantFrom<Outcome>(
  "success",
  "success",
  "success",
  "approved",
  "error",
  "rejected",
  "cancelled",
  "none",
  "unparsed",
);

const size = fc.integer({ min: 1, max: 12 });

interface Turn {
  readonly items: readonly (string | Call)[];
  readonly outcomes: readonly Outcome[];
  readonly size: number;
  readonly reasoning: boolean;
  readonly reverse: boolean;
  /** Tools run while the model still writes. */
  readonly early: boolean;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  items: fc.array(fc.oneof(modelText, call), { minLength: 1, maxLength: 5 }),
  outcomes: fc.array(outcome, { minLength: 5, maxLength: 5 }),
  size,
  reasoning: fc.boolean(),
  reverse: fc.boolean(),
  early: fc.boolean(),
});

const runEnd: fc.Arbitrary<RunEnd> = fc
  .constantFrom<FinishReason>("cancelled", "error", "max_tokens", "budget")
  .chain((reason) =>
    fc.constantFrom<RunEnd>(
      { type: "run_end", reason: "end_turn" },
      { type: "run_end", reason: "clarification" },
      { type: "run_end", reason },
      {
        type: "run_end",
        reason,
        error: {
          code: "OVERLOADED",
          message: "The provider is away.",
          source: "provider",
          details: "529",
          retryable: true,
        },
      },
    ),
  );

const anyCallId = fc.constantFrom("call_1", "call_2");
const foreign = fc.dictionary(
  fc.constantFrom("target_file", "content", "edits", "plan", "title", "questions", "todos", "command", "__proto__"),
  fc.jsonValue({ depthSize: "small" }),
  { noNullPrototype: true },
);

/** Run events in any order, with arguments of any shape: no log of Sheaf's, but nothing may break. */
export const eventSoup: fc.Arbitrary<RunEvent[]> = fc
  .array(
    fc.oneof(
      fc
        .record({
          type: fc.constant("tool_call_start" as const),
          callId: anyCallId,
          toolName: fc.constantFrom(
            "write_file",
            "edit_file",
            "rename_file",
            "create_plan",
            "ask_question",
            "todo_write",
            "read_file",
            "run_terminal_cmd",
          ),
        })
        .map((start) => ({ ...start, documentType: toDocumentType(start.toolName) })),
      fc.record({
        type: fc.constant("tool_call_arguments_delta" as const),
        callId: anyCallId,
        delta: fc.string({
          unit: fc.constantFrom("{", "}", "[", "]", '"', ":", ",", "\\", '"target_file"', '"edits"', "x"),
        }),
      }),
      fc.record({
        type: fc.constant("tool_call_arguments_delta" as const),
        callId: anyCallId,
        delta: foreign.map((value) => JSON.stringify(value)),
      }),
      fc.record({ type: fc.constant("tool_call_arguments" as const), callId: anyCallId, arguments: foreign }),
      fc.record({
        type: fc.constant("tool_output_delta" as const),
        callId: anyCallId,
        stream: fc.constant("stdout" as const),
        delta: fc.string(),
      }),
      fc
        .record({
          callId: anyCallId,
          status: fc.constantFrom("success" as const, "error" as const, "cancelled" as const),
        })
        .map((result) => toResult(result.callId, { status: result.status })),
      modelText.map((text): RunEventBody => ({ type: "text_delta", text })),
      fc.constant<RunEventBody>({ type: "turn_start", turn: 1 }),
      fc.record({ type: fc.constant("reference_check" as const), index: fc.nat({ max: 2 }), verified: fc.boolean() }),
      anyCallId.map((id): RunEventBody => toApproval(id)[0] ?? { type: "turn_start", turn: 1 }),
    ),
    { maxLength: 25 },
  )
  .map((bodies) =>
    toRunLog([{ type: "text_delta", text: "Start." }, ...bodies, { type: "run_end", reason: "end_turn" }]),
  );

/** Whole logs: text and calls in turns, parallel calls, refused, failed, cancelled and unfinished ones. */
export const runLog: fc.Arbitrary<RunEvent[]> = fc
  .tuple(fc.array(turn, { minLength: 1, maxLength: 3 }), runEnd)
  .map(([turns, end]) =>
    toRunLog([
      ...toTurn(1, [{ type: "text_delta", text: "Start." }]),
      ...turns.flatMap((each, index) => toEvents(each, index + 2)),
      end,
    ]),
  );

function toEvents(each: Turn, number: number): RunEventBody[] {
  const written: RunEventBody[] = each.reasoning
    ? [
        { type: "provider_wait", code: "OVERLOADED", until: "2026-02-23T11:00:00Z", tries: 1 },
        { type: "reasoning_delta", text: "hm" },
        { type: "provider_data", origin: "o", data: { type: "thinking", signature: "sealed" } },
      ]
    : [];
  const later: RunEventBody[][] = [];
  for (const [index, item] of each.items.entries()) {
    if (typeof item === "string") {
      written.push({ type: "reference_check", index, verified: each.reverse });
      written.push(...toPieces(item, each.size).map((text): RunEventBody => ({ type: "text_delta", text })));
      continue;
    }
    const status = each.outcomes[index] ?? "success";
    const callId = `call_${number}_${index}`;
    written.push(...toWritten(callId, item, status, index === 4 ? 0 : each.size));
    if (each.early) written.push(...toOutcome(callId, item, status));
    else later.push(toOutcome(callId, item, status));
  }
  const added: RunEventBody[] = each.reverse ? [{ type: "user_message", messageId: "chat_b", message: "Stop." }] : [];
  return [...toTurn(number, written), ...(each.reverse ? later.toReversed() : later).flat(), ...added];
}

function toWritten(callId: string, { toolName, values }: Call, status: Outcome, pieces: number): RunEventBody[] {
  const events = toCall(callId, toolName, values, { size: pieces });
  if (status === "cancelled") return events.slice(0, -2);
  if (status !== "unparsed") return events;
  return [
    ...events.slice(0, -1),
    { type: "tool_call_arguments", callId, arguments: {}, rawArguments: '{"target_file' },
  ];
}

function toOutcome(callId: string, { effect }: Call, status: Outcome): RunEventBody[] {
  if (status === "none") return [];
  if (status === "success" || status === "approved") {
    return [
      ...(status === "approved" ? [toHookResult(callId), ...toApproval(callId)] : []),
      { type: "tool_output_delta", callId, stream: "stdout", delta: "out" },
      toResult(callId, { output: "output", ...(effect === undefined ? {} : { effect }) }),
    ];
  }
  const error = { code: "SOME_CODE", message: "It did not work.", details: "" };
  return [toResult(callId, { status: status === "unparsed" ? "error" : status, error })];
}

function toHookResult(callId: string): RunEventBody {
  const did = { status: "success", exitCode: 0, context: "Look at the rules.", durationMs: 3 } as const;
  return { type: "hook_result", event: "PreToolUse", origin: "user", command: "check", callId, ...did };
}

function toApproval(callId: string): RunEventBody[] {
  const approvalId = `appr_${callId}`;
  return [
    {
      type: "approval_request",
      callId,
      approvalId,
      title: "May it run?",
      description: "",
      subject: { type: "tool_call" },
      options: [{ id: "yes", label: "Yes", kind: "allow_once" }],
      argumentsHash: "",
      rules: [],
      expiresAt: "2026-02-23T11:00:00Z",
    },
    { type: "approval_resolved", approvalId, optionId: "yes", by: "user" },
  ];
}
