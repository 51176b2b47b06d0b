/** A response that needs a person: questions of the agent, and approvals. */
import { reduce, type ChatResponse, type Conversation, type StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { readEvents } from "../../../../test/support/server.ts";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { openApp, type TestApp } from "./open-app.ts";

const folders = createTestFolder();
const start = (options: Partial<Parameters<typeof openApp>[0]> = {}): Promise<TestApp> => {
  const cwd = options.cwd ?? folders.newFolder({ "README.md": "# A project\n" });
  return openApp({ home: `${cwd}-home`, cwd, ...options });
};

const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
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

  test(
    verifies(
      ["X8", "X34", "X45"],
      "is asked of every reader with its reason, is in the snapshot, and takes one answer",
    ),
    async () => {
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
      const snapshot = await toJson<ChatResponse>(server.fetch(first.headers.get("location")!));
      expect(snapshot.approvals).toMatchObject([{ approvalId }]);
      const path = `${first.headers.get("location")}/approvals/${approvalId}`;
      const allow = options.find(({ kind }) => kind === "allow_once")!.id;
      expect((await server.fetch(path, post({ optionId: "nonsense" }))).status).toBe(400);
      expect((await server.fetch(path.replace(approvalId, "appr_x"), post({ optionId: allow }))).status).toBe(404);
      expect((await server.fetch(path, post({ optionId: allow }))).status).toBe(202);
      const all = await readEvents(first);
      expect(verify(all)).toBeUndefined();
      expect(all.find(({ event }) => event === "approval_resolved")?.data).toEqual({
        approvalId,
        optionId: allow,
        by: "user",
      });
      expect(reduce(all)).toMatchObject({ status: "completed", documents: [{ metadata: { exitCode: 0 } }, {}] });
      const late = await server.fetch(path, post({ optionId: allow }));
      expect(late.status).toBe(409);
      expect(await late.json()).toMatchObject({ error: { errorCode: "APPROVAL_RESOLVED" } });
    },
  );

  test(verifies("X8", "may change what runs: the document and the model show what did"), async () => {
    const server = await start({ script, args: ["--sandbox", "disabled"] });
    const first = await server.chat({ message: "go", stream: true, approvals: "ask" });
    const location = first.headers.get("location")!;
    const request = (await readEvents(await server.fetch(`${location}/events`), isRequest)).at(-1)!;
    if (request.event !== "approval_request") throw new Error("nothing was asked");
    const path = `${location}/approvals/${request.data.approvalId}`;
    const body = { optionId: "allow_once", editedArguments: { command: "node -p 6*7" } };
    // With these the call could not run: the question stays open.
    for (const editedArguments of [{ command: 7 }, { file: "x" }, {}]) {
      const wrong = await server.fetch(path, post({ ...body, editedArguments }));
      expect(wrong.status).toBe(400);
      const { error } = await toJson<{ error: { errorCode: string; message: string } }>(wrong);
      expect(error).toMatchObject({ errorCode: "USAGE", message: expect.stringMatching(/editedArguments.*command/) });
    }
    expect((await server.fetch(path, post(body))).status).toBe(202);
    expect(reduce(await readEvents(first))).toMatchObject({
      documents: [{ metadata: { command: "node -p 6*7", exitCode: 0, output: "42\n" } }, {}],
    });
  });

  test(verifies("X8", "is not asked of a client that does not say that it can"), async () => {
    const server = await start({ script, args: ["--sandbox", "disabled"] });
    const response = await toJson<ChatResponse>(server.chat({ message: "go" }));
    expect(response.documents.map(({ type }) => type)).toEqual(["terminal_command", "error", "text"]);
  });
});
