import type { Notice, RunEvent, RunEventBody } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { toResponse } from "../src/assembler.ts";
import { createRunSummary } from "../src/run-summary.ts";
import { endTurn, startTime, toCall, toResult, toRunLog, toTurn } from "./run-log.ts";

test(verifies("N6", "usage is the sum over all requests; the total is prompt and completion"), () => {
  const { usage } = toResponse(
    toRunLog([
      ...toTurn(1, [], { promptTokens: 100, completionTokens: 10, totalTokens: 999, cachedPromptTokens: 80 }),
      ...toTurn(2, [], { promptTokens: 200, completionTokens: 20, reasoningTokens: 5, cacheWriteTokens: 7 }),
      endTurn,
    ]),
  );
  expect(usage).toEqual({
    promptTokens: 300,
    completionTokens: 30,
    totalTokens: 330,
    reasoningTokens: 5,
    cachedPromptTokens: 80,
    cacheWriteTokens: 7,
  });
});

test(verifies("N6", "usage is marked as estimated if any part of it is, or if a request never told it"), () => {
  const estimated = toResponse(toRunLog([...toTurn(1, [], { estimated: true }), ...toTurn(2, []), endTurn]));
  expect(estimated.usage.estimated).toBe(true);
  const cut = toResponse(toRunLog([{ type: "turn_start", turn: 1 }, endTurn]));
  expect(cut.usage).toEqual({ promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true });
  expect(toResponse(toRunLog([...toTurn(1, []), endTurn])).usage).not.toHaveProperty("estimated");
});

test(
  verifies("N6", "the size of the conversation is that of the newest request that told it, or what a summary left"),
  () => {
    const usage = { promptTokens: 200, completionTokens: 20 };
    const turns = [...toTurn(1, [], { promptTokens: 100, completionTokens: 10 }), ...toTurn(2, [], usage)];
    const untold = toTurn(3, [], { promptTokens: 0, completionTokens: 0 });
    const read = (...events: readonly RunEventBody[]) =>
      toResponse(toRunLog([...events, endTurn])).metadata.contextTokensUsed;
    expect(read(...turns, ...untold)).toBe(220);
    const summary = { summary: "Short.", keptMessages: 0, tokens: 30, usage: { ...usage, totalTokens: 220 } };
    expect(read(...turns, { type: "compaction", ...summary } as RunEventBody)).toBe(30);
    expect(read(...untold)).toBeUndefined();
  },
);

test(
  verifies("N63", "notices of turns and of the end are in the metadata, each once; without any the field is absent"),
  () => {
    const effort: Notice = { code: "EFFORT_CHANGED", message: "no such effort" };
    const toNoticed = (turn: number, notice: Notice): RunEventBody[] =>
      toTurn(turn, []).map((event) => (event.type === "turn_end" ? { ...event, notice } : event));
    const log = toRunLog([...toNoticed(1, effort), ...toNoticed(2, effort), endTurn]);
    expect(toResponse(log).metadata.notices).toEqual([effort]);
    const end = { ...endTurn, notices: [effort, { code: "TREE_BRANCH" as const, message: "a branch" }] };
    expect(toResponse(toRunLog([...toNoticed(1, effort), end])).metadata.notices).toEqual(end.notices);
    expect(toResponse(toRunLog([...toTurn(1, []), endTurn])).metadata).not.toHaveProperty("notices");
  },
);

test(verifies("N63", "a notice of a subagent is a notice of the run"), () => {
  const notice: Notice = { code: "COMMAND_ENDED", message: "Sheaf ended bg_1" };
  const event = { ...toResult("call_1"), notice };
  const log = toRunLog([...toTurn(1, []), { type: "agent_event", callId: "call_0", event } as RunEventBody, endTurn]);
  expect(toResponse(log).metadata.notices).toEqual([notice]);
});

const price = { input: 1, output: 10 };
const readMetadata = (...events: readonly RunEventBody[]) => {
  const [start, ...rest] = toRunLog(events);
  return toResponse([{ ...start!, price } as RunEvent, ...rest]).metadata;
};

