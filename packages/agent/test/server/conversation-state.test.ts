/** What a client shows of conversations without reading their responses: pins, usage, what waits, where a search matched. */
import type { ChatResponse, Conversation, ConversationPage, ConversationSummary } from "@sheaf/protocol";
import { toJsonSchema } from "@sheaf/protocol/schemas";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { readEvents } from "../../../../test/support/server.ts";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { openApp, type TestApp } from "./open-app.ts";

const folders = createTestFolder();
const start = (script?: unknown, args: readonly string[] = []): Promise<TestApp> => {
  const cwd = folders.newFolder({ "README.md": "# A project\n" });
  return openApp({ home: `${cwd}-home`, cwd, script, args });
};
const send = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
const toJson = async <Body>(answer: Response | Promise<Response>): Promise<Body> =>
  (await (await answer).json()) as Body;
const list = async (server: TestApp, query = ""): Promise<readonly ConversationSummary[]> => {
  const page = await toJson<ConversationPage>(server.fetch(`/v1/conversations${query}`));
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
    toJsonSchema("conversations", { closed: true }),
  );
  expect(check(page), JSON.stringify(check.errors)).toBe(true);
  return page.conversations;
};

test(
  verifies(["X35", "X36", "X26"], "a conversation is pinned by PATCH, and comes first only if asked for"),
  async () => {
    const server = await start();
    const ids: string[] = [];
    for (const message of ["one", "two", "three"]) {
      ids.push((await toJson<ChatResponse>(server.chat({ message }))).conversationId);
    }
    const path = `/v1/conversations/${ids[0]}`;
    const before = (await list(server)).at(-1)!;
    const changed = await toJson<ConversationSummary>(server.fetch(path, send("PATCH", { pinned: true })));
    expect(changed).toEqual({ ...before, pinned: true });
    const titles = async (query: string) => (await list(server, query)).map(({ title }) => title);
    expect(await titles("")).toEqual(["three", "two", "one"]);
    expect(await titles("?pinned=first")).toEqual(["one", "three", "two"]);
    const { next } = await toJson<ConversationPage>(server.fetch("/v1/conversations?pinned=first&limit=1"));
    expect(await titles(`?pinned=first&limit=1&before=${next}`)).toEqual(["three"]);
    expect(await toJson(server.fetch(path))).toMatchObject({ pinned: true });
    expect(await toJson(server.fetch(path, send("PATCH", { pinned: false })))).toEqual(before);
    expect(await titles("?pinned=first")).toEqual(["three", "two", "one"]);
    const wrong = await server.fetch("/v1/conversations?pinned=last");
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain('\\"last\\"');
    expect((await server.fetch(path, send("PATCH", { pinned: "yes" }))).status).toBe(400);
  },
);

test(verifies("X35", "the list says what runs and what waits for a person, and what was used"), async () => {
  const script = {
    turns: [
      {
        events: [{ call: { tool: "run_terminal_cmd", arguments: { command: "node -e 0" } } }],
        usage: { promptTokens: 100, completionTokens: 20 },
      },
      { events: [{ text: "Done." }], usage: { promptTokens: 200, completionTokens: 10 } },
    ],
  };
  const server = await start(script, ["--sandbox", "disabled"]);
  const stream = await server.chat({ message: "go", stream: true, approvals: "ask" });
  const responseId = stream.headers.get("x-response-id")!;
  const events = `/v1/responses/${responseId}/events`;
  const asked = (await readEvents(await server.fetch(events), ({ event }) => event === "approval_request")).at(-1)!;
  if (asked.event !== "approval_request") throw new Error("nothing was asked");
  const { approvalId, expiresAt } = asked.data;
  const [waiting] = await list(server);
  expect(waiting).toMatchObject({
    runningResponseId: responseId,
    approvals: [{ approvalId, responseId, kind: "command", reason: { code: "no_rule" }, expiresAt }],
    usage: { totalTokens: 0 },
  });
  const { turns: _, ...alone } = await toJson<Conversation>(server.fetch(`/v1/conversations/${waiting!.id}`));
  expect(alone).toEqual(waiting);
  await server.fetch(`/v1/responses/${responseId}/approvals/${approvalId}`, send("POST", { optionId: "allow_once" }));
  await stream.text();
  const [ended] = await list(server);
  expect(ended).not.toHaveProperty("approvals");
  expect(ended).not.toHaveProperty("runningResponseId");
  const response = await toJson<ChatResponse>(server.fetch(`/v1/responses/${responseId}`));
  const { promptTokens, completionTokens, totalTokens } = response.usage;
  expect(totalTokens).toBe(330);
  expect(ended!.usage).toEqual({ promptTokens, completionTokens, totalTokens });
});

test(verifies("X36", "a search says where it matched, as text and offsets"), async () => {
  const script = { turns: [{ events: [{ text: "It is in the <b>lex" }, { text: "er</b>." }] }], after: "loop" };
  const server = await start(script);
  const first = await toJson<ChatResponse>(server.chat({ message: "Where is the parser?" }));
  const find = async (search: string) =>
    (await list(server, `?search=${encodeURIComponent(search)}`)).map(({ match }) => match);
  const title = { where: "title", text: "Where is the parser?", ranges: [{ start: 13, end: 19 }] };
  expect(await find("PARSER")).toEqual([title]);
  await server.fetch(`/v1/conversations/${first.conversationId}`, send("PATCH", { title: "Something else" }));
  expect(await find("PARSER")).toEqual([{ ...title, where: "message", responseId: first.id }]);
  const text = "It is in the <b>lexer</b>.";
  const ranges = [{ start: 13, end: 21 }];
  expect(await find("<b>LEXER")).toEqual([{ where: "answer", responseId: first.id, text, ranges }]);
  expect(await find("nowhere")).toEqual([]);
  expect((await list(server))[0]).not.toHaveProperty("match");
});
