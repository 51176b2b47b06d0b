/** What a stream gives, and how it ends. */
import { reduce, type StreamEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { response, stream as events } from "../../protocol/test/event-log.ts";
import { verifyUpdates } from "../src/verify.ts";
import { allIds, noWait, openClient, readAll, toIds } from "./open-client.ts";

test("a stream gives each event once, and the response that they add up to", async () => {
  const { client, server } = openClient();
  const stream = client.chat({ message: "Hello" });
  const updates = await readAll(stream);
  expect(updates.map(({ event }) => event)).toEqual(events);
  expect(updates.at(-1)?.response).toEqual(response);
  expect([stream.responseId, stream.conversationId, stream.lastEventId]).toEqual(["chat_1", "conv_1", events.length]);
  expect(JSON.parse(server.bodies[0]!)).toEqual({ message: "Hello", stream: true });
});

test("whoever reads to the end can hear of each event once it is taken", async () => {
  const stream = openClient().client.follow("chat_1");
  const heard: StreamEvent[] = [];
  const whole = await stream.readToEnd((event) => {
    expect(stream.lastEventId).toBe(event.id);
    heard.push(event);
  });
  expect(whole).toEqual(response);
  expect(heard).toEqual(events);
});

test(verifies("N53", "each update holds what the events up to it add up to"), async () => {
  const updates = await readAll(openClient().client.follow("chat_1"));
  for (const [index, update] of updates.entries()) expect(update.response).toEqual(reduce(events.slice(0, index + 1)));
});

test("documents that did not change are the same objects from update to update", async () => {
  const updates = await readAll(openClient().client.follow("chat_1"));
  let kept = 0;
  for (const [index, { event, response: after }] of updates.entries()) {
    const changed =
      event.event === "document_start" ? event.data.id : "documentId" in event.data && event.data.documentId;
    for (const [place, document] of (updates[index - 1]?.response.documents ?? []).entries()) {
      if (document.id === changed) continue;
      expect(after.documents[place]).toBe(document);
      kept += 1;
    }
  }
  expect(kept).toBeGreaterThan(20);
});

test(verifies(["X2", "X9"], "a lost answer to the POST is asked for again with the same key"), async () => {
  const { client, server } = openClient({ faults: [{ network: "lost" }, { network: "refused" }] });
  await readAll(client.chat({ message: "Hello" }));
  expect(server.requests).toEqual(["POST /v1/chat", "POST /v1/chat", "POST /v1/chat"]);
  expect(server.runs).toBe(1);
});

test.each(["x-response-id", "location", "content-location"] as const)(
  verifies("X2", "a POST stream is joined again through %s"),
  async (name) => {
    const { client, server } = openClient({ namedBy: [name], faults: [{ cutAt: 20 }] });
    expect(toIds(await readAll(client.chat({ message: "Hello" })))).toEqual(allIds);
    expect(server.requests).toEqual(["POST /v1/chat", "GET /v1/responses/chat_1/events?after=0"]);
  },
);

test(verifies("N51", "a stream without done is never complete"), async () => {
  const without = (event: StreamEvent): boolean => event.event === "done";
  const faults = Array.from({ length: 20 }, () => ({ without }));
  const { client, server } = openClient({ faults }, { reconnect: { ...noWait, maxTries: 3 } });
  const stream = client.chat({ message: "Hello" });
  const error: unknown = await readAll(stream).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: "StreamBrokenError", responseId: "chat_1", lastEventId: events.length - 1 });
  expect(stream.response.status).toBe("streaming");
  expect(server.requests.length).toBeLessThan(10);
});

test(verifies("N51", "a POST stream that breaks without any id is not asked for a second time"), async () => {
  const { client, server } = openClient({ namedBy: [], faults: [{ cutAt: 5 }] });
  await expect(readAll(client.chat({ message: "Hello" }))).rejects.toThrow("no id to join it again");
  expect(server.requests).toEqual(["POST /v1/chat"]);
});

test("a POST stream can be joined by the id that response_start told", async () => {
  const { client, server } = openClient({ namedBy: [], faults: [{ cutAt: 600 }] });
  expect(toIds(await readAll(client.chat({ message: "Hello" })))).toEqual(allIds);
  expect(server.requests[1]).toMatch(/^GET \/v1\/responses\/chat_1\/events\?after=[1-9]$/);
});

