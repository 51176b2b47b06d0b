import type { StreamEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { response } from "../../protocol/test/event-log.ts";
import { createResponseStore, type ResponseState, type ResponseStore } from "../src/index.ts";
import { openClient } from "./open-client.ts";

/** All states from now on to the last. */
async function readStates(store: ResponseStore): Promise<ResponseState[]> {
  const states = [store.getSnapshot()];
  await new Promise<void>((resolve) => {
    store.subscribe(() => {
      states.push(store.getSnapshot());
      if (store.getSnapshot().status !== "reading") resolve();
    });
  });
  return states;
}

test("a store reads to the end; its last state is the whole response", async () => {
  const store = createResponseStore(openClient().client.follow("chat_1"));
  const states = await readStates(store);
  expect(states[0]).toMatchObject({ status: "reading", response: { documents: [] } });
  expect(states.at(-1)).toEqual({ status: "ended", response });
  expect(store.getSnapshot()).toBe(states.at(-1));
});

test("what comes within one interval is one change", async () => {
  const store = createResponseStore(openClient().client.follow("chat_1"), { intervalMs: 60_000 });
  expect(await readStates(store)).toHaveLength(2);
});

test("the state is the same object until it changes, and each change is a new one", async () => {
  const store = createResponseStore(openClient({ chunkSize: 100, isPaced: true }).client.follow("chat_1"), {
    intervalMs: 0,
  });
  const states = await readStates(store);
  expect(new Set(states).size).toBe(states.length);
  expect(states.length).toBeGreaterThan(2);
});

test(verifies("N51", "a stream that breaks is told as failed, with what came of it"), async () => {
  const faults = Array.from({ length: 4 }, () => ({ without: ({ id }: StreamEvent) => id > 4 }));
  const { client } = openClient({ faults }, { reconnect: { maxTries: 2, delayMs: 0, maxDelayMs: 0 } });
  const end = (await readStates(createResponseStore(client.chat({ message: "Hi" })))).at(-1);
  expect(end).toMatchObject({
    status: "failed",
    error: { name: "StreamBrokenError" },
    response: { status: "streaming" },
  });
  expect(end?.response.documents).toHaveLength(1);
});

test("a listener that left hears nothing", async () => {
  const store = createResponseStore(openClient().client.follow("chat_1"), { intervalMs: 0 });
  let calls = 0;
  store.subscribe(() => (calls += 1))();
  await readStates(store);
  expect(calls).toBe(0);
});
