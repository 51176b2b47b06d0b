import type { RunEvent, TerminalEffect } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { endedEffect } from "../tools/ended-command.ts";
import { call, createFakeModel, createFakeTools, end, last, ok, runModel, text } from "./fake-ports.ts";

const toTerminal = (ended?: TerminalEffect["ended"]): ToolOutcome => ({
  ...ok("output"),
  effect: {
    kind: "terminal",
    terminalId: "bg_1",
    command: "make\nall",
    isRunning: false,
    exitCode: 0,
    ...(ended && { ended }),
  },
});

/** A run whose model starts a command in the background, then answers; each further answer starts none. */
async function runBackground(ended: TerminalEffect["ended"] | undefined, settings: object) {
  const started: ToolOutcome = { ...ok(), effect: { ...endedEffect, background: true, terminalId: "bg_1" } };
  const tools = createFakeTools({ run_x: async () => started, read_terminal: async () => toTerminal(ended) });
  const model = createFakeModel([
    [[...call("call_1", "run_x"), end("tool_calls")]],
    [[text("It builds."), end()]],
    [[text("It is built."), end()]],
  ]);
  const events: RunEvent[] = (await runModel(model, { tools, settings })).flat();
  const asked = events.filter((event) => event.type === "tool_call_arguments").map((event) => event.arguments);
  const notices = events.flatMap((event) => (event.type === "tool_result" && event.notice ? [event.notice] : []));
  return { model, asked: asked.slice(1), notices, end: last([events]) };
}

const waiting = { backgroundWaitMs: 5000 };

test(verifies("C169", "the model reads what its commands printed, in another turn"), async () => {
  const { model, asked, notices } = await runBackground(undefined, waiting);
  expect(asked).toEqual([{ terminal_id: "bg_1", wait_ms: 5000, end: true }]);
  expect(notices).toEqual([]);
  expect(model.requests).toHaveLength(3);
  expect(model.requests[2]!.messages.slice(-3)).toMatchObject([
    { role: "assistant", content: [{ type: "text", text: "It builds." }, { toolName: "read_terminal" }] },
    { role: "tool", output: "output" },
    {
      role: "user",
      isNote: true,
      text: expect.stringMatching(/^The commands that you left in the background/) as string,
    },
  ]);
});

test.each([
  ["listens", "waits for connections", 2],
  ["silent", "was idle for 30 s", 2],
  ["time", "still worked when --background-wait was over", 3],
] as const)(verifies("C169", "a command that Sheaf ends is named: %s"), async (ended, words, requests) => {
  const { model, notices } = await runBackground(ended, waiting);
  expect(notices).toEqual([{ code: "COMMAND_ENDED", message: `Sheaf ended bg_1 (make all), which ${words}` }]);
  expect(model.requests).toHaveLength(requests);
});

test(verifies(["C169", "C24"], "without a time to wait, the run ends it; a wait is within the budget"), async () => {
  const ended = await runBackground("asked", {});
  expect([ended.asked, ended.model.requests.length]).toEqual([[{ terminal_id: "bg_1", end: true }], 2]);
  expect(ended.notices).toMatchObject([{ message: expect.stringContaining("still ran when the run ended") as string }]);
  const short = await runBackground(undefined, { ...waiting, limits: { maxTurns: 2 } });
  expect([short.end, short.model.requests.length]).toMatchObject([{ error: { code: "BUDGET_TURNS" } }, 2]);
  const server = await runBackground("listens", { ...waiting, limits: { maxTurns: 2 } });
  expect(server.end).toMatchObject({ reason: "end_turn" });
});
