import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { call, createFakeModel, createFakeTools, end, last, ok, runModel, text, types } from "./fake-ports.ts";

describe("tool calls", () => {
  test(verifies("N64", "calls that only read, one after the other, run at once"), async () => {
    let running = 0;
    let most = 0;
    const read = async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(5);
      running -= 1;
      return ok();
    };
    const write = async () => ok(String(running));
    const calls = ["write", "read", "read", "read", "write"].flatMap((name, index) => call(`call_${index}`, name));
    const groups = await runModel(createFakeModel([[[...calls, end()]], [[text("x")], [end()]]]), {
      tools: createFakeTools({ read, write }),
    });
    expect(most).toBe(3);
    const results = groups.flat().filter((event) => event.type === "tool_result");
    expect(results.map(({ callId, output }) => callId + output)).toMatchObject({ 0: "call_00", 4: "call_40" });
  });

  test(verifies("N64", "a call that writes runs alone, in order"), async () => {
    const order: string[] = [];
    const tool = (name: string) => async () => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
      return ok();
    };
    const calls = [...call("call_1", "read"), ...call("call_2", "write"), ...call("call_3", "read"), end()];
    await runModel(createFakeModel([[calls], [[text("x")], [end()]]]), {
      tools: createFakeTools({ read: tool("read"), write: tool("write") }),
    });
    expect(order).toEqual(["read begins", "read ends", "write begins", "write ends", "read begins", "read ends"]);
  });

  test("output comes while the tool runs", async () => {
    const model = createFakeModel([[[...call("call_1", "run"), end()]], [[text("x")], [end()]]]);
    const groups = await runModel(model, {
      tools: createFakeTools({
        run: async (_signal, emit) => {
          emit("stdout", "a");
          await sleep(5);
          emit("stderr", "b");
          return ok("ab");
        },
      }),
    });
    const output = groups.filter((group) => group.some((event) => event.type === "tool_output_delta"));
    expect(output.length).toBeGreaterThan(1);
    expect(types(groups).filter((type) => type.startsWith("tool_"))).toEqual([
      "tool_call_start",
      "tool_call_arguments",
      "tool_output_delta",
      "tool_output_delta",
      "tool_result",
    ]);
  });

  test("a tool that throws is a result that the model sees", async () => {
    const model = createFakeModel([[[...call("call_1", "read"), end()]], [[text("x")], [end()]]]);
    const groups = await runModel(model, {
      tools: createFakeTools({
        read: async () => {
          throw new Error("a defect");
        },
      }),
    });
    expect(groups.flat().find((event) => event.type === "tool_result")).toMatchObject({
      status: "error",
      error: { code: "TOOL_FAILED", message: "read failed unexpectedly: a defect" },
    });
    expect(last(groups)).toMatchObject({ reason: "end_turn" });
  });

  test(verifies("N42", "a question ends the response"), async () => {
    const model = createFakeModel([[[...call("call_1", "ask"), end()]]]);
    const effect = { kind: "question", title: "t", questions: [] } as const;
    const groups = await runModel(model, {
      tools: createFakeTools({ ask: async () => ({ status: "success", output: "", effect }) }),
    });
    expect(last(groups)).toMatchObject({ type: "run_end", reason: "clarification" });
    expect(model.requests).toHaveLength(1);
  });

  test(verifies("C20", "--on-denied stop ends the run at the first refusal"), async () => {
    const model = createFakeModel([[[...call("call_1", "run"), end()]], [[text("x")], [end()]]]);
    const error = { code: "PERMISSION_DENIED", message: "needs --force", details: "" };
    const tools = createFakeTools({ run: async () => ({ status: "rejected", output: "", error }) });
    const stopped = await runModel(model, { tools, settings: { stopsOnDenied: true } });
    expect(last(stopped)).toMatchObject({ error: { code: "PERMISSION_REQUIRED", message: "needs --force" } });
    const model2 = createFakeModel([[[...call("call_1", "run"), end()]], [[text("x")], [end()]]]);
    expect(last(await runModel(model2, { tools }))).toMatchObject({ reason: "end_turn" });
  });
});
