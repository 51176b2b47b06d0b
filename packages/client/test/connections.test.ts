/** Connections that fail, stay silent, or are refused. */
import type { StreamEvent } from "@sheaf/protocol";
import { encodeSse } from "@sheaf/protocol/encode";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { stream as events } from "../../protocol/test/event-log.ts";
import { createClient } from "../src/index.ts";
import { allIds, noWait, openClient, readAll, toIds } from "./open-client.ts";
import { createStreamServer } from "./stream-server.ts";

test(verifies("X1", "an event whose id is not above the last one is left out"), async () => {
  const doubled = events.flatMap((event) => [event, event]).toSpliced(10, 0, events[2]!);
  expect(toIds(await readAll(openClient({ events: doubled }).client.follow("chat_1")))).toEqual(allIds);
});

test("single bytes give what whole bodies give", async () => {
  const changed = structuredClone(events) as StreamEvent[];
  const text = "Grüße 🙂";
  const delta = changed.find(({ event }) => event === "content_delta") as { data: { delta: string } };
  delta.data.delta = text;
  const updates = await readAll(openClient({ events: changed, chunkSize: 1 }).client.follow("chat_1"));
  expect(updates.map(({ event }) => event)).toEqual(changed);
});

test(verifies("X5", "three heartbeats that do not come end a connection, told or not"), async () => {
  const [start, ...rest] = events;
  const told = [{ ...start, data: { ...start!.data, heartbeat_ms: 100 } } as StreamEvent, ...rest];
  const faults = [{ network: "silent" }, { cutAt: 700, behindCut: "hang" }] as const;
  const { client, server } = openClient({ events: told, faults }, { heartbeatMs: 5 });
  expect((await client.chat({ message: "Hello" }).readToEnd()).status).toBe("completed");
  expect([server.requests.length, server.openBodies]).toEqual([3, 0]);
});

test.each([
  ["refused connections", { network: "refused" }],
  ["a proxy's page", { contentType: "text/html" }],
  ["an answer without a type", { answer: { status: 200 } }],
  ["502", { answer: { status: 502 } }],
  ["503 with a time", { answer: { status: 503, headers: { "retry-after": "0" } } }],
  ["429 with a time", { answer: { status: 429, headers: { "retry-after": "0" } } }],
  ["408", { answer: { status: 408 } }],
] as const)("passing trouble is waited out: %s", async (_, fault) => {
  const { client, server } = openClient({ faults: [fault, fault] });
  expect(toIds(await readAll(client.chat({ message: "Hello" })))).toEqual(allIds);
  expect([server.runs, server.openBodies]).toEqual([1, 0]);
});

test.each([400, 401, 403, 409, 413, 415, 422])("a refusal is not repeated: %d", async (status) => {
  const error = { errorCode: "CONVERSATION_BUSY", message: "Another response runs.", source: "server", details: "" };
  const { client, server } = openClient({ faults: [{ answer: { status, body: JSON.stringify({ error }) } }] });
  await expect(client.chat({ message: "Hello" }).readToEnd()).rejects.toMatchObject({
    name: "SheafApiError",
    status,
    ...error,
  });
  expect(server.requests).toEqual(["POST /v1/chat"]);
});

test(
  verifies("N51", "a message that a server forgot in its queue is told as one that broke, and not sent again"),
  async () => {
    const missing = { answer: { status: 404 } };
    const { client, server } = openClient({ faults: [{ cutAt: 0 }, missing, missing] });
    const request = { message: "Hello", conversationId: "conv_1", whenBusy: "queue" } as const;
    await expect(client.chat(request).readToEnd()).rejects.toMatchObject({
      name: "StreamBrokenError",
      message: expect.stringContaining("send the message again"),
      lastEventId: 0,
    });
    expect([server.runs, server.requests.length]).toEqual([1, 3]);
  },
);

test("what was never answered says why", async () => {
  const failed = Object.assign(new TypeError("fetch failed"), { cause: new Error("connect ECONNREFUSED 127.0.0.1:9") });
  const client = createClient({ baseUrl: "http://sheaf.test", fetch: () => Promise.reject(failed) });
  await expect(client.listModels()).rejects.toThrow(
    "GET http://sheaf.test/v1/models got no answer: connect ECONNREFUSED 127.0.0.1:9.",
  );
});

test("a wait that is longer than allowed is the caller's", async () => {
  const answer = { status: 429, headers: { "retry-after": "7200" } };
  const { client } = openClient({ faults: [{ answer }] });
  await expect(client.chat({ message: "Hello" }).readToEnd()).rejects.toMatchObject({
    status: 429,
    retryAfter: 7_200_000,
  });
});

test("a full queue is reported at once, with the time that the server asks for", async () => {
  const { client, server } = openClient({ faults: [{ answer: { status: 429, headers: { "retry-after": "0" } } }] });
  const request = { message: "Hello", conversationId: "conv_1", whenBusy: "queue" } as const;
  await expect(client.chat(request).readToEnd()).rejects.toMatchObject({ status: 429, retryAfter: 0 });
  expect(server.requests).toEqual(["POST /v1/chat"]);
});

