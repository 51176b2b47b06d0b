import type { ModelEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import type { ModelMessage } from "@sheaf/models/provider";
import { verifies } from "../../../../test/support/verifies.ts";
import { call, createFakeModel, createFakeTools, end, last, ok, runModel, start, text, usage } from "./fake-ports.ts";

describe("budgets", () => {
  const loop = () => Array.from({ length: 9 }, (_, index) => [[text("t"), ...call(`call_${index}`, "read"), end()]]);
  const tools = createFakeTools({ read: async () => ok() });
  const isToldLast = (message: ModelMessage | undefined): boolean =>
    message?.role === "user" && message.isNote === true && message.text.includes("last turn");

  test(verifies("C24", "turns: before the last one a note asks the model to wrap up, and none follows"), async () => {
    const model = createFakeModel(loop());
    const groups = await runModel(model, { tools, settings: { limits: { maxTurns: 3 }, system: "S" } });
    expect(model.requests).toHaveLength(3);
    expect(model.requests.map(({ messages }) => isToldLast(messages.at(-1)))).toEqual([false, false, true]);
    expect(last(groups)).toMatchObject({ reason: "budget", error: { code: "BUDGET_TURNS" } });
    expect(groups.flat().findLast((event) => event.type === "tool_result")).toMatchObject({ status: "cancelled" });
  });

  test.each([
    ["tool calls", { maxToolCalls: 2 }, "BUDGET_TOOLS", 2, 3],
    ["tokens", { maxTokens: 2 * usage.totalTokens }, "BUDGET_TOKENS", 1, 2],
    [
      "tokens, of which the next turn takes more than are left",
      { maxTokens: 2.5 * usage.totalTokens },
      "BUDGET_TOKENS",
      2,
      3,
    ],
  ])(
    verifies("C24", "%s: a note asks the model to wrap up before the last turn, too, and the run ends there"),
    async (_, limits, code, calls, turns) => {
      const model = createFakeModel(loop());
      const groups = await runModel(model, { tools, settings: { limits, system: "S" } });
      const told = model.requests.map(({ messages }) => isToldLast(messages.at(-1)));
      expect(told).toEqual([...Array<boolean>(turns - 1).fill(false), true]);
      expect(last(groups)).toMatchObject({ error: { code } });
      const ended = groups.flat().filter((event) => event.type === "tool_result" && event.status === "success");
      expect(ended).toHaveLength(calls);
    },
  );

  test(verifies("C24", "tokens and dollars hold by an estimate where the provider tells no usage"), async () => {
    const untold = { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true } as const;
    const turns = Array.from({ length: 9 }, (_, index) => [
      [text("t".repeat(3500)), ...call(`call_${index}`, "read"), { ...end(), usage: untold } as ModelEvent],
    ]);
    const tokens = await runModel(createFakeModel(turns), { tools, settings: { limits: { maxTokens: 2000 } } });
    expect(last(tokens)).toMatchObject({ error: { code: "BUDGET_TOKENS" } });
    expect(tokens.flat().filter((event) => event.type === "turn_end")).toHaveLength(2);
    const price = { input: 0, output: 1000 };
    const settings = { limits: { maxCostUsd: 1.5 }, start: { ...start, price } };
    const cost = await runModel(createFakeModel(turns), { tools, settings });
    expect(last(cost)).toMatchObject({ error: { code: "BUDGET_COST" } });
    expect(cost.flat().filter((event) => event.type === "turn_end")).toHaveLength(2);
  });
});
