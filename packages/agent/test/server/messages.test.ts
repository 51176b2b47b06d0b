/** The Chat API: one message, its response, its events (section 7 of docs/formats/documents.md). */
import { reduce, type ChatResponse } from "@sheaf/protocol";
import { toBaseEvents } from "@sheaf/protocol/base-form";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { createModelServer } from "../../../../test/support/model-server.ts";
import { parseValidLines } from "../../../../test/support/schema-check.ts";
import { readEvents } from "../../../../test/support/server.ts";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { openApp, type TestApp } from "./open-app.ts";

const folders = createTestFolder();
const start = (script?: unknown, args: readonly string[] = []): Promise<TestApp> => {
  const cwd = folders.newFolder({ "README.md": "# A project\n" });
  return openApp({ home: `${cwd}-home`, cwd, script, args });
};

const readScript = {
  turns: [
    {
      events: [
        { text: "I read. ", chunk: 3 },
        { call: { tool: "read_file", arguments: { target_file: "README.md" } } },
      ],
    },
    { events: [{ reasoning: "hm" }, { text: "Done:\n\n```js\nlet a = 1;\n```\n", chunk: 4 }] },
  ],
  after: "loop",
};

const waitingScript = {
  turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }, { text: "Done." }] }],
  after: "loop",
};

const idsOf = (response: Response): { readonly id: string; readonly conversationId: string } => ({
  id: response.headers.get("x-response-id")!,
  conversationId: response.headers.get("x-conversation-id")!,
});

describe("a message", () => {
  test(verifies("X18", "says how much the model thinks; otherwise the server does"), async () => {
    const server = await start(undefined, ["--effort", "low"]);
    const effortOf = async (body: Readonly<Record<string, unknown>>): Promise<unknown> => {
      const { id } = (await (await server.chat({ message: "go", ...body })).json()) as ChatResponse;
      const [first] = await server.store.readEvents(id);
      return first?.type === "run_start" ? first.effort : "no start";
    };
    expect([await effortOf({}), await effortOf({ effort: "max" })]).toEqual(["low", "max"]);
    const refused = await server.chat({ message: "go", effort: "huge" });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("effort")]);
  });

  test(verifies("N70", "may have the provider search the web where the operator said yes"), async () => {
    const ended = [{ type: "message_delta", delta: { stop_reason: "end_turn" } }, { type: "message_stop" }];
    const said = { type: "content_block_start", index: 0, content_block: { type: "text", text: "Done." } };
    const chunks = [said, ...ended].map((event) => `data: ${JSON.stringify(event)}\n\n`);
    const provider = await createModelServer({ chunks });
    const claude = ["--model", "anthropic/claude-sonnet-4-5", "--api-key", "k", "--base-url", `${provider.url}/v1`];
    const open = await start(undefined, [...claude, "--web-search"]);
    const searches = async (body: object): Promise<boolean> => {
      await open.chat({ message: "go", ...body });
      return provider.requests.at(-1)!.body.includes('"web_search_20250305"');
    };
    expect([await searches({}), await searches({ webSearch: true }), await searches({ webSearch: false })]).toEqual([
      true,
      true,
      false,
    ]);
    const closed = await start(undefined, claude);
    const refused = await closed.chat({ message: "go", webSearch: true });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("--web-search")]);
    // What the operator allows for all is no demand on a model that cannot.
    const offline = await start(undefined, ["--model", "offline", "--web-search"]);
    expect((await offline.chat({ message: "go" })).status).toBe(200);
    expect((await offline.chat({ message: "go", webSearch: true })).status).toBe(400);
    await provider.close();
  });

  test(verifies("C46", "brings the model's instructions, and the end of its system prompt"), async () => {
    const chunk = { choices: [{ index: 0, delta: { content: "Done." }, finish_reason: "stop" }] };
    const provider = await createModelServer({ chunks: [`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`] });
    const server = await start(undefined, ["--model", "openai-compatible/m", "--base-url", `${provider.url}/v1`]);
    await server.chat({ message: "go", systemPrompt: "You review code.", appendSystemPrompt: "Be brief." });
    const { messages } = JSON.parse(provider.requests[0]!.body) as { messages: { content: string }[] };
    expect(messages[0]!.content).toMatch(/^You review code\.\n[\s\S]*\n\nBe brief\.$/);
    const refused = await server.chat({ message: "go", systemPrompt: "" });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("systemPrompt")]);
    await provider.close();
  });

  test(verifies(["R1", "R2", "N1", "X10"], "is answered by one JSON object"), async () => {
    const server = await start(readScript);
    const answer = await server.chat({ message: "go" });
    expect(answer.status).toBe(200);
    const [response] = parseValidLines("documents", [`${await answer.text()}\n`]) as unknown as [ChatResponse];
    expect(response.documents.map(({ type }) => type)).toEqual(["text", "tool_call", "text", "code_block"]);
    expect(response).toMatchObject({ status: "completed", conversationId: idsOf(answer).conversationId });
    expect(answer.headers.get("location")).toBe(`/v1/responses/${response.id}`);
    const again = await server.fetch(`/v1/responses/${response.id}`);
    expect(await again.json()).toEqual(response);
  });

  test(
    verifies(["R14", "N43", "N49", "N50", "N53", "N54", "X1"], "is answered by a stream, which adds up to the same"),
    async () => {
      const server = await start(readScript);
      const answer = await server.chat({ message: "go", stream: true });
      expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      const events = await readEvents(answer);
      expect(verify(events)).toBeUndefined();
      expect(events.at(-1)?.event).toBe("done");
      expect(events.some(({ event }) => event === "reasoning_delta")).toBe(false);
      const stored = (await (await server.fetch(`/v1/responses/${idsOf(answer).id}`)).json()) as ChatResponse;
      expect(reduce(events)).toEqual(stored);
      expect(reduce(toBaseEvents(events)).documents.map(({ id, content }) => [id, content])).toEqual(
        stored.documents.map(({ id, content }) => [id, content]),
      );
    },
  );

  test(verifies(["N14"], "shows the model's reasoning only to those who ask"), async () => {
    const server = await start(readScript);
    const answer = await server.chat(
      { message: "go", accept: { reasoning: true } },
      { headers: { Accept: "text/event-stream" } },
    );
    const events = await readEvents(answer);
    expect(events.filter(({ event }) => event === "reasoning_delta")).toHaveLength(1);
    const without = await readEvents(await server.fetch(`/v1/responses/${idsOf(answer).id}/events`));
    expect(without).toEqual(events.filter(({ event }) => event !== "reasoning_delta"));
  });
});

