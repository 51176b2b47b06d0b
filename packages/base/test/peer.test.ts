import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { SheafError } from "../src/errors.ts";
import { createPeer, type Peer } from "../src/peer.ts";

/** Two sides, whose messages are cloned as between processes. */
function createPair(serve: (...args: never[]) => unknown): Peer {
  const near: Peer = createPeer((message) => far.receive(structuredClone(message)));
  const far: Peer = createPeer((message) => near.receive(structuredClone(message)), serve);
  return near;
}

const failure = new SheafError("STORAGE_FULL", "the disk is full", { details: "7 bytes" });

test.each([
  ["a value", (value: number) => value + 1, [1], 2],
  ["keys of a model", (value: unknown) => value, [{ $: "function", id: 0 }], { $: "function", id: 0 }],
  ["a map", (value: unknown) => value, [new Map([["a", new Set([1])]])], new Map([["a", new Set([1])]])],
  ["a function", async (add: (n: number) => Promise<number>) => (await add(1)) * 2, [(n: number) => n + 1], 4],
  ["a function that comes back", (own: unknown) => own, [Math.max], Math.max],
  [
    "a function that is never answered",
    (tell: () => unknown) => void tell(),
    [() => Promise.reject(failure)],
    undefined,
  ],
  ["an aborted signal", ({ reason }: AbortSignal) => reason, [AbortSignal.abort(failure)], failure],
])("%s passes", async (_, serve, args, expected) => {
  expect(await createPair(serve as () => unknown).call(...args)).toEqual(expected);
});

/** An object inside an object, and so on, as a model or a tool server may write it. */
function nest(levels: number): object {
  return JSON.parse(`${'{"a":'.repeat(levels)}{"$":1}${"}".repeat(levels)}`) as object;
}

test.each([100, 2500])("a value of %d levels passes in both directions", async (levels) => {
  const seen: string[] = [];
  const back = await createPair((value: object) => (seen.push(JSON.stringify(value)), value)).call(nest(levels));
  expect([seen[0], JSON.stringify(back)]).toEqual(Array.from({ length: 2 }, () => JSON.stringify(nest(levels))));
});

test("a value that cannot travel fails its call alone, and an error travels without such fields", async () => {
  const near = createPair((isError: boolean) => {
    if (isError) throw Object.assign(new Error("refused"), { status: 429, key: Symbol("a"), body: Promise.resolve() });
    return Symbol("b");
  });
  await expect(near.call(Symbol("c"))).rejects.toThrow("Symbol(c) could not be cloned");
  await expect(near.call(false)).rejects.toThrow("Symbol(b) could not be cloned");
  await expect(near.call(true)).rejects.toMatchObject({ message: "refused", status: 429 });
});

test("an error keeps its code, and a later abort its reason", async () => {
  const controller = new AbortController();
  const failed = createPair(async (signal: AbortSignal) => {
    await new Promise((resolve) => {
      signal.addEventListener("abort", resolve);
    });
    throw signal.reason;
  }).call(controller.signal);
  controller.abort(failure);
  await expect(failed).rejects.toMatchObject({ code: "STORAGE_FULL", message: failure.message, details: "7 bytes" });
});

test("items come one by one, and stop when nobody reads on", async () => {
  const given: number[] = [];
  async function* count(): AsyncGenerator<number> {
    try {
      for (let number = 1; ; number += 1) yield number;
    } finally {
      given.push(-1);
    }
  }
  await createPair(async (start: () => AsyncIterable<number>) => {
    for await (const number of start()) if (given.push(number) === 3) break;
  }).call(count);
  expect(given).toEqual([1, 2, 3, -1]);
});

test("calls fail once it is closed, also those that are open", async () => {
  const near = createPair(() => new Promise(() => undefined));
  const open = near.call();
  near.close(failure);
  await expect(open).rejects.toBe(failure);
  await expect(near.call()).rejects.toBe(failure);
});

test("a side keeps a function, and what it holds, only while the other side may call it", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const near = createPair(async (read: () => Promise<object>) => void (await read()));
  const pass = async (): Promise<WeakRef<object>> => {
    const request = { text: "a long conversation" };
    await near.call(() => request);
    return new WeakRef(request);
  };
  const passed = await pass();
  await expect.poll(() => (collect(), passed.deref() === undefined)).toBe(true);
});
