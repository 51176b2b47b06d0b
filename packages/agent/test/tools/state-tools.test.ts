import type { Mode } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { askQuestionTool } from "../../src/tools/ask-question.ts";
import { createToolState } from "../../src/tools/tool-state.ts";
import { createPlanTool } from "../../src/tools/create-plan.ts";
import { todoWriteTool } from "../../src/tools/todo-write.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { verifies } from "../../../../test/support/verifies.ts";

/** These tools touch nothing but the state. */
function createContext(): ToolContext {
  const context: Pick<ToolContext, "state" | "mode" | "callId" | "signal"> = {
    state: createToolState(),
    mode: "agent" satisfies Mode,
    callId: "call_1",
    signal: new AbortController().signal,
  };
  return context as ToolContext;
}

describe("todo_write", () => {
  test(verifies("N41", "an update is a delta by id; a new id has its content"), async () => {
    const context = createContext();
    const first = await todoWriteTool.run(
      {
        todos: [
          { id: "a", content: "A", status: "in_progress" },
          { id: "b", content: "B", status: "pending", dependencies: ["a"] },
        ],
        merge: false,
      },
      context,
    );
    expect(first.effect).toEqual({
      kind: "todo",
      changes: [
        { id: "a", status: "in_progress", content: "A", dependencies: [], position: 0 },
        { id: "b", status: "pending", content: "B", dependencies: ["a"], position: 1 },
      ],
      todos: context.state.todos,
    });
    const second = await todoWriteTool.run({ todos: [{ id: "a", status: "completed" }], merge: true }, context);
    expect(second.effect).toMatchObject({ changes: [{ id: "a", status: "completed" }] });
    expect(context.state.todos).toEqual([
      { id: "a", content: "A", status: "completed", dependencies: [] },
      { id: "b", content: "B", status: "pending", dependencies: ["a"] },
    ]);
  });

  test(verifies("N41", "without merge, what is left out is cancelled"), async () => {
    const context = createContext();
    await todoWriteTool.run({ todos: [{ id: "a", content: "A", status: "pending" }], merge: false }, context);
    const outcome = await todoWriteTool.run(
      { todos: [{ id: "b", content: "B", status: "pending" }], merge: false },
      context,
    );
    expect(outcome.effect).toMatchObject({
      changes: [
        { id: "a", status: "cancelled" },
        { id: "b", status: "pending", content: "B" },
      ],
    });
  });

  test("a new id without content, and an id listed twice, are refused and change nothing", async () => {
    const context = createContext();
    const noContent = await todoWriteTool.run({ todos: [{ id: "x", status: "pending" }], merge: true }, context);
    expect(noContent).toMatchObject({ status: "error", error: { code: "INVALID_ARGUMENTS" } });
    expect(noContent.error!.message).toContain('"x"');
    const todo = { id: "a", content: "A", status: "pending" } as const;
    expect((await todoWriteTool.run({ todos: [todo, todo], merge: true }, context)).status).toBe("error");
    expect(context.state.todos).toEqual([]);
  });
});

describe("create_plan", () => {
  const plan = (...todos: readonly { id: string; content: string; dependencies?: string[] }[]) => ({
    title: "T",
    overview: "O",
    plan: "# P",
    todos: [...todos],
  });

  test(verifies("N40", "gives each plan an id and a revision; its tasks become the list"), async () => {
    const context = createContext();
    const first = await createPlanTool.run(plan({ id: "a", content: "A" }), context);
    expect(first.effect).toMatchObject({ kind: "plan", planId: "plan_1", revision: 1 });
    const second = await createPlanTool.run(plan({ id: "b", content: "B" }), context);
    expect(second.effect).toMatchObject({ planId: "plan_2", revision: 2 });
    expect(context.state.todos.map(({ id, status }) => [id, status])).toEqual([["b", "pending"]]);
  });

  test.each([
    ["an id listed twice", [{ id: "a" }, { id: "a" }], '"a" is listed twice'],
    ["an unknown dependency", [{ id: "a", dependencies: ["z"] }], '"z", which is not a todo'],
    ["a cycle of one", [{ id: "a", dependencies: ["a"] }], "a form a cycle"],
    [
      "a cycle of three",
      [
        { id: "a", dependencies: ["b"] },
        { id: "b", dependencies: ["c"] },
        { id: "c", dependencies: ["a"] },
        { id: "d" },
      ],
      "a, b, c form a cycle",
    ],
  ])(verifies("N40", "%s fails the call"), async (_name, todos, message) => {
    const context = createContext();
    const entries = todos.map((todo) => ({ content: "c", ...todo }));
    const outcome = await createPlanTool.run(plan(...entries), context);
    expect(outcome).toMatchObject({ status: "error", error: { code: "INVALID_PLAN" } });
    expect(outcome.error!.message).toContain(message);
    expect(context.state).toMatchObject({ planRevision: 0, todos: [] });
  });
});

describe("ask_question", () => {
  test(verifies(["N42", "C25"], "carries the questions; nobody answers them"), async () => {
    const options = [{ id: "a", label: "A" }];
    const outcome = await askQuestionTool.run(
      { title: "t", questions: [{ id: "q", prompt: "Which?", options, allow_multiple: true }] },
      createContext(),
    );
    expect(outcome.effect).toEqual({
      kind: "question",
      title: "t",
      questions: [{ id: "q", text: "Which?", options, allowText: true, allowMultiple: true }],
    });
  });

  test("ids must be unique", async () => {
    const question = { id: "q", prompt: "p", options: [] };
    const twice = await askQuestionTool.run({ title: "t", questions: [question, question] }, createContext());
    expect(twice).toMatchObject({ status: "error", error: { code: "INVALID_ARGUMENTS" } });
    const option = { id: "o", label: "l" };
    const questions = [{ id: "q", prompt: "p", options: [option, option] }];
    expect((await askQuestionTool.run({ title: "t", questions }, createContext())).status).toBe("error");
  });
});
