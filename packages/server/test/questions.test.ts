/** A response that needs a person: questions of the agent, and approvals. */
import type { ChatResponse, Conversation, StreamEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { readEvents } from "../../../test/support/server.ts";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "./open-app.ts";

const folders = createTestFolder();
const start = (options: Partial<Parameters<typeof openApp>[0]> = {}): Promise<TestApp> => {
  const cwd = options.cwd ?? folders.newFolder({ "README.md": "# A project\n" });
  return openApp({ home: `${cwd}-home`, cwd, ...options });
};

const toJson = async <Body>(answer: Response | Promise<Response>): Promise<Body> =>
  (await (await answer).json()) as Body;
const readConversation = (server: TestApp, id: string): Promise<Conversation> =>
  toJson(server.fetch(`/v1/conversations/${id}`));

describe("a question of the agent", () => {
  const questions = [
    {
      id: "q1",
      prompt: "Which?",
      options: [
        { id: "a", label: "A" },
        { id: "b", label: "B" },
      ],
    },
  ];
  const script = {
    turns: [
      { events: [{ call: { tool: "ask_question", arguments: { title: "A question", questions } } }] },
      { events: [{ text: "Then so." }] },
    ],
  };

  test(verifies("N42", "ends the response, and the next request answers it"), async () => {
    const server = await start({ script });
    const asked = await toJson<ChatResponse>(server.chat({ message: "go" }));
    expect(asked).toMatchObject({ status: "completed", metadata: { finishReason: "clarification" } });
    const { conversationId, documents } = asked;
    const documentId = documents.find(({ type }) => type === "clarification")!.id;
    const wrong: readonly (readonly [Record<string, unknown>, RegExp])[] = [
      [{ documentId: "doc_999", questionId: "q1", optionIds: ["a"], text: "" }, /documentId/],
      [{ documentId, questionId: "q9", optionIds: ["a"], text: "" }, /questionId/],
      [{ documentId, questionId: "q1", optionIds: ["z"], text: "" }, /optionIds/],
      [{ documentId, questionId: "q1", optionIds: ["a", "b"], text: "" }, /optionIds/],
    ];
    for (const [answer, message] of wrong) {
      const refused = await server.chat({ message: "", conversationId, answers: [answer] });
      expect(refused.status).toBe(400);
      expect((await toJson<{ error: { message: string } }>(refused)).error.message).toMatch(message);
    }
    const answers = [{ documentId, questionId: "q1", optionIds: ["b"], text: "" }];
    const answered = await toJson<ChatResponse>(server.chat({ message: "", conversationId, answers }));
    expect(answered).toMatchObject({ status: "completed", documents: [{ content: "Then so." }] });
    expect((await readConversation(server, conversationId)).turns[1]).toMatchObject({ message: "", answers });
  });
});

test(verifies("N73", "questions that a request leaves out are stored as skipped, in their order"), async () => {
  const questions = ["q1", "q2", "q3"].map((id) => ({ id, prompt: `${id}?`, options: [] }));
  const asking = { events: [{ call: { tool: "ask_question", arguments: { title: "Three", questions } } }] };
  const server = await start({ script: { turns: [asking, { events: [{ text: "Then so." }] }] } });
  const { conversationId, documents } = await toJson<ChatResponse>(server.chat({ message: "go" }));
  const documentId = documents.find(({ type }) => type === "clarification")!.id;
  const given = { documentId, questionId: "q2", optionIds: [], text: "tabs" };
  const answered = await toJson<ChatResponse>(server.chat({ message: "", conversationId, answers: [given] }));
  expect(answered).toMatchObject({ status: "completed", documents: [{ content: "Then so." }] });
  const { turns } = await readConversation(server, conversationId);
  const toSkipped = (questionId: string) => ({ documentId, questionId, optionIds: [], text: "" });
  expect(turns[1]!.answers).toEqual([toSkipped("q1"), given, toSkipped("q3")]);
});

describe("two answers to one question at the same moment", () => {
  const questions = [{ id: "q1", prompt: "Which?", options: ["a", "b"].map((id) => ({ id, label: id })) }];
  const asking = { events: [{ call: { tool: "ask_question", arguments: { title: "A question", questions } } }] };
  const script = { turns: [asking, { events: [{ text: "Then so." }] }, { events: [{ text: "Once more." }] }] };

  test.each([true, false])(verifies("N42", "one counts, the other one is refused; stream: %s"), async (stream) => {
    const server = await start({ script });
    const { conversationId, documents } = await toJson<ChatResponse>(server.chat({ message: "go" }));
    const documentId = documents.find(({ type }) => type === "clarification")!.id;
    const answers = [{ documentId, questionId: "q1", optionIds: ["b"], text: "" }];
    const body = { message: "", conversationId, answers, whenBusy: "queue", stream };
    const both = await Promise.all([server.chat(body), server.chat(body)]);
    const told = await Promise.all(both.map((answer) => answer.text()));
    expect(
      told.filter((text) => text.includes("Then so.")),
      told.join("\n"),
    ).toHaveLength(1);
    const refused = told.find((text) => !text.includes("Then so."))!;
    expect(refused).toContain(`the last response has no clarification`);
    expect(refused).toContain("USAGE");
    expect((await readConversation(server, conversationId)).turns).toHaveLength(2);
  });
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
    const server = await start({ script, args: ["--sandbox", "disabled"] });
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
