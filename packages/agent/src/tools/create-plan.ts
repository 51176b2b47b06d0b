/** create_plan: presents a plan with its tasks (N40). */
import type { PlanTodo } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { toFailure } from "./failure.ts";
import type { Tool } from "./tool.ts";
import { toArgumentText } from "./tool-traits.ts";

const parameters = s.object({
  title: s.string({ minLength: 1, description: "A few words" }),
  overview: s.string({ description: "One or two sentences" }),
  plan: s.string({ minLength: 1, description: "The plan as Markdown" }),
  todos: s.list(
    s.object({
      id: s.string({ minLength: 1, description: "Unique id, for instance add-tests" }),
      content: s.string({ minLength: 1, description: "What to do" }),
      dependencies: s.optional(
        s.list(s.string({ description: "Id" }), {
          minItems: 0,
          maxItems: 200,
          description: "Ids of todos of this plan to complete first",
        }),
      ),
    }),
    { minItems: 0, maxItems: 200, description: "The tasks, in order" },
  ),
});

/** Presents a plan. A newer one replaces the older one; its tasks become the task list. */
export const createPlanTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "create_plan",
  description:
    "Present a plan, with tasks and their dependencies, to the user. It changes nothing; in plan mode it ends the answer.",
  access: "state",
  modes: ["plan"],
  needs: "plan",
  isWithheld: true,
  words: ["Updated plan", "Plan aktualisiert", "Plan güncellendi", "計画を更新しました", "已更新計畫"],
  kind: "think",
  toCursor: ({ plan }, toolCallId) => ({ createPlanToolCall: { plan: toArgumentText(plan), toolCallId } }),
  parameters,
  async run({ title, overview, plan, todos }, { state }) {
    const entries = todos.map(({ id, content, dependencies = [] }): PlanTodo => ({
      id,
      content,
      status: "pending",
      dependencies,
    }));
    const problem = explainInvalidTodos(entries);
    if (problem) return toFailure("INVALID_PLAN", problem);
    state.planRevision += 1;
    state.todos = entries;
    const revision = state.planRevision;
    return {
      status: "success",
      output: `Plan "${title}" (revision ${revision}) with ${entries.length} tasks was presented.`,
      effect: { kind: "plan", title, overview, plan, todos: entries, planId: `plan_${revision}`, revision },
    };
  },
};

/** Checks N40: unique ids, dependencies within the plan, no cycle. */
function explainInvalidTodos(todos: readonly PlanTodo[]): string | undefined {
  const byId = new Map(todos.map((todo) => [todo.id, todo]));
  if (byId.size < todos.length) {
    const twice = todos.find((todo) => byId.get(todo.id) !== todo)!;
    return `todo "${twice.id}" is listed twice: give each todo its own id`;
  }
  for (const { id, dependencies } of todos) {
    const unknown = dependencies.find((dependency) => !byId.has(dependency));
    if (unknown !== undefined) return `todo "${id}" depends on "${unknown}", which is not a todo of this plan`;
  }
  // Repeatedly complete the tasks whose dependencies are done; the remaining ones are on a cycle or after one.
  const done = new Set<string>();
  for (let before = -1; before < done.size;) {
    before = done.size;
    for (const { id, dependencies } of todos) {
      if (dependencies.every((dependency) => done.has(dependency))) done.add(id);
    }
  }
  const cyclic = todos.filter(({ id }) => !done.has(id)).map(({ id }) => id);
  return cyclic.length === 0 ? undefined : `the dependencies of ${cyclic.join(", ")} form a cycle: break it`;
}
