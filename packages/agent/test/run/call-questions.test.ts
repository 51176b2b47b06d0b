/** What a call asks while it runs: the question of a tool server (X59). */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApprovalRequest, RunEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ApprovalDecision, ApprovalQuestion, Approver } from "../../src/tools/approval.ts";
import type { Hooks } from "../../src/tools/hooks/hooks.ts";
import type { AskPerson } from "../../src/tools/tool.ts";
import { call, createFakeModel, createFakeTools, end, ok, runModel, text } from "./fake-ports.ts";

const question: ApprovalQuestion = {
  title: "The MCP server notes asks",
  description: "Your name?",
  subject: { type: "server_question", server: "notes", fields: [], arguments: {} },
  options: [
    { id: "answer", label: "Answer", kind: "allow_once" },
    { id: "decline", label: "Decline", kind: "reject_once" },
  ],
  argumentsHash: "",
  rules: [],
};

const model = () => createFakeModel([[[...call("call_1", "run"), end("tool_calls")]], [[text("Done.")], [end()]]]);
const createApprover = (answer: (signal: AbortSignal) => Promise<ApprovalDecision>): Approver => ({
  expiresAfterMs: 60_000,
  ask: (_request: ApprovalRequest, signal) => answer(signal),
});
/** A call that asks, and says what came back. */
const createTools = (use: (ask: AskPerson) => Promise<unknown>) =>
  createFakeTools({
    run: async (_signal, _emit, _approval, askPerson) =>
      ok(JSON.stringify(askPerson ? await use(askPerson) : "nobody")),
  });
const never = new AbortController().signal;
const fits = async (): Promise<undefined> => undefined;
const told = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.type === "approval_request"
      ? [event.subject.type]
      : event.type === "approval_resolved"
        ? [`${event.optionId} by ${event.by}`]
        : event.type === "tool_result"
          ? [event.output]
          : [],
  );
const answer: ApprovalDecision = { optionId: "answer", by: "ann", editedArguments: { name: "Ada" } };

describe("a question during a call", () => {
  test(verifies("X59", "is in the log before the person sees it"), async () => {
    const approver = createApprover(async () => answer);
    const tools = createTools(async (ask) => (await ask(question, fits, never)).editedArguments);
    const events = (await runModel(model(), { tools, approver })).flat();
    expect(told(events)).toEqual(["server_question", "answer by ann", '{"name":"Ada"}']);
  });

  test(verifies(["X59", "C82"], "calls the hooks of a notification before the person is asked"), async () => {
    const order: string[] = [];
    const hooks = {
      run: async (occasion: { event: string; kind?: string; message?: string }) => {
        if (occasion.event === "Notification") order.push(`${occasion.kind}: ${occasion.message}`);
        return [];
      },
    } as unknown as Hooks;
    const approver = createApprover(async () => {
      order.push("asked");
      return answer;
    });
    await runModel(model(), { tools: createTools((ask) => ask(question, fits, never)), approver, hooks });
    expect(order).toEqual(["elicitation_dialog: The MCP server notes asks", "asked"]);
  });

  test(verifies(["X59", "C101"], "cannot be asked where nobody is there"), async () => {
    expect(told((await runModel(model(), { tools: createTools(async () => "") })).flat())).toEqual(['"nobody"']);
  });

  test(verifies("X59", "ends with its request, with its call and with the run"), async () => {
    const unanswered = createApprover(() => new Promise(() => undefined));
    const withdrawn = createTools(async (ask) => {
      const server = new AbortController();
      const asking = ask(question, fits, server.signal);
      setTimeout(() => server.abort(), 2);
      return (await asking).by;
    });
    const events = (await runModel(model(), { tools: withdrawn, approver: unanswered })).flat();
    expect(told(events)).toEqual(["server_question", "decline by cancelled", '"cancelled"']);

    const left = createTools(async (ask) => {
      void ask(question, fits, never);
      await sleep(2);
      return "left";
    });
    const ended = await runModel(model(), { tools: left, approver: unanswered });
    expect(told(ended.flat())).toEqual(["server_question", "decline by cancelled", '"left"']);

    const waiting = createTools((ask) => ask(question, fits, never));
    const aborted = await runModel(model(), {
      tools: waiting,
      approver: unanswered,
      onEvent: (event, abort) => {
        if (event.type === "approval_request") abort();
      },
    });
    expect(told(aborted.flat()).slice(0, 2)).toEqual(["server_question", "decline by cancelled"]);
    expect(aborted.flat().at(-1)).toMatchObject({ error: { code: "CANCELLED" } });
  });
});
