/** Conversations of the Chat API: one writer, requests that come twice, questions, forks, owners, recovery. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type ChatResponse, type Conversation, type ConversationPage, type StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { readEvents, startServer, type ServerOptions, type TestServer } from "../support/server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const start = (options: Partial<ServerOptions> = {}): Promise<TestServer> => {
  const cwd = options.cwd ?? folders.newFolder({ "README.md": "# A project\n" });
  return startServer({ home: `${cwd}-home`, cwd, ...options });
};

const waitingScript = {
  turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }, { text: "Done." }] }],
  after: "loop",
};
const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
const toJson = async <Body>(answer: Response | Promise<Response>): Promise<Body> =>
  (await (await answer).json()) as Body;
const readConversation = (server: TestServer, id: string): Promise<Conversation> =>
  toJson(server.fetch(`/v1/conversations/${id}`));

describe("a request with an Idempotency-Key", () => {
  test(verifies("X9", "that comes again is the same response, as JSON and as a stream"), async () => {
    const server = await start();
    const headers = { "Idempotency-Key": "key 1" };
    const [first, second] = await Promise.all([
      toJson<ChatResponse>(server.chat({ message: "go" }, { headers })),
      toJson<ChatResponse>(server.chat({ message: "go" }, { headers })),
    ]);
    expect(second).toEqual(first);
    const other = await server.chat({ message: "go", stream: true }, { headers: { "Idempotency-Key": "key 2" } });
    const events = await readEvents(other);
    const again = await server.chat({ message: "go", stream: true }, { headers: { "Idempotency-Key": "key 2" } });
    expect(await readEvents(again)).toEqual(events);
    const changed = await server.chat({ message: "something else" }, { headers });
    expect(changed.status).toBe(409);
    expect(await changed.json()).toMatchObject({ error: { errorCode: "IDEMPOTENCY_CONFLICT" } });
    expect((await toJson<ConversationPage>(server.fetch("/v1/conversations"))).conversations).toHaveLength(2);
    await server.stop();
    const restarted = await start({ cwd: server.cwd, home: server.home });
    expect(await toJson(restarted.chat({ message: "go" }, { headers }))).toEqual(first);
  });

  test(verifies("X9", "that comes again while it runs joins its stream"), async () => {
    const server = await start({ script: waitingScript });
    const init = { headers: { "Idempotency-Key": "k" } };
    const first = await server.chat({ message: "go", stream: true }, init);
    const second = await server.chat({ message: "go", stream: true }, init);
    expect(second.headers.get("x-response-id")).toBe(first.headers.get("x-response-id"));
    await server.fetch(`${first.headers.get("location")}/cancel`, { method: "POST" });
    expect(await readEvents(second)).toEqual(await readEvents(first));
  });
});

describe("a message that waits for the answer before it", () => {
  const isBegun = ({ event }: StreamEvent): boolean => event === "content_delta";
  const startTwo = async (server: TestServer, fields: Record<string, unknown> = {}, init: RequestInit = {}) => {
    const running = await server.chat({ message: "one", stream: true });
    const conversationId = running.headers.get("x-conversation-id")!;
    const body = { message: "two", conversationId, whenBusy: "queue", stream: true, ...fields };
    const queued = await server.chat(body, init);
    return { running: running.headers.get("location")!, queued, body, conversationId };
  };
  const cancel = (server: TestServer, path: string): Promise<Response> =>
    server.fetch(`${path}/cancel`, { method: "POST" });

  test(
    verifies(["N49", "X2", "X5", "X9"], "has its head, its heartbeats and its address at once, and is one response"),
    async () => {
      const server = await start({ script: waitingScript, args: ["--heartbeat", "0.1"] });
      const init = { headers: { "Idempotency-Key": "k" } };
      const { running, queued, body } = await startTwo(server, {}, init);
      const path = queued.headers.get("location")!;
      const reader = queued.body!.getReader();
      let text = "";
      while (!text.includes(": hb")) text += new TextDecoder().decode((await reader.read()).value);
      expect(text).toMatch(/^retry: \d+\n\n(: hb\n\n)+$/);
      const snapshot = await toJson<ChatResponse>(server.fetch(path));
      expect(snapshot).toMatchObject({ status: "streaming", documents: [], metadata: { lastEventId: 0 } });
      const again = await server.chat(body, init);
      expect(again.headers.get("location")).toBe(path);
      const reads = [readEvents(again, isBegun), readEvents(await server.fetch(`${path}/events`), isBegun)];
      await reader.cancel();
      await cancel(server, running);
      for (const events of await Promise.all(reads)) expect(events[0]?.data).toMatchObject({ id: snapshot.id });
    },
  );

  test(verifies(["X7", "N52"], "can be cancelled, and is told as one that failed"), async () => {
    const server = await start({ script: waitingScript });
    const { running, queued, conversationId } = await startTwo(server);
    expect((await cancel(server, queued.headers.get("location")!)).status).toBe(202);
    const events = await readEvents(queued);
    expect(verify(events)).toBeUndefined();
    expect(reduce(events)).toMatchObject({
      status: "error",
      conversationId,
      documents: [{ type: "error", metadata: { errorCode: "CANCELLED" } }],
    });
    await cancel(server, running);
    expect((await server.fetch(queued.headers.get("location")!)).status).toBe(404);
  });

  test(verifies("X7", "goes on without its client, unless the request says otherwise"), async () => {
    const server = await start({ script: waitingScript });
    const leaving = new AbortController();
    const { running, conversationId } = await startTwo(server, {}, { signal: leaving.signal });
    const leaver = new AbortController();
    const init = { signal: leaver.signal };
    const body = { message: "three", conversationId, whenBusy: "queue", stream: true, onDisconnect: "cancel" };
    const dropped = await server.chat(body, init);
    const others = readEvents(await server.fetch(`${dropped.headers.get("location")}/events`));
    leaving.abort();
    leaver.abort();
    expect(reduce(await others).metadata.finishReason).toBe("cancelled");
    await cancel(server, running);
    const messages = async (): Promise<string[]> =>
      (await readConversation(server, conversationId)).turns.map(({ message }) => message);
    await expect.poll(messages).toEqual(["one", "two"]);
  });

  test("makes room for one that cancels; of two that cancel the later one runs", async () => {
    const server = await start({ script: waitingScript });
    const { running, conversationId } = await startTwo(server);
    const say = (message: string): Promise<Response> =>
      server.chat({ message, conversationId, whenBusy: "cancel", stream: true });
    const events = readEvents(await server.fetch(`${running}/events`));
    const [third, fourth] = [await say("three"), await say("four")];
    for (const cancelled of [await events, await readEvents(third)]) {
      expect(reduce(cancelled).metadata.finishReason).toBe("cancelled");
    }
    const messages = async (): Promise<string[]> =>
      (await readConversation(server, conversationId)).turns.map(({ message }) => message);
    expect(await messages()).toEqual(["one", "three", "four"]);
    await cancel(server, fourth.headers.get("location")!);
    await expect.poll(messages).toEqual(["one", "three", "four", "two"]);
  });

  test(verifies("S-55", "counts as one only while it waits or runs; one that is refused does not"), async () => {
    const server = await start({ script: waitingScript, args: ["--max-running", "2"] });
    const running = await server.chat({ message: "one", stream: true });
    const conversationId = running.headers.get("x-conversation-id")!;
    for (let index = 0; index < 3; index += 1) {
      expect((await server.chat({ message: "two", conversationId })).status).toBe(409);
    }
    const queue = { message: "two", conversationId, whenBusy: "queue", stream: true };
    expect((await server.chat(queue)).status).toBe(200);
    expect((await server.chat(queue)).status).toBe(429);
  });
});

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

  test(verifies("X8", "is asked of every reader, is in the snapshot, and takes one answer"), async () => {
    const server = await start({ script, args: ["--sandbox", "disabled"] });
    const first = await server.chat({ message: "go", stream: true, approvals: "ask" });
    const events = `${first.headers.get("location")}/events`;
    const request = (await readEvents(await server.fetch(events), isRequest)).at(-1)!;
    if (request.event !== "approval_request") throw new Error("nothing was asked");
    const { approvalId, options } = request.data;
    // Who is asked may sit before a page, which has no flags.
    expect(request.data.description).toBe("this command needs a permission");
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
  });

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

describe("conversations", () => {
  test("are listed in pages and searched", async () => {
    const server = await start();
    for (const message of ["Fix the parser", "Write docs", "Look at the PARSER again"]) await server.chat({ message });
    const titles = async (query: string): Promise<string[]> => {
      const found: string[] = [];
      for (let next: string | undefined = ""; next !== undefined;) {
        const before: string = next === "" ? "" : `&before=${next}`;
        const page: ConversationPage = await toJson(server.fetch(`/v1/conversations?limit=2${query}${before}`));
        found.push(...page.conversations.map(({ title }) => title));
        ({ next } = page);
      }
      return found;
    };
    expect(await titles("")).toEqual(["Look at the PARSER again", "Write docs", "Fix the parser"]);
    expect(await titles("&search=parser")).toEqual(["Look at the PARSER again", "Fix the parser"]);
    for (const query of ["limit=0", "limit=x", "before=x"]) {
      expect((await server.fetch(`/v1/conversations?${query}`)).status).toBe(400);
    }
  });

  test("are forked behind a response: both go on by themselves", async () => {
    const server = await start();
    const first = await toJson<ChatResponse>(server.chat({ message: "one" }));
    const { conversationId } = first;
    await server.chat({ message: "two", conversationId });
    const forked = await server.fetch(`/v1/conversations/${conversationId}/fork`, post({ responseId: first.id }));
    expect(forked.status).toBe(201);
    const { id } = await toJson<{ id: string }>(forked);
    expect(forked.headers.get("location")).toBe(`/v1/conversations/${id}`);
    await server.chat({ message: "three", conversationId: id });
    const fork = await readConversation(server, id);
    expect(fork.turns.map(({ message }) => message)).toEqual(["one", "three"]);
    const [copy] = fork.turns;
    expect(copy!.response).toEqual({ ...first, id: copy!.response.id, conversationId: id });
    expect(copy!.response.id).not.toBe(first.id);
    expect(await toJson(server.fetch(`/v1/responses/${copy!.response.id}`))).toEqual(copy!.response);
    expect((await readConversation(server, conversationId)).turns).toHaveLength(2);
    const unknown = await server.fetch(`/v1/conversations/${conversationId}/fork`, post({ responseId: "chat_x" }));
    expect(unknown.status).toBe(404);
  });

  test(verifies("N52", "are not forked at a response that goes on, and say so"), async () => {
    const server = await start({ script: waitingScript });
    const answer = await server.chat({ message: "one", stream: true });
    const path = `/v1/conversations/${answer.headers.get("x-conversation-id")}/fork`;
    const refused = await server.fetch(path, post({ responseId: answer.headers.get("x-response-id") }));
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      error: {
        errorCode: "CONVERSATION_BUSY",
        message: expect.stringContaining("fork the conversation when it has ended"),
      },
    });
  });

  test("take responses back, files too, and say when files have changed", async () => {
    const write = (content: string) => ({ call: { tool: "write_file", arguments: { target_file: "a.txt", content } } });
    const script = { turns: [{ events: [write("one\n")] }, { events: [{ text: "Done." }] }], after: "loop" };
    const cwd = folders.newFolder();
    const server = await start({ cwd, script });
    const response = await toJson<ChatResponse>(server.chat({ message: "go" }));
    const revert = `/v1/conversations/${response.conversationId}/revert`;
    writeFileSync(join(cwd, "a.txt"), "mine\n");
    const refused = await server.fetch(revert, post({ responseId: response.id }));
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      error: { errorCode: "FILES_CHANGED", details: expect.stringContaining("a.txt") },
    });
    writeFileSync(join(cwd, "a.txt"), "one\n");
    const done = await server.fetch(revert, post({ responseId: response.id }));
    expect(await done.json()).toMatchObject({
      responseIds: [response.id],
      files: [{ filePath: "a.txt", action: "removed" }],
    });
    expect((await readConversation(server, response.conversationId)).turns).toEqual([]);
    expect((await server.fetch(revert, post({ responseId: response.id }))).status).toBe(404);
  });

  test("are deleted, and are gone", async () => {
    const server = await start();
    const { id, conversationId } = await toJson<ChatResponse>(server.chat({ message: "one" }));
    const path = `/v1/conversations/${conversationId}`;
    expect((await server.fetch(path, { method: "DELETE" })).status).toBe(204);
    for (const gone of [path, `/v1/responses/${id}`, `/v1/responses/${id}/events`]) {
      expect((await server.fetch(gone)).status).toBe(404);
    }
    expect((await server.fetch(path, { method: "DELETE" })).status).toBe(404);
  });
});

describe("owners", () => {
  test(verifies("S-53", "see nothing of each other: foreign and missing get the same answer"), async () => {
    const cwd = folders.newFolder();
    const file = join(cwd, "tokens");
    const [ada, bob] = ["a".repeat(32), "b".repeat(32)];
    writeFileSync(file, `# clients\nada ${ada}\n\n${bob}\n`, { mode: 0o600 });
    const server = await start({ cwd, args: ["--token-file", file] });
    const as = (token: string, path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${server.address}${path}`, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${token}` },
      });
    const response = await toJson<ChatResponse>(as(ada, "/v1/chat", post({ message: "go" })));
    const { id, conversationId } = response;
    expect(await toJson(as(ada, `/v1/responses/${id}`))).toEqual(response);
    expect(await toJson(as(bob, "/v1/conversations"))).toEqual({ conversations: [] });
    const requests: readonly (readonly [string, RequestInit?])[] = [
      ["/v1/responses/ID"],
      ["/v1/responses/ID/events"],
      ["/v1/responses/ID/events?snapshot=1"],
      ["/v1/responses/ID/cancel", post({})],
      ["/v1/responses/ID/approvals/appr_1", post({ optionId: "allow" })],
      ["/v1/conversations/CONVERSATION"],
      ["/v1/conversations/CONVERSATION", { method: "DELETE" }],
      ["/v1/conversations/CONVERSATION/fork", post({ responseId: id })],
      ["/v1/conversations/CONVERSATION/revert", post({ responseId: id })],
    ];
    for (const [path, init] of requests) {
      const named = (response_: string, conversation: string): string =>
        path.replace("ID", response_).replace("CONVERSATION", conversation);
      const foreign = await as(bob, named(id, conversationId), init);
      const missing = await as(bob, named("chat_missing", "conv_missing"), init);
      expect([path, foreign.status]).toEqual([path, missing.status]);
      const text = await foreign.text();
      expect(text.replaceAll(id, "").replaceAll(conversationId, "")).toBe(
        (await missing.text()).replaceAll("chat_missing", "").replaceAll("conv_missing", ""),
      );
      expect(foreign.status).toBe(404);
    }
    const said = await as(bob, "/v1/chat", post({ message: "go", conversationId }));
    expect(said.status).toBe(404);
    expect(await toJson(as(ada, `/v1/conversations/${conversationId}`))).toMatchObject({ turns: [{ response }] });
    const listed = await runSheaf(["show", conversationId.slice(5)], { cwd, home: server.home });
    expect(listed.code).toBe(2);
  });

  test("the generated token is the local user's: page and command line share their conversations", async () => {
    const server = await start();
    const { conversationId } = await toJson<ChatResponse>(server.chat({ message: "one" }));
    const options = { cwd: server.cwd, home: server.home };
    const shown = await runSheaf(["show", conversationId.slice(5)], options);
    expect(parseStream(shown.stdout).at(-1)).toMatchObject({ result: "Hello world." });
    const args = ["-p", "--model", `scripted:${server.home}-script.json`, "--resume", conversationId.slice(5), "two"];
    expect((await runSheaf(args, options)).code).toBe(0);
    const conversation = await readConversation(server, conversationId);
    expect(conversation.turns.map(({ message }) => message)).toEqual(["one", "two"]);
  });
});

describe("several processes on one conversation", () => {
  test(verifies(["R-05", "C20"], "have one writer: the command line ends with code 9"), async () => {
    const server = await start({ script: waitingScript });
    const answer = await server.chat({ message: "one", stream: true });
    const conversationId = answer.headers.get("x-conversation-id")!;
    const args = ["-p", "--model", `scripted:${server.home}-script.json`, "--resume", conversationId.slice(5), "two"];
    const { code, stdout, stderr } = await runSheaf(args, { cwd: server.cwd, home: server.home });
    expect(code).toBe(9);
    expect(stderr).toMatch(/^sheaf: CONVERSATION_BUSY: /);
    expect(parseStream(stdout).at(-1)).toMatchObject({ is_error: true, error: { code: "CONVERSATION_BUSY" } });
    expect((await readConversation(server, conversationId)).turns).toHaveLength(1);
  });

  test(verifies(["X2", "X7"], "a run of the command line is followed and cancelled through the server"), async () => {
    const server = await start({ script: waitingScript });
    const args = ["-p", "--model", `scripted:${server.home}-script.json`, "one"];
    const run = runSheaf(args, { cwd: server.cwd, home: server.home });
    const find = async (): Promise<Conversation> => {
      for (;;) {
        const { conversations } = await toJson<ConversationPage>(server.fetch("/v1/conversations"));
        const found = conversations[0] && (await readConversation(server, conversations[0].id));
        if (found?.turns[0]?.response.documents.length) return found;
      }
    };
    const { id } = (await find()).turns[0]!.response;
    const events = readEvents(await server.fetch(`/v1/responses/${id}/events`));
    expect((await server.fetch(`/v1/responses/${id}/cancel`, { method: "POST" })).status).toBe(202);
    expect((await run).code).toBe(130);
    expect(reduce(await events)).toMatchObject({ status: "error", metadata: { finishReason: "cancelled" } });
  });
});

describe("a server that was killed", () => {
  test(verifies(["R-01", "R-04"], "ends what was cut within 5 s of its restart, and runs nothing again"), async () => {
    const cwd = folders.newFolder();
    const command = { command: "echo run >> count.txt; sleep 30" };
    const script = {
      turns: [{ events: [{ text: "I run. " }, { call: { tool: "run_terminal_cmd", arguments: command } }] }],
    };
    const server = await start({ cwd, script, args: ["--force", "--sandbox", "disabled"] });
    const answer = await server.chat({ message: "go", stream: true });
    const seen = await readEvents(
      answer,
      ({ event, data }) => event === "document_start" && "type" in data && data.type === "terminal_command",
    );
    await expect.poll(() => readFileSync(join(cwd, "count.txt"), "utf8")).toBe("run\n");
    await server.stop("SIGKILL");
    const restartedAt = performance.now();
    const restarted = await start({ cwd, script, home: server.home });
    const path = answer.headers.get("location")!;
    const events = await readEvents(await restarted.fetch(`${path}/events`));
    expect(performance.now() - restartedAt).toBeLessThan(5000);
    expect(events.slice(0, seen.length)).toEqual(seen);
    expect(verify(events)).toBeUndefined();
    const response = reduce(events);
    expect(response).toMatchObject({ status: "error", metadata: { finishReason: "error" } });
    expect(response.documents.at(-1)).toMatchObject({
      type: "error",
      metadata: { errorCode: "INTERNAL", source: "server" },
    });
    expect(await toJson(restarted.fetch(path))).toEqual(response);
    const tail = await readEvents(
      await restarted.fetch(`${path}/events`, { headers: { "Last-Event-ID": `${seen.at(-1)!.id}` } }),
    );
    expect(tail).toEqual(events.slice(seen.length));
    const { conversationId } = response;
    expect((await readConversation(restarted, conversationId)).turns).toHaveLength(1);
    expect(readFileSync(join(cwd, "count.txt"), "utf8")).toBe("run\n");
  });

  test(verifies(["R-04", "X8"], "says of a call that waited for a person that it did not run"), async () => {
    const call = { call: { tool: "run_terminal_cmd", arguments: { command: "echo run > ran.txt" } } };
    const options = {
      cwd: folders.newFolder(),
      script: { turns: [{ events: [call] }] },
      args: ["--sandbox", "disabled"],
    };
    const server = await start(options);
    const answer = await server.chat({ message: "go", stream: true, approvals: "ask" });
    await readEvents(answer, ({ event }) => event === "approval_request");
    await server.stop("SIGKILL");
    const restarted = await start({ ...options, home: server.home });
    const { documents } = await toJson<ChatResponse>(restarted.fetch(answer.headers.get("location")!));
    expect(documents.map(({ content }) => content)).toEqual([
      null,
      "the process ended while this call waited for an answer; it did not run",
      expect.stringContaining("send the message again"),
    ]);
  });
});