describe("the events of a response", () => {
  test(verifies(["X2", "X3", "N3", "N53"], "are read again from every id, with and without a snapshot"), async () => {
    const server = await start(readScript);
    const answer = await server.chat({ message: "go", stream: true });
    const events = await readEvents(answer);
    const whole = reduce(events);
    const path = `/v1/responses/${idsOf(answer).id}/events`;
    for (const { id } of events.slice(0, -1)) {
      const tail = await readEvents(await server.fetch(`${path}?after=${id}`));
      expect(tail).toEqual(events.filter((event) => event.id > id));
      const byHeader = await readEvents(
        await server.fetch(`${path}?after=0`, { headers: { "Last-Event-ID": `${id}` } }),
      );
      expect(byHeader).toEqual(tail);
    }
    expect((await server.fetch(`${path}?after=${events.at(-1)!.id}`)).status).toBe(204);
    const fromSnapshot = await readEvents(await server.fetch(`${path}?snapshot=1`));
    expect(fromSnapshot.map(({ event }) => event)).toEqual(["snapshot", "done"]);
    expect(reduce(fromSnapshot)).toEqual(whole);
  });

  test(
    verifies(["X2", "X3", "X7", "N3"], "are heard by several readers while it runs, whenever they come"),
    async () => {
      const server = await start(waitingScript);
      const answer = await server.chat({ message: "go", stream: true });
      const { id } = idsOf(answer);
      const path = `/v1/responses/${id}/events`;
      const first = readEvents(answer);
      // What is asked for from an event on must have come.
      await readEvents(await server.fetch(path), (event) => event.id === 3);
      const late = readEvents(await server.fetch(path));
      const afterTwo = readEvents(await server.fetch(`${path}?after=2`));
      const fromSnapshot = readEvents(await server.fetch(`${path}?snapshot=1`));
      const snapshot = (await (await server.fetch(`/v1/responses/${id}`)).json()) as ChatResponse;
      expect(snapshot).toMatchObject({
        status: "streaming",
        documents: [{ content: "Begun.", status: "in_progress" }],
      });
      expect(snapshot.metadata.lastEventId).toBe(3);
      expect((await server.fetch(`/v1/responses/${id}/cancel`, { method: "POST" })).status).toBe(202);
      const events = await first;
      expect(verify(events)).toBeUndefined();
      expect(await late).toEqual(events);
      expect(await afterTwo).toEqual(events.filter((event) => event.id > 2));
      expect(reduce(await fromSnapshot)).toEqual(reduce(events));
      expect(reduce(events)).toMatchObject({ status: "error", metadata: { finishReason: "cancelled" } });
      expect((await server.fetch(`/v1/responses/${id}/cancel`, { method: "POST" })).status).toBe(202);
    },
  );

  test(verifies(["X1", "X2"], "after an id that is still to come begin after it"), async () => {
    const pause = { wait_ms: 250 };
    const texts = ["one ", "two ", "three ", "four "].flatMap((text) => [{ text }, pause]);
    const server = await start({ turns: [{ events: texts }] });
    const answer = await server.chat({ message: "go", stream: true });
    const path = `/v1/responses/${idsOf(answer).id}/events`;
    const [tail, beyond] = await Promise.all(
      [4, 1000].map(async (after) => readEvents(await server.fetch(`${path}?after=${after}`))),
    );
    const events = await readEvents(answer);
    expect(events.at(-1)!.id).toBeGreaterThan(5);
    expect(tail).toEqual(events.filter((event) => event.id > 4));
    expect(beyond).toEqual([]);
    expect((await server.fetch(`${path}?after=1000`)).status).toBe(204);
  });

  test(verifies(["X5"], "are interspersed with heartbeats in silence"), async () => {
    const server = await start(waitingScript, ["--heartbeat", "0.05"]);
    const answer = await server.chat({ message: "go", stream: true });
    let text = "";
    for await (const chunk of answer.body!) {
      text += new TextDecoder().decode(chunk);
      if (text.includes(": hb\n\n")) break;
    }
    expect(text).toMatch(/^retry: \d+\n\nid: 1\nevent: response_start\ndata: \{.*"heartbeat_ms":50\}\n\n/);
  });
});

