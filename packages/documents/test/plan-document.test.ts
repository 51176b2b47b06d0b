import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble } from "../src/assembler.ts";
import { toCall, toDocuments, toResult, toRunLog, toTurn } from "./run-log.ts";

const plan = '# Auth\n\nStep "one" 🙂\n';
const todos = [
  { id: "a", content: "A", status: "completed", dependencies: [] },
  { id: "b", content: "B", dependencies: ["a", 7] },
];
const values = { title: "Auth", overview: "JWT", plan, todos };
const origin = { toolName: "create_plan", toolCallId: "call_1" };

test(verifies(["R10", "N40", "N28"], "the plan of the tool is the document"), () => {
  const effect = {
    kind: "plan" as const,
    title: "Auth",
    overview: "JWT",
    plan: "# Auth, as stored",
    todos: [{ id: "a", content: "A", status: "pending" as const, dependencies: [] }],
    planId: "plan_1",
    revision: 2,
  };
  const documents = toDocuments([
    ...toCall("call_1", "create_plan", values, { size: 3 }),
    toResult("call_1", { effect }),
  ]);
  expect(documents).toEqual([
    {
      id: "doc_001",
      type: "plan",
      sequence: 1,
      content: "# Auth, as stored",
      metadata: {
        title: "Auth",
        overview: "JWT",
        todos: effect.todos,
        format: "markdown",
        planId: "plan_1",
        revision: 2,
        ...origin,
      },
    },
  ]);
});

test(verifies(["N46", "N44"], "the plan shows while the model writes it, with what is known by then"), () => {
  const events = assemble(toRunLog(toTurn(1, toCall("call_1", "create_plan", values, { size: 3 }).slice(0, -1))));
  expect(events[1]?.data).toEqual({
    id: "doc_001",
    type: "plan",
    sequence: 1,
    metadata: { title: "Auth", overview: "JWT", format: "markdown", ...origin },
  });
  const deltas = events.flatMap(({ event, data }) => (event === "content_delta" ? [data.delta] : []));
  expect(deltas.length).toBeGreaterThan(5);
  expect(deltas.join("")).toBe(plan);
  const late = assemble(toRunLog(toTurn(1, toCall("call_1", "create_plan", { plan, title: "Auth" }, { size: 3 }))));
  expect(late[1]?.data).toMatchObject({ metadata: { format: "markdown" } });
});

test("a plan that comes in one piece is shown at once", () => {
  const events = assemble(toRunLog(toTurn(1, toCall("call_1", "create_plan", values))));
  expect(events.slice(1).map(({ event }) => event)).toEqual(["document_start", "content_delta"]);
});

test(
  verifies(["N39", "N40", "N11"], "a plan that was refused keeps what the model wrote, and an error document follows"),
  () => {
    const error = { code: "INVALID_PLAN", message: "The todos hold a cycle", details: "" };
    const [document, failure] = toDocuments([
      ...toCall("call_1", "create_plan", values),
      toResult("call_1", { status: "error", error }),
    ]);
    expect(document).toMatchObject({
      content: plan,
      metadata: {
        title: "Auth",
        todos: [
          { id: "a", content: "A", status: "completed", dependencies: [] },
          { id: "b", content: "B", status: "pending", dependencies: ["a"] },
        ],
      },
    });
    expect(failure).toMatchObject({ type: "error", metadata: { source: "create_plan", relatedDocumentId: "doc_001" } });
  },
);

test(verifies("N12", "fields that the model did not write are empty"), () => {
  const [document] = toDocuments([...toCall("call_1", "create_plan", { todos: "none" }), toResult("call_1")]);
  expect(document).toMatchObject({ content: "", metadata: { title: "", overview: "", todos: [], format: "markdown" } });
});