test(verifies("C166", "a refused call is told once, with its tool and its rule; a subagent's too"), () => {
  const denied = { code: "PERMISSION_DENIED", message: "a rule denies it", details: "Shell(rm *)" };
  const call = toCall("call_1", "run_terminal_cmd", { command: "rm x" });
  const refused: RunEventBody = { ...toResult("call_1", { status: "rejected", error: denied }) };
  const inner = [...call, refused].map((event) => ({ type: "agent_event", callId: "call_0", event }) as RunEventBody);
  const refusal = { tool: "run_terminal_cmd", reason: "a rule denies it", rule: "Shell(rm *)" };
  expect(readMetadata(...call, refused, ...inner, endTurn).refusals).toEqual([refusal]);
  for (const code of ["COMMAND_NOT_STARTED", "PATH_OUTSIDE_WORKSPACE"]) {
    const failed = toResult("call_1", { status: "error", error: { code, message: "m", details: "" } });
    expect(readMetadata(...call, failed, endTurn).refusals, code).toEqual([{ tool: "run_terminal_cmd", reason: "m" }]);
  }
  expect(readMetadata(...call, toResult("call_1"), endTurn)).not.toHaveProperty("refusals");
  const search = toResult("call_1", { denied: 2 });
  expect(readMetadata(...toCall("call_1", "grep_search", { pattern: "x" }), search, endTurn).refusals).toEqual([
    { tool: "grep_search", reason: "rules deny reading 2 places, which the result leaves out" },
  ]);
});

test(verifies("C166", "a failed run tells what it cost; without a price or counts it is absent"), () => {
  const counted = toTurn(1, [], { promptTokens: 1_000_000, completionTokens: 100_000 });
  const error = { code: "BUDGET_COST", message: "m", source: "agent", details: "", retryable: false };
  const failed: RunEventBody = { type: "run_end", reason: "budget", error };
  expect(readMetadata(...counted, failed)).toMatchObject({ costUsd: 2, turnCount: 1, sandbox: "enabled" });
  expect(toResponse(toRunLog([...counted, failed])).metadata).not.toHaveProperty("costUsd");
  const uncounted = toTurn(1, [], { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true });
  const unknown = readMetadata(...uncounted, endTurn);
  expect(unknown).not.toHaveProperty("costUsd");
  expect(unknown.notices).toMatchObject([
    { code: "USAGE_UNKNOWN", message: expect.stringContaining("1 of 1 answers") },
  ]);
});

test(verifies("N5", "a turn that is tried again counts once"), () => {
  const again: RunEventBody[] = [{ type: "turn_start", turn: 1 }, ...toTurn(1, []), ...toTurn(2, [])];
  const response = toResponse(toRunLog([...again, endTurn]));
  expect(response.metadata.turnCount).toBe(2);
  expect(response.usage.estimated).toBe(true);
});

test(verifies("N4", "toolCallCount counts tool_call documents, actionCount every tool call"), () => {
  const response = toResponse(
    toRunLog([
      ...toTurn(1, [...toCall("call_1", "read_file", {}), ...toCall("call_2", "run_terminal_cmd", { command: "ls" })]),
      toResult("call_1"),
      toResult("call_2"),
      endTurn,
    ]),
  );
  expect(response.metadata).toMatchObject({ toolCallCount: 1, actionCount: 2 });
  expect(response.documents.filter(({ type }) => type === "tool_call")).toHaveLength(1);
});

test(
  verifies(
    ["N7", "R2", "N8"],
    "times: from the start to the end, waiting for approvals told apart and overlaps counted once",
  ),
  () => {
    const summary = createRunSummary();
    const at = (time: number, body: RunEventBody): void => summary.push({ seq: 1, time, ...body });
    const ask = (time: number, approvalId: string): void =>
      at(time, {
        type: "approval_request",
        callId: "c",
        approvalId,
        title: "",
        description: "",
        subject: { type: "command" },
        options: [],
        argumentsHash: "",
        rules: [],
        expiresAt: "",
      });
    const resolve = (time: number, approvalId: string): void =>
      at(time, { type: "approval_resolved", approvalId, optionId: "yes", by: "user" });
    const [start] = toRunLog([]);
    if (start !== undefined) summary.push(start);
    ask(startTime + 100, "a");
    ask(startTime + 150, "b");
    resolve(startTime + 200, "a");
    resolve(startTime + 300, "b");
    resolve(startTime + 350, "b");
    ask(startTime + 500, "c");
    expect(summary.toMetadata(startTime + 600, "end_turn")).toEqual({
      duration_ms: 600,
      sandbox: "enabled",
      toolCallCount: 0,
      turnCount: 0,
      actionCount: 0,
      waiting_ms: 300,
      finishReason: "end_turn",
    });
  },
);

test(verifies("R-19", "a clock that goes backwards gives no negative time"), () => {
  const response = toResponse(toRunLog([{ ...endTurn, time: startTime - 86_400_000 }]));
  expect(response.metadata.duration_ms).toBe(0);
});

test(verifies("N7", "created is UTC with Z"), () => {
  const [start] = toRunLog([]);
  const created = toResponse([{ ...start, time: startTime + 123 } as never]).created;
  expect(created).toBe("2026-02-23T10:30:00.123Z");
});
