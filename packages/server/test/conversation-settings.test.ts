/** What the next message of a conversation goes on with: its mode, model and effort (X25, X26); misspelt fields (X27). */
import type { ChatResponse } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const start = (options: Partial<Parameters<typeof openApp>[0]> = {}): Promise<TestApp> =>
  openApp({ args: ["--offer", "offline"], ...options });

const send = (server: TestApp, body: Readonly<Record<string, unknown>>): Promise<ChatResponse> =>
  server.ask({ message: "go", ...body });
const change = (server: TestApp, id: string, body: unknown): Promise<Response> =>
  server.send("PATCH", `/v1/conversations/${id}`, body);

const toError = async (answer: Promise<Response>): Promise<unknown> => {
  const { status, ...rest } = await answer.then(async (response) => ({
    status: response.status,
    ...((await response.json()) as { readonly error: { readonly errorCode: string; readonly message: string } }),
  }));
  return [status, rest.error.errorCode, rest.error.message];
};

describe("a conversation", () => {
  test(verifies("X25", "goes on with its model and effort, in the mode of its last message"), async () => {
    const server = await start();
    const first = await send(server, { mode: "plan", model: "offline", effort: "low" });
    const { conversationId } = first;
    expect((await send(server, { conversationId, mode: "ask" })).model).toBe(first.model);
    expect((await send(server, { conversationId })).mode).toBe("ask");
    expect(await server.listConversations()).toMatchObject([{ mode: "ask", model: "offline", effort: "low" }]);
  });

  test(verifies("X25", "in plan mode may not write, however it is continued"), async () => {
    const write = { call: { tool: "write_file", arguments: { target_file: "new.txt", content: "x" } } };
    const server = await start({
      script: { turns: [{ events: [{ text: "A plan." }] }, { events: [write] }], after: "loop" },
    });
    const { conversationId } = await send(server, { mode: "plan" });
    const { documents } = await send(server, { conversationId });
    expect(JSON.stringify(documents)).toContain("PERMISSION_DENIED");
  });

  test(verifies("X25", "does not fall back to another model"), async () => {
    const store = createSqliteStore(":memory:");
    const one = await start({ store });
    const { conversationId } = await send(one, { model: "offline" });
    const other = await start({ cwd: one.cwd, store, args: [] });
    const [status, code, message] = (await toError(other.chat({ message: "go", conversationId }))) as string[];
    expect([status, code]).toEqual([404, "MODEL_NOT_FOUND"]);
    expect(message).toContain(
      'continues with the model "offline", which is not offered here: send "model" with one of',
    );
    const { models } = await other.read<{ readonly models: readonly { readonly id: string }[] }>("/v1/models");
    expect((await send(other, { conversationId, model: models[0]!.id })).status).toBe("completed");
  });

  test(verifies("X25", "that stored no settings goes on in the mode of its log"), async () => {
    const store = createSqliteStore(":memory:");
    const server = await start({ store });
    const { conversationId } = await send(server, { mode: "ask" });
    await store.changeConversation(conversationId, { settings: {} });
    expect((await server.readConversation(conversationId)).mode).toBe("ask");
    expect((await send(server, { conversationId })).mode).toBe("ask");
  });

  test(verifies("X26", "is renamed without blanks around its name, and can lose its effort"), async () => {
    const server = await start();
    const { conversationId } = await send(server, { model: "offline", effort: "high" });
    const changed = await (await change(server, conversationId, { title: "  A name ", effort: null })).json();
    expect(changed).toMatchObject({ title: "A name", model: "offline" });
    expect(changed).not.toHaveProperty("effort");
  });

  test.each([
    [{}, 400, "USAGE"],
    [{ title: " " }, 400, "USAGE"],
    [{ mode: "yolo" }, 400, "USAGE"],
    [{ model: "gone" }, 404, "MODEL_NOT_FOUND"],
  ])(verifies("X26", "is not changed by %o"), async (body, status, code) => {
    const server = await start();
    const { conversationId } = await send(server, {});
    const before = await server.readConversation(conversationId);
    expect(await toError(change(server, conversationId, body))).toMatchObject([status, code, expect.anything()]);
    expect(await server.readConversation(conversationId)).toEqual(before);
  });
});

test(verifies("X27", "a misspelt field is named, other unknown ones are ignored"), async () => {
  const server = await start();
  const [status, code, message] = (await toError(server.chat({ message: "go", modle: "offline" }))) as string[];
  expect([status, code, message]).toEqual([400, "USAGE", '"modle" is not a field: did you mean mode or model?']);
  for (const field of ["_modle", "colour", "streaming", "modes"]) {
    const body = field === "modes" ? { mode: "ask", model: "offline", modes: [] } : { [field]: "x" };
    expect([field, (await server.chat({ message: "go", ...body })).status]).toEqual([field, 200]);
  }
});

test.each([
  ["POST", "/v1/chat", { mesage: "go" }, "did you mean message?"],
  ["POST", "/v1/chat", { message: "go", budget: { maxTurn: 1 } }, "of budget: did you mean maxTurns?"],
  ["POST", "/v1/chat", { message: "go", accept: { reasonning: true } }, "of accept: did you mean reasoning?"],
  ["POST", "/v1/chat", { message: "", answers: [{ documentID: "doc_1" }] }, "of answers: did you mean documentId?"],
  ["POST", "/v1/chat/stream", { message: "go", modle: "x" }, "did you mean mode or model?"],
  ["PATCH", "/v1/conversations/ID", { modle: "x" }, "did you mean mode or model?"],
  ["PATCH", "/v1/conversations/ID", { title: "A", pined: true }, "did you mean pinned?"],
  ["POST", "/v1/conversations/ID/fork", { responseID: "chat_1" }, "did you mean responseId?"],
  ["POST", "/v1/conversations/ID/revert", { responsId: "chat_1" }, "did you mean responseId?"],
  ["POST", "/v1/conversations/ID/revert", { responseId: "chat_1", onConflicts: "leave" }, "did you mean onConflict?"],
  ["POST", "/v1/conversations/ID/changes/revert", { filepath: "a.txt" }, "did you mean filePath?"],
  ["POST", "/v1/conversations/ID/changes/revert", { filePath: "a.txt", hunks: 0 }, "did you mean hunk?"],
  ["POST", "/v1/responses/RESPONSE/approvals/appr_1", { optionID: "allow_once" }, "did you mean optionId?"],
  ["POST", "/v1/session", { tiket: "x" }, "did you mean ticket?"],
  ["POST", "/v1/responses", { inputs: "go" }, "did you mean input?"],
])(verifies("X27", "a misspelt field of any body is named: %s %s %j"), async (method, path, body, message) => {
  const server = await start();
  const { conversationId, id } = await send(server, {});
  const address = path.replace("ID", conversationId).replace("RESPONSE", id);
  const answer = await server.send(method, address, body);
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(message)]);
});
