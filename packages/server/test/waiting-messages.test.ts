/** Messages that wait: listed, moved, and added to the response that runs. */
import { reduce, type ChatResponse, type Conversation, type WaitingList } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { readEvents } from "../../../test/support/server.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { secretKinds } from "../../../test/support/secret-kinds.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const readCall = { call: { tool: "read_file", arguments: { target_file: "README.md" } } };
const pause = { wait_ms: 400 };

/** A response with a tool call after a while. */
const callScript = { turns: [{ events: [{ text: "One." }, pause, readCall] }, { events: [{ text: "Two." }] }] };

/** The same without. */
const textScript = { turns: [{ events: [{ text: "One." }, pause] }], after: "loop" };

async function begin(server: TestApp) {
  const running = await server.chat({ message: "one", stream: true });
  const conversationId = running.headers.get("x-conversation-id")!;
  const send = async (message: string, fields: Record<string, unknown> = {}, init: RequestInit = {}) => {
    const body = { message, conversationId, whenBusy: "queue", stream: true, ...fields };
    const response = await server.chat(body, init);
    return { response, id: response.headers.get("x-response-id")! };
  };
  const read = () => server.read<Conversation>(`/v1/conversations/${conversationId}`);
  return { running, id: running.headers.get("x-response-id")!, conversationId, send, read };
}

describe("a message that steers", () => {
  test(
    verifies(["C240", "C242", "X9", "X48"], "is in the response that runs, and all its readers get that one"),
    async () => {
      const server = await openApp({ script: callScript });
      const { running, id, send, read } = await begin(server);
      const init = { headers: { "Idempotency-Key": "k" } };
      const attachments = [{ name: "a.txt", data: Buffer.from("text").toString("base64") }];
      const steering = { whenBusy: "steer", attachments };
      const queued = await send("later");
      const steered = await send("use tabs", steering, init);
      expect((await read()).waiting).toMatchObject([
        { responseId: steered.id, message: "use tabs", whenBusy: "steer", attachments: [{ name: "a.txt", bytes: 4 }] },
        { responseId: queued.id, message: "later", whenBusy: "queue" },
      ]);
      const followed = await server.fetch(`/v1/responses/${steered.id}/events`);
      const whole = reduce(await readEvents(running));
      expect(whole.messages).toMatchObject([{ message: "use tabs", messageId: steered.id, after: 2 }]);
      for (const response of [steered.response, followed]) {
        const events = await readEvents(response);
        expect([events[0]?.event, verify(events), reduce(events)]).toEqual(["snapshot", undefined, whole]);
      }
      const again = await send("use tabs", steering, init);
      expect(again.id).toBe(id);
      expect(reduce(await readEvents(again.response))).toEqual(whole);
      const late = await server.fetch(`/v1/responses/${steered.id}/events`);
      expect([late.headers.get("x-response-id"), reduce(await readEvents(late))]).toEqual([id, whole]);
      expect(await (await server.fetch(`/v1/responses/${id}/attachments/1`)).text()).toBe("text");
      expect((await server.fetch(`/v1/responses/${id}/attachments/2`)).status).toBe(404);
      await readEvents(queued.response);
      const { turns, waiting } = await read();
      expect([turns.map(({ message }) => message), waiting]).toEqual([["one", "later"], undefined]);
      expect((await server.read<ChatResponse>(steered.response.headers.get("location")!)).id).toBe(id);
      expect((await server.fetch(`/v1/responses/${steered.id}/cancel`, { method: "POST" })).status).toBe(404);
    },
  );

  test(verifies("C242", "begins the next response if the one that runs ends before, as JSON too"), async () => {
    const server = await openApp({ script: textScript });
    const { send, read } = await begin(server);
    const last = await send("three");
    const next = await send("two", { whenBusy: "steer", stream: false });
    expect(((await next.response.json()) as ChatResponse).id).toBe(next.id);
    await readEvents(last.response);
    expect((await read()).turns.map(({ message }) => message)).toEqual(["one", "two", "three"]);
  });

  test(verifies("C242", "has no answers to questions"), async () => {
    const server = await openApp({ script: textScript });
    const { send } = await begin(server);
    const answers = [{ documentId: "d", questionId: "q", optionIds: [], text: "a" }];
    const { response } = await send("two", { whenBusy: "steer", answers });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { errorCode: "USAGE" } }]);
  });
});

test(verifies(["C241", "S-53", "S-256"], "waiting messages are moved, sent now and removed"), async () => {
  const server = await openApp({ script: callScript });
  const { running, conversationId, send, read } = await begin(server);
  const [a, b, c] = [await send("a"), await send("b"), await send(`c ${secretKinds.github!.text}`)];
  const put = async (waiting: unknown) =>
    server.fetch(`/v1/conversations/${conversationId}/waiting`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ waiting }),
    });
  const moved = (await (await put([{ responseId: c.id }, { responseId: "chat_x" }])).json()) as WaitingList;
  expect(moved.waiting.map(({ responseId }) => responseId)).toEqual([c.id, a.id, b.id]);
  expect(moved.waiting[0]!.message).not.toContain(secretKinds.github!.secret);
  expect((await put([{ responseId: a.id, whenBusy: "now" }])).status).toBe(400);
  const version = await send("version", { parentResponseId: null });
  expect((await put([{ responseId: version.id, whenBusy: "steer" }])).status).toBe(400);
  await server.fetch(`/v1/responses/${version.id}/cancel`, { method: "POST" });
  const sent = (await (await put([{ responseId: b.id, whenBusy: "steer" }])).json()) as WaitingList;
  expect(sent.waiting[0]).toEqual({ responseId: b.id, message: "b", whenBusy: "steer" });
  expect((await server.fetch(`/v1/responses/${a.id}/cancel`, { method: "POST" })).status).toBe(202);
  expect((await read()).waiting?.map(({ responseId }) => responseId)).toEqual([b.id, c.id]);
  expect(reduce(await readEvents(running)).messages).toMatchObject([{ message: "b", messageId: b.id }]);
  const path = "/v1/conversations/conv_other/waiting";
  expect((await server.fetch(path, { method: "PUT", body: "{}" })).status).toBe(404);
});
