import type { NoticeCode, RunEventBody, RunStart } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createLosses } from "../../src/run/losses.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { endedEffect } from "../tools/ended-command.ts";
import { call, createFakeModel, createFakeTools, end, last, ok, runModel, text } from "./fake-ports.ts";

const reason = "commands are refused because no sandbox works here (x): install it";
const error = { code: "PERMISSION_DENIED", message: reason, details: "" };
const refused: ToolOutcome = { status: "rejected", output: "", error, lacks: "sandbox" };
const reading: ToolOutcome = { status: "rejected", output: "", error };

/** The end of a run with these calls, one after the other. */
async function runCalls(...outcomes: readonly ToolOutcome[]) {
  const turns = outcomes.map((_, index) => [[...call(`call_${index}`, "run_x", { index }), end("tool_calls")]]);
  const played = outcomes.values();
  const tools = createFakeTools({ run_x: async () => played.next().value! });
  return last(await runModel(createFakeModel([...turns, [[text("done"), end()]]]), { tools }));
}

test(verifies("S-31", "a run whose commands were all refused for want of a sandbox fails, and says why"), async () => {
  const unstarted: ToolOutcome = {
    status: "error",
    output: "",
    error: { code: "COMMAND_NOT_STARTED", message: "m", details: "" },
    effect: endedEffect,
  };
  for (const outcomes of [[refused], [refused, refused], [reading, refused], [refused, ok()], [refused, unstarted]]) {
    expect(await runCalls(...outcomes)).toMatchObject({
      type: "run_end",
      reason: "error",
      error: { code: "SANDBOX_UNAVAILABLE", message: reason, source: "sandbox", retryable: false },
    });
  }
});

test(verifies("S-31", "commands that only read do not count, and one that ran is enough"), async () => {
  const ran: ToolOutcome = { ...ok(), effect: endedEffect };
  for (const outcomes of [[reading], [reading, ok()], [refused, ran], [ran, refused]]) {
    expect(await runCalls(...outcomes)).toMatchObject({ type: "run_end", reason: "end_turn" });
  }
});

test(verifies("S-31", "commands of subagents count; another end and the value of an answer stay"), () => {
  const result = { type: "tool_result", callId: "call_1", durationMs: 1, ...refused } as const;
  const commands = createLosses({});
  commands.push({ type: "agent_event", callId: "call_0", event: result } satisfies RunEventBody);
  expect(commands.toEnd({ type: "run_end", reason: "end_turn", output: { a: 1 } })).toMatchObject({
    error: { code: "SANDBOX_UNAVAILABLE" },
    output: { a: 1 },
  });
  const asked = { type: "run_end", reason: "clarification" } as const;
  expect(commands.toEnd(asked)).toBe(asked);
});

test(verifies("C180", "with --strict each loss ends a run at once, and nothing else does"), () => {
  const start = { type: "run_start" } as RunStart;
  const notice = (code: NoticeCode) => ({ ...start, notices: [{ code, message: "m" }] });
  const server = { name: "a", status: "failed", tools: [], problem: "p" } as const;
  const result = { type: "tool_result", callId: "call_1", durationMs: 1 } as const;
  const find = (event: RunEventBody, strict: Pick<RunStart, "strict"> = { strict: true }): string | undefined => {
    const losses = createLosses(strict);
    losses.push(event);
    return losses.failure?.error?.code;
  };
  expect(find(notice("SANDBOX_UNAVAILABLE"))).toBe("SANDBOX_UNAVAILABLE");
  for (const code of ["HOOK_NOT_RUN", "HOOK_FAILED", "SETUP_FAILED"] as const) {
    expect(find(notice(code))).toBe("SETUP_INCOMPLETE");
  }
  expect(find({ ...start, mcpServers: [server] })).toBe("SETUP_INCOMPLETE");
  expect(find({ ...result, ...refused })).toBe("SANDBOX_UNAVAILABLE");
  const asking = { ...result, ...reading, lacks: "permission" } as const;
  expect(find(asking)).toBe("PERMISSION_REQUIRED");
  expect(find({ type: "agent_event", callId: "call_0", event: asking })).toBe("PERMISSION_REQUIRED");
  for (const event of [{ ...result, ...reading }, notice("NOT_CONTAINED"), notice("TREE_KEPT")]) {
    expect(find(event)).toBeUndefined();
  }
  expect(find(notice("HOOK_NOT_RUN"), {})).toBeUndefined();
});
