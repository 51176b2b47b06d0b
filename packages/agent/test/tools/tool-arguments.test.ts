import { describe, expect, test } from "vitest";
import { parseToolArguments } from "../../src/tools/registry.ts";
import { todoWriteTool } from "../../src/tools/todo-write.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const parse = (args: Record<string, unknown>, rawArguments?: string) =>
  parseToolArguments(todoWriteTool, {
    callId: "call_1",
    toolName: "todo_write",
    arguments: args,
    ...(rawArguments !== undefined && { rawArguments }),
  });

describe("arguments", () => {
  test("are taken by the schema; unknown fields are dropped", () => {
    const todos = [{ id: "a", status: "pending", extra: 1 }];
    expect(parse({ todos, merge: true, other: 2 })).toEqual({
      ok: true,
      value: { todos: [{ id: "a", status: "pending" }], merge: true },
    });
  });

  test("of the wrong type name the field and what was expected", () => {
    const result = parse({ todos: [{ id: "a", status: "later" }], merge: "yes" });
    expect(result.ok).toBe(false);
    const { error } = (result as Extract<typeof result, { ok: false }>).outcome;
    expect(error!.code).toBe("INVALID_ARGUMENTS");
    expect(error!.message).toContain("todos[0].status: ");
    expect(error!.message).toContain("merge: ");
    expect(error!.message).toContain("one of pending, ");
    expect(error!.message).not.toContain("\n");
  });

  test(verifies("N30", "that are no JSON object are an error that shows the place"), () => {
    const result = parse({}, "{ not json }");
    expect(result).toMatchObject({ ok: false, outcome: { status: "error", error: { code: "INVALID_ARGUMENTS" } } });
    expect((result as Extract<typeof result, { ok: false }>).outcome.error!.message).toContain(
      'at character 7, before "json }"',
    );
  });

  test(verifies("S-71", "with prototype keys are harmless"), () => {
    const hostile = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{}},"todos":[],"merge":true}',
    ) as Record<string, unknown>;
    expect(parse(hostile).ok).toBe(false);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