test("a server that never answered is given up sooner than a stream that broke", async () => {
  const faults = Array.from({ length: 20 }, () => ({ network: "refused" }) as const);
  const { client, server } = openClient({ faults });
  await expect(client.chat({ message: "Hello" }).readToEnd()).rejects.toMatchObject({
    name: "ConnectionError",
    message: "POST http://sheaf.test/v1/chat got no answer: fetch failed.",
  });
  expect(server.requests.length).toBe(4);
  const later = openClient({ faults: [{ cutAt: 600 }, ...faults] });
  await expect(later.client.chat({ message: "Hello" }).readToEnd()).rejects.toMatchObject({
    name: "StreamBrokenError",
  });
  expect(later.server.requests.length).toBe(11);
});

const unknownHost = new TypeError("fetch failed", { cause: new Error("getaddrinfo ENOTFOUND sheaf.test") });

test.each([
  ["localhost:7433", undefined],
  ["127.0.0.1:7433", undefined],
  ["http://127.0.0.1:1", undefined],
  ["ftp://127.0.0.1", undefined],
  ["http://sheaf.test", () => Promise.reject(unknownHost)],
] as const)("%s is a wrong address, which is told at once", async (baseUrl, fetch) => {
  const states: string[] = [];
  const client = createClient({ baseUrl, ...(fetch && { fetch }) });
  const stream = client.chat({ message: "Hello" }, { onConnection: (state) => states.push(state) });
  await expect(stream.readToEnd()).rejects.toMatchObject({ name: "ConnectionError", isWrongAddress: true });
  expect(states).toEqual(["connecting"]);
});

test("a name that is lost in the midst of a stream may come back", async () => {
  const { client, server } = openClient({ faults: [{ cutAt: 600 }, { network: "refused", error: unknownHost }] });
  expect((await client.chat({ message: "Hello" }).readToEnd()).status).toBe("completed");
  expect(server.requests.length).toBe(3);
});

test("why a client waits is told while it waits", async () => {
  const reasons: unknown[] = [];
  const { client } = openClient({ faults: [{ network: "refused" }, { cutAt: 600 }] });
  const onConnection = (state: string, reason?: unknown) => state === "waiting" && reasons.push(reason);
  await client.chat({ message: "Hello" }, { onConnection }).readToEnd();
  expect(reasons).toEqual([
    expect.objectContaining({ message: "POST http://sheaf.test/v1/chat got no answer: fetch failed." }),
    undefined,
  ]);
});

test("progress starts the count of tries anew", async () => {
  const lengths = events.map((_, index) =>
    Buffer.byteLength(
      events
        .slice(0, index + 1)
        .map(encodeSse)
        .join(""),
    ),
  );
  const cuts = lengths.map((length, index) => ({ cutAt: 25 + length - (lengths[index - 1] ?? 0) }));
  const { client } = openClient({ faults: cuts }, { reconnect: { ...noWait, maxTries: 1 } });
  expect(toIds(await readAll(client.follow("chat_1")))).toEqual(allIds);
});

test("what stands between is told", async () => {
  const states: string[] = [];
  const { client } = openClient({ faults: [{ cutAt: 600 }] });
  await client.chat({ message: "Hello" }, { onConnection: (state) => states.push(state) }).readToEnd();
  expect(states).toEqual(["connecting", "open", "waiting", "connecting", "open"]);
});

test("a wait can be ended", async () => {
  const faults = [{ cutAt: 600 }];
  const { client } = openClient({ faults }, { reconnect: { delayMs: 3_600_000, maxDelayMs: 3_600_000 } });
  const stream = client.follow("chat_1", {
    onConnection: (state) => state === "waiting" && queueMicrotask(() => stream.reconnect()),
  });
  expect((await stream.readToEnd()).status).toBe("completed");
});

test("a message that waits in the queue of a busy conversation may wait long", async () => {
  const answers: ((answer: Response) => void)[] = [];
  const fetchLate: typeof fetch = async (_, { signal } = {}) => {
    const answer = Promise.withResolvers<Response>();
    answers.push(answer.resolve);
    signal?.addEventListener("abort", () => answer.reject(new Error("aborted")));
    return answer.promise;
  };
  const options = { baseUrl: "http://sheaf.test", reconnect: noWait, heartbeatMs: 1 };
  const { fetch: fetchEvents } = createStreamServer({ events });
  const reading = createClient({ ...options, fetch: fetchLate })
    .chat({ message: "Hello", whenBusy: "queue" })
    .readToEnd();
  await new Promise((resolve) => setTimeout(resolve, 50));
  answers[0]!(await fetchEvents("http://sheaf.test/v1/chat", { method: "POST" }));
  expect((await reading).status).toBe("completed");
  expect(answers).toHaveLength(1);
});
