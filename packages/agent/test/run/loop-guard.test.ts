/** A model that repeats itself (C41). */
import { describe, expect, test } from "vitest";
import type { ModelEvent } from "@sheaf/protocol";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Model } from "@sheaf/models/provider";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { endedEffect } from "../tools/ended-command.ts";
import { call, createFakeModel, createFakeTools, end, ok, runModel, text } from "./fake-ports.ts";

describe("a loop", () => {
  const repeat = (turns: number, toArguments: (turn: number) => object = () => ({ path: "a" })) =>
    Array.from({ length: turns }, (_, turn) => [
      [...call(`call_${turn}`, "read", { ...toArguments(turn) }), end("tool_calls")],
    ]);

  async function run(
    turns: readonly (readonly (readonly ModelEvent[])[])[],
    tools = createFakeTools({ read: async () => ok("same") }),
  ) {
    let turn = 0;
    const notes: string[] = [];
    const model: Model = {
      ...createFakeModel([]),
      async *stream({ messages }) {
        const last = messages.at(-1);
        if (last?.role === "user" && turn > 0) notes.push(last.text);
        yield* turns[turn++] ?? [[text("Done."), end()]];
      },
    };
    const events = (await runModel(model, { tools })).flat();
    return { events, notes, end: events.at(-1)! };
  }

  test(verifies(["C20", "C41"], "of the same calls and results warns the model, then ends the run"), async () => {
    const { notes, end: last, events } = await run(repeat(50));
    expect(notes).toHaveLength(3);
    expect(notes[0]).toMatch(/The last 2 turns made calls \(read\) that were made before/);
    expect(last).toMatchObject({
      reason: "error",
      error: { code: "LOOP_DETECTED", message: expect.stringContaining("8 turns") as string },
    });
    expect(events.filter(({ type }) => type === "turn_start")).toHaveLength(9);
  });

  test("also when several calls take turns", async () => {
    const { end: last } = await run(repeat(60, (turn) => ({ path: turn % 4 })));
    expect(last).toMatchObject({ error: { code: "LOOP_DETECTED" } });
  });

  test("is none when anything new comes in between: other arguments, or another result", async () => {
    const polls = await run(repeat(40, (turn) => ({ path: turn % 2 === 1 ? `new ${turn}` : "a" })));
    expect([polls.notes, polls.end]).toMatchObject([[], { reason: "end_turn" }]);
    let count = 0;
    const counting = createFakeTools({ read: async () => ok(`run ${Math.floor((count += 1) / 2)}`) });
    const results = await run(repeat(40), counting);
    expect([results.notes, results.end]).toMatchObject([[], { reason: "end_turn" }]);
  });

  test.each<[string, (count: number) => Partial<ToolOutcome>]>([
    ["output changes, and changes back", (count) => ({ output: count % 2 === 0 ? "starting" : "retrying" })],
    [
      "output changes in its middle alone",
      (count) => ({ output: "a [...] b", truncated: true, bytes: 90_000 + count }),
    ],
    ["exit code changes alone", (count) => ({ output: "x", note: `Exit code ${count % 7}.` })],
  ])(verifies("C41", "is none while a command's %s"), async (_, toResult) => {
    let count = 0;
    const tools = createFakeTools({
      read: async () => ({ ...ok(), ...toResult((count += 1)), effect: endedEffect }),
    });
    const { notes, end: last } = await run(repeat(40), tools);
    expect([notes, last]).toMatchObject([[], { reason: "end_turn" }]);
  });

  test(verifies("C41", "is none while the model waits for a command that still runs"), async () => {
    const effect = { kind: "terminal", terminalId: "bg_1", command: "c", isRunning: true, exitCode: null } as const;
    const tools = createFakeTools({ read: async () => ({ ...ok(), effect }) });
    const waiting = await run(
      repeat(40, () => ({ wait_ms: 30_000 })),
      tools,
    );
    expect([waiting.notes, waiting.end]).toMatchObject([[], { reason: "end_turn" }]);
    const polling = await run(repeat(40), tools);
    expect(polling.end).toMatchObject({ error: { code: "LOOP_DETECTED" } });
  });
});