test(verifies("X14", "values of a later version cost nothing but themselves"), async () => {
  const later = structuredClone(events) as unknown as { event: string; data: Record<string, unknown> }[];
  later[0]!.data["mode"] = "review";
  const { client, server } = openClient({ events: later as unknown as StreamEvent[] });
  const updates = await readAll(client.follow("chat_1"));
  expect(updates.at(-1)?.response).toEqual({ ...response, mode: "review" });
  const snapshot = await readAll(client.follow("chat_1", { snapshot: true }));
  expect(snapshot[0]?.event.event).toBe("snapshot");
  expect(snapshot.at(-1)?.response).toEqual({ ...response, mode: "review" });
  expect(server.requests).toHaveLength(2);
});

describe("where a stream begins", () => {
  test(verifies("X3", "a snapshot comes first when it is asked for, then the tail"), async () => {
    const { client, server } = openClient({ faults: [{}, {}] });
    const updates = await readAll(client.follow("chat_1", { snapshot: true }));
    expect(server.requests).toEqual(["GET /v1/responses/chat_1/events?snapshot=1"]);
    expect(updates[0]?.event.event).toBe("snapshot");
    expect(updates.length).toBeLessThan(events.length);
    expect(updates.at(-1)?.response).toEqual(response);
  });

  test(verifies("X3", "a snapshot in place of events that are too old replaces what was there"), async () => {
    const { client } = openClient({ forgottenUpTo: 12, faults: [{ cutAt: 0 }] });
    const updates = await readAll(client.follow("chat_1"));
    expect(toIds(updates)).toEqual(allIds.slice(11));
    expect(updates.at(-1)?.response).toEqual(response);
  });

  test(verifies("N3", "behind a response that was asked for, at its last event"), async () => {
    const past = reduce(events.slice(0, 9));
    const { client, server } = openClient();
    const from = { ...past, metadata: { ...past.metadata, lastEventId: 9 } };
    const stream = client.follow("chat_1", { from });
    expect(stream.response.documents).toEqual(past.documents);
    const updates = await readAll(stream);
    expect(server.requests).toEqual(["GET /v1/responses/chat_1/events?after=9"]);
    expect(toIds(updates)).toEqual(allIds.slice(9));
    expect(updates.at(-1)?.response).toEqual(response);
  });

  test("behind a response that has ended there is nothing to read", async () => {
    const { client, server } = openClient();
    const stream = client.follow("chat_1", { from: response });
    expect(await readAll(stream)).toEqual([]);
    expect(stream.response).toEqual(response);
    expect(server.requests).toEqual([]);
  });

  test("a streaming response that does not tell its place is read from the first event on", async () => {
    const updates = await readAll(openClient().client.follow("chat_1", { from: reduce(events.slice(0, 9)) }));
    expect(updates.at(-1)?.response).toEqual(response);
  });

  test(verifies("X2", "behind an id"), async () => {
    const updates = await readAll(openClient().client.follow("chat_1", { after: 15 }));
    expect(toIds(updates)).toEqual(allIds.slice(15));
  });

  test(verifies("N51", "a server that keeps no events is asked for the response until it has ended"), async () => {
    const missing = { answer: { status: 404 } };
    const half = { answer: { status: 200, body: JSON.stringify(reduce(events.slice(0, 8))) } };
    const whole = { answer: { status: 200, body: JSON.stringify(response) } };
    const { client, server } = openClient({ faults: [missing, half, missing, whole] });
    const updates = await readAll(client.follow("chat_1"));
    expect(updates.map((update) => update.response)).toEqual([reduce(events.slice(0, 8)), response]);
    expect(server.requests[1]).toBe("GET /v1/responses/chat_1");
  });

  test("behind the last event of a response that has ended, the response is asked for", async () => {
    const faults = [{ answer: { status: 204 } }, { answer: { status: 200, body: JSON.stringify(response) } }];
    const stream = openClient({ faults }).client.follow("chat_1", { after: 20 });
    expect(await stream.readToEnd()).toEqual(response);
  });

  test(verifies("N14", "reasoning is asked for again when a stream is joined"), async () => {
    const { client, server } = openClient({ faults: [{ cutAt: 20 }] });
    await client.chat({ message: "Hello", accept: { reasoning: true } }).readToEnd();
    expect(server.requests[1]).toBe("GET /v1/responses/chat_1/events?after=0&reasoning=1");
    await client.follow("chat_1", { snapshot: true, reasoning: true }).readToEnd();
    expect(server.requests[2]).toBe("GET /v1/responses/chat_1/events?snapshot=1&reasoning=1");
  });

  test("a response that nobody knows is an error", async () => {
    const missing = { answer: { status: 404 } };
    const { client } = openClient({ faults: [missing, missing] });
    await expect(client.follow("chat_1").readToEnd()).rejects.toMatchObject({ name: "SheafApiError", status: 404 });
  });
});