describe("a conversation", () => {
  test(verifies(["R2"], "goes on over several messages, and is read as a whole"), async () => {
    const server = await start();
    const first = (await (await server.chat({ message: "one" })).json()) as ChatResponse;
    const { conversationId } = first;
    const second = (await (await server.chat({ message: "two", conversationId })).json()) as ChatResponse;
    expect(second.conversationId).toBe(conversationId);
    const conversation = await (await server.fetch(`/v1/conversations/${conversationId}`)).json();
    expect(conversation).toMatchObject({
      id: conversationId,
      title: "one",
      turns: [
        { message: "one", response: first },
        { message: "two", response: second },
      ],
    });
    const { conversations } = (await (await server.fetch("/v1/conversations")).json()) as { conversations: unknown[] };
    expect(conversations).toMatchObject([{ id: conversationId, title: "one" }]);
  });

  test("takes one message at a time, unless the request says what else to do", async () => {
    const server = await start(waitingScript);
    const first = await server.chat({ message: "one", stream: true });
    const { conversationId } = idsOf(first);
    const refused = await server.chat({ message: "two", conversationId });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ error: { errorCode: "CONVERSATION_BUSY", source: "server" } });
    const third = await server.chat({ message: "three", conversationId, whenBusy: "cancel", stream: true });
    expect(reduce(await readEvents(first)).metadata.finishReason).toBe("cancelled");
    const queued = server.chat({ message: "four", conversationId, whenBusy: "queue", stream: true });
    await server.fetch(`/v1/responses/${idsOf(third).id}/cancel`, { method: "POST" });
    const fourth = await queued;
    expect(idsOf(fourth).conversationId).toBe(conversationId);
    await readEvents(fourth, ({ event }) => event === "response_start");
    const { turns } = (await (await server.fetch(`/v1/conversations/${conversationId}`)).json()) as {
      turns: { message: string }[];
    };
    expect(turns.map(({ message }) => message)).toEqual(["one", "three", "four"]);
  });
});

describe("the way in", () => {
  test(verifies("S-51", "every data route asks for the token"), async () => {
    const server = await start();
    for (const path of ["/v1/conversations", "/v1/models", "/v1/responses/chat_1"]) {
      expect((await server.request(path)).status).toBe(401);
      const wrong = await server.fetch(path, { headers: { Authorization: `Bearer ${"x".repeat(43)}` } });
      expect(wrong.status).toBe(401);
      expect(await wrong.json()).toMatchObject({ error: { errorCode: "AUTH_REJECTED" } });
    }
    expect(await (await server.request("/healthz")).json()).toEqual({ status: "ok" });
    expect(await (await server.fetch("/v1/models")).json()).toMatchObject({
      models: [{ id: expect.stringMatching(/^scripted:/) }],
    });
  });
});
