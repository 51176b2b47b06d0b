/** A response that needs a person: questions of the agent, and approvals. */
import type { StreamEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { readEvents } from "../../../test/support/server.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp } from "../../../test/support/open-app.ts";

describe("a question of the agent", () => {
  /** A conversation whose first response asked; the next ones say something. */
  const begin = async (questions: readonly object[]) => {
    const asking = { events: [{ call: { tool: "ask_question", arguments: { title: "A question", questions } } }] };
    const turns = [asking, { events: [{ text: "Then so." }] }, { events: [{ text: "Once more." }] }];
    const server = await openApp({ script: { turns } });
    const asked = await server.ask({ message: "go" });
    expect(asked).toMatchObject({ status: "completed", metadata: { finishReason: "clarification" } });
    const documentId = asked.documents.find(({ type }) => type === "clarification")!.id;
    return { server, conversationId: asked.conversationId, documentId };
  };
  const which = { id: "q1", prompt: "Which?", options: ["a", "b"].map((id) => ({ id, label: id })) };

  test(verifies("N42", "ends the response, and the next request answers it"), async () => {
    const { server, conversationId, documentId } = await begin([which]);
    const right = { documentId, questionId: "q1", optionIds: ["b"], text: "" };
    for (const [wrong, message] of [
      [{ documentId: "doc_999" }, /documentId/],
      [{ questionId: "q9" }, /questionId/],
      [{ optionIds: ["z"] }, /optionIds/],
      [{ optionIds: ["a", "b"] }, /optionIds/],
    ] as const) {
      const refused = await server.chat({ message: "", conversationId, answers: [{ ...right, ...wrong }] });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { message: expect.stringMatching(message) as string } });
    }
    const answered = await server.ask({ message: "", conversationId, answers: [right] });
    expect(answered).toMatchObject({ status: "completed", documents: [{ content: "Then so." }] });
    const { turns } = await server.readConversation(conversationId);
    expect(turns[1]).toMatchObject({ message: "", answers: [right] });
  });

  test(verifies("N73", "that a request leaves out is stored as skipped, in its place"), async () => {
    const questions = ["q1", "q2", "q3"].map((id) => ({ id, prompt: `${id}?`, options: [] }));
    const { server, conversationId, documentId } = await begin(questions);
    const given = { documentId, questionId: "q2", optionIds: [], text: "tabs" };
    const answered = await server.ask({ message: "", conversationId, answers: [given] });
    expect(answered).toMatchObject({ status: "completed", documents: [{ content: "Then so." }] });
    const { turns } = await server.readConversation(conversationId);
    const toSkipped = (questionId: string) => ({ documentId, questionId, optionIds: [], text: "" });
    expect(turns[1]!.answers).toEqual([toSkipped("q1"), given, toSkipped("q3")]);
  });

  test.each([true, false])(
    verifies("N42", "takes one of two answers at the same moment, and refuses the other; stream: %s"),
    async (stream) => {
      const { server, conversationId, documentId } = await begin([which]);
      const answers = [{ documentId, questionId: "q1", optionIds: ["b"], text: "" }];
      const body = { message: "", conversationId, answers, whenBusy: "queue", stream };
      const both = await Promise.all([server.chat(body), server.chat(body)]);
      const told = await Promise.all(both.map((answer) => answer.text()));
      const [refused = "", ...others] = told.filter((text) => !text.includes("Then so."));
      expect(others, told.join("\n")).toEqual([]);
      expect(refused).toContain(`the last response has no clarification`);
      expect(refused).toContain("USAGE");
      expect((await server.readConversation(conversationId)).turns).toHaveLength(2);
    },
  );
});

describe("an approval", () => {
  const script = {
    turns: [
      { events: [{ call: { tool: "run_terminal_cmd", arguments: { command: "node -e 0" } } }] },
      { events: [{ text: "Done." }] },
    ],
    after: "loop",
  };
  const isRequest = ({ event }: StreamEvent): boolean => event === "approval_request";

  test(verifies(["X8", "X34", "X45"], "is asked with its reason, and takes one answer"), async () => {
    const server = await openApp({ script, args: ["--sandbox", "disabled"] });
    const { documents } = await server.ask({ message: "go" });
    const advice =
      'the user sends "approvals": "ask" to /v1/chat, or starts sheaf serve with --allow "Shell(node -e)" or --force';
    expect(documents[1]!.content).toBe(`this command needs a permission: ${advice}`);
    const first = await server.chat({ message: "go", stream: true, approvals: "ask" });
    const events = `${first.headers.get("location")}/events`;
    const request = (await readEvents(await server.fetch(events), isRequest)).at(-1)!;
    if (request.event !== "approval_request") throw new Error("nothing was asked");
    const { approvalId, options } = request.data;
    // Who is asked may sit before a page, which has no flags.
    expect(request.data.description).toBe("this command needs a permission");
    expect(request.data.reason).toEqual({ code: "no_rule" });
    // No rule is narrow enough for this command: "always" means exactly this.
    expect(options.map(({ rules }) => rules)).toEqual([undefined, [], undefined, []]);
    const path = `${first.headers.get("location")}/approvals/${approvalId}`;
    const allow = options.find(({ kind }) => kind === "allow_once")!.id;
    expect((await server.send("POST", path, { optionId: allow })).status).toBe(202);
    const resolved = (await readEvents(first)).find(({ event }) => event === "approval_resolved");
    expect(resolved?.data).toEqual({ approvalId, optionId: allow, by: "user" });
    const late = await server.send("POST", path, { optionId: allow });
    expect(late.status).toBe(409);
    expect(await late.json()).toMatchObject({ error: { errorCode: "APPROVAL_RESOLVED" } });
  });
});
