import type { HookResult, RunEventBody } from "@sheaf/protocol";
import { reduce } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble, toResponse } from "../src/assembler.ts";
import { endTurn, toCall, toResult, toRunLog, toTurn } from "./run-log.ts";

function toHook(did: Partial<HookResult>): RunEventBody {
  const head = { type: "hook_result", event: "PreToolUse", origin: "user", command: "secret-check.sh" } as const;
  return { ...head, status: "success", exitCode: 0, durationMs: 1, ...did };
}

const refused = { status: "rejected", error: { code: "PERMISSION_DENIED", message: "no", details: "" } } as const;

test(verifies(["N106", "S-190"], "what hooks did is in the stream and in the response, in its place"), () => {
  const log = toRunLog([
    toHook({
      event: "UserPromptSubmit",
      context: "Branch: main",
      notice: { code: "HOOK_MESSAGE", message: "for the user" },
    }),
    ...toTurn(1, [
      { type: "text_delta", text: "Looking." },
      ...toCall("call_1", "run_terminal_cmd", { command: "rm -r build" }),
      ...toCall("call_2", "read_file", { target_file: "a" }),
    ]),
    toHook({ callId: "call_1", exitCode: 2, decision: "block", reason: "not here" }),
    toHook({ callId: "call_2", arguments: { target_file: "b" } }),
    toResult("call_1", refused),
    toHook({ callId: "call_2", event: "PostToolUse" }),
    toHook({
      callId: "call_2",
      event: "PostToolUse",
      status: "failed",
      exitCode: 124,
      notice: { code: "HOOK_FAILED", message: "it took too long" },
    }),
    toResult("call_2", { output: "text" }),
    ...toTurn(2, [{ type: "text_delta", text: "Done." }]),
    toHook({ event: "Stop", decision: "block", reason: "run the tests" }),
    endTurn,
  ]);
  const stream = assemble(log);
  const { hooks } = toResponse(log);
  const head = { origin: "user", status: "success", exitCode: 0 };
  const refusal = { event: "PreToolUse", exitCode: 2, decision: "block", reason: "not here", documentId: "doc_002" };
  const change = { event: "PreToolUse", arguments: { target_file: "b" }, documentId: "doc_003" };
  const late = { event: "PostToolUse", status: "failed", exitCode: 124, documentId: "doc_003" };
  expect(hooks).toEqual([
    { ...head, event: "UserPromptSubmit", informed: true, after: 0 },
    { ...head, ...refusal, after: 3 },
    { ...head, ...change, after: 3 },
    { ...head, ...late, after: 4 },
    { ...head, event: "Stop", decision: "block", reason: "run the tests", after: 5 },
  ]);
  expect(stream.filter(({ event }) => event === "hook_result").map(({ data }) => data)).toEqual(hooks);
  expect(verify(stream, { requireExtensions: true })).toBeUndefined();
  // What a hook tells the user is in the notices (N63), if the log has it at all (S-143).
  expect(JSON.stringify(stream.slice(0, -1))).not.toMatch(/secret-check|Branch: main|for the user|took too long/);
});

test(verifies("N106", "a call that only a hook has seen has its document; without hooks the field is absent"), () => {
  const log = toRunLog([
    ...toTurn(1, toCall("call_1", "create_plan", { title: "x" })),
    toHook({ callId: "call_1", arguments: { title: "y" } }),
  ]);
  const { hooks, documents } = toResponse(log);
  expect(hooks).toMatchObject([{ arguments: { title: "y" }, documentId: "doc_001" }]);
  expect(documents).toMatchObject([{ id: "doc_001", type: "plan", status: "in_progress" }]);
  expect(toResponse(toRunLog([...toTurn(1, []), endTurn]))).not.toHaveProperty("hooks");
  expect(reduce([{ id: 1, event: "hook_result", data: { event: 3 } as never }])).not.toHaveProperty("hooks");
});

test(verifies("N107", "the document of a subagent's call says what the subagent used"), () => {
  const inside = (event: object) => ({ type: "agent_event", callId: "call_1", event }) as RunEventBody;
  const log = toRunLog([
    ...toTurn(1, toCall("call_1", "run_agent", { kind: "search", task: "find" })),
    ...toTurn(1, toCall("call_2", "read_file", { target_file: "a" }), { promptTokens: 70, completionTokens: 7 }).map(
      inside,
    ),
    inside(toResult("call_2", { output: "text" })),
    ...toTurn(2, [], { promptTokens: 30, completionTokens: 3 }).map(inside),
    inside({ type: "run_end", reason: "end_turn" }),
    toResult("call_1", { output: "Found." }),
    endTurn,
  ]);
  const [call] = toResponse(log).documents;
  expect(call?.metadata).toMatchObject({
    subagent: { turnCount: 2, actionCount: 1, usage: { promptTokens: 100, completionTokens: 10, totalTokens: 110 } },
  });
});
