/** What a client shows of conversations without reading their responses: what waits, where a search matched. */
import type { Conversation, ConversationPage, ConversationSummary } from "@sheaf/protocol";
import { toJsonSchema } from "@sheaf/protocol/schemas";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { readEvents } from "../../../test/support/server.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const list = async (server: TestApp, query = ""): Promise<readonly ConversationSummary[]> => {
  const page = await server.read<ConversationPage>(`/v1/conversations${query}`);
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
    toJsonSchema("conversations", { closed: true }),
  );
  expect(check(page), JSON.stringify(check.errors)).toBe(true);
  return page.conversations;
};

test(verifies("X35", "the list says what runs, and why what waits for a person does"), async () => {
  const call = { tool: "run_terminal_cmd", arguments: { command: "node -e 0" } };
  const script = { turns: [{ events: [{ call }] }] };
  const server = await openApp({ script, args: ["--sandbox", "disabled"] });
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
  const { turns: _, ...alone } = await server.read<Conversation>(`/v1/conversations/${waiting!.id}`);
  expect(alone).toEqual(waiting);
});

test(verifies("X36", "a search says where it matched, as text and offsets"), async () => {
  const script = { turns: [{ events: [{ text: "It is in the <b>lex" }, { text: "er</b>." }] }], after: "loop" };
  const server = await openApp({ script });
  const first = await server.ask({ message: "Where is the parser?" });
  const find = async (search: string) =>
    (await list(server, `?search=${encodeURIComponent(search)}`)).map(({ match }) => match);
  const title = { where: "title", text: "Where is the parser?", ranges: [{ start: 13, end: 19 }] };
  expect(await find("PARSER")).toEqual([title]);
  await server.send("PATCH", `/v1/conversations/${first.conversationId}`, { title: "Something else" });
  expect(await find("PARSER")).toEqual([{ ...title, where: "message", responseId: first.id }]);
  const text = "It is in the <b>lexer</b>.";
  const ranges = [{ start: 13, end: 21 }];
  expect(await find("<b>LEXER")).toEqual([{ where: "answer", responseId: first.id, text, ranges }]);
  expect(await find("nowhere")).toEqual([]);
  expect((await list(server))[0]).not.toHaveProperty("match");
});