describe("ends", () => {
  test("a loop that is left closes its connection", async () => {
    const { client, server } = openClient({ chunkSize: 1 });
    for await (const { event } of client.follow("chat_1")) if (event.event === "content_delta") break;
    expect(server.openBodies).toBe(0);
  });

  test("an abort ends what waits with its reason, and closes the connection", async () => {
    for (const fault of [{ network: "silent" }, { cutAt: 700, behindCut: "hang" }] as const) {
      const controller = new AbortController();
      const { client, server } = openClient({ faults: [fault] });
      const onConnection = (state: string): void => {
        if (fault.network !== "silent" || state === "connecting")
          setTimeout(() => controller.abort(new Error("enough")), 1);
      };
      await expect(client.follow("chat_1", { signal: controller.signal, onConnection }).readToEnd()).rejects.toThrow(
        "enough",
      );
      expect([server.requests.length, server.openBodies]).toEqual([1, 0]);
    }
  });

  test("an abort ends the wait between two connections, and one that came before prevents the request", async () => {
    const controller = new AbortController();
    const { client, server } = openClient(
      { faults: [{ cutAt: 0 }] },
      { reconnect: { delayMs: 3_600_000, maxDelayMs: 3_600_000 } },
    );
    const onConnection = (state: string): void =>
      void (state === "waiting" && queueMicrotask(() => controller.abort(new Error("enough"))));
    const { signal } = controller;
    await expect(client.chat({ message: "Hello" }, { signal, onConnection }).readToEnd()).rejects.toThrow("enough");
    await expect(client.chat({ message: "Hello" }, { signal }).readToEnd()).rejects.toThrow("enough");
    expect(server.requests.length).toBe(1);
  });

  test("a stream is read once", async () => {
    const stream = openClient().client.follow("chat_1");
    await stream.readToEnd();
    expect(() => stream[Symbol.asyncIterator]()).toThrow("read already");
  });

  test("an abort signal that outlives many streams keeps none of them", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => ((listeners += 1), add(...args));
    signal.removeEventListener = (...args: Parameters<typeof remove>) => ((listeners -= 1), remove(...args));
    await openClient({ faults: [{ cutAt: 400 }, { cutAt: 600 }] })
      .client.follow("chat_1", { signal })
      .readToEnd();
    expect(listeners).toBe(0);
  });
});

describe("the grammar", () => {
  test(verifies("X13", "a stream that keeps it passes, with reconnects and from a snapshot"), async () => {
    const { client } = openClient({ faults: [{ cutAt: 900 }] });
    let count = 0;
    for await (const { event } of verifyUpdates(client.follow("chat_1"), { requireExtensions: true }))
      count += Math.sign(event.id);
    expect(count).toBe(events.length);
    for await (const { response: after } of verifyUpdates(client.follow("chat_1", { snapshot: true })))
      expect(after.id).toBe("chat_1");
  });

  test(verifies("X13", "an event that breaks it is thrown with its clause"), async () => {
    const broken = events.filter(({ event }) => event !== "tool_result");
    const read = async (): Promise<void> => {
      for await (const { event } of verifyUpdates(openClient({ events: broken }).client.follow("chat_1")))
        expect(event.id).toBeLessThan(20);
    };
    await expect(read()).rejects.toMatchObject({ name: "ViolationError", violation: { clause: "N44" } });
  });
});
