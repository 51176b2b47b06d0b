/**
 * a stream that is cut anywhere ends with the same documents, and reconnecting leaks nothing.
 * `SHEAF_SOAK_RUNS=1` is the full figure: every byte, 50 streams at 200 places, 1,000 reconnects in one turn.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { reduce, type StreamEvent } from "@sheaf/protocol";
import { encodeRetry, encodeSse } from "@sheaf/protocol/encode";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble } from "../../documents/src/assembler.ts";
import { runLog } from "../../documents/test/run-log-arbitrary.ts";
import { endTurn, toCall, toResult, toRunLog, toTextDeltas, toTurn } from "../../documents/test/run-log.ts";
import { createClient } from "../src/index.ts";
import { noWait } from "./open-client.ts";
import { createStreamServer, type Fault } from "./stream-server.ts";

const isFull = process.env["SHEAF_SOAK_RUNS"] !== undefined;
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Reads a stream through these faults; gives what is wrong with the result, if anything. */
async function explainRead(events: readonly StreamEvent[], faults: readonly Fault[]): Promise<string | undefined> {
  const server = createStreamServer({ events, faults });
  const client = createClient({ baseUrl: "http://sheaf.test", fetch: server.fetch, reconnect: noWait });
  const stream = client.chat({ message: "Hello" });
  const seen: StreamEvent[] = [];
  for await (const { event } of stream) seen.push(event);
  const place = JSON.stringify(faults);
  if (!isSame(seen, events)) return `${place}: other events`;
  if (!isSame(stream.response, reduce(events))) return `${place}: another response`;
  return server.openBodies === 0 ? undefined : `${place}: a connection stays open`;
}

function toCuts(cutAt: number, length: number): readonly Fault[] {
  const again = (cutAt * 7919) % (length + 1);
  return [
    { cutAt, behindCut: cutAt % 2 === 0 ? "end" : "break" },
    { cutAt: again, behindCut: cutAt % 3 === 0 ? "end" : "break" },
  ];
}

const text = "Grüße 🙂, a line of an answer with `code` and **words**.\n";
const largeStream = assemble(
  toRunLog([
    ...toTurn(1, [
      ...toTextDeltas(text.repeat(54), 23),
      ...toCall("call_1", "read_file", { target_file: "src/ä.ts" }, { size: 5 }),
      toResult("call_1", { output: text.repeat(10) }),
    ]),
    ...toTurn(2, toTextDeltas("```ts\nlet a = '🙂';\n```\nEnd.", 3)),
    endTurn,
  ]),
);

test(verifies("R-07", "a stream of 20 KB, cut at any byte"), { timeout: 600_000 }, async () => {
  const length = Buffer.byteLength(largeStream.map(encodeSse).join(""));
  expect(length).toBeGreaterThan(20_000);
  const wrong: unknown[] = [];
  for (let cutAt = 0; cutAt <= length; cutAt += isFull ? 1 : 127) {
    wrong.push(await explainRead(largeStream, toCuts(cutAt, length)));
  }
  expect(wrong.filter((each) => each !== undefined)).toEqual([]);
  process.stdout.write(`R-07: ${length} bytes, ${wrong.length} places, two cuts each\n`);
});

test(verifies("R-07", "any streams, cut anywhere"), { timeout: 600_000 }, async () => {
  const [streams, places] = isFull ? [50, 200] : [10, 15];
  const wrong: unknown[] = [];
  for (const log of fc.sample(runLog, streams)) {
    const events = assemble(log);
    const length = Buffer.byteLength(events.map(encodeSse).join(""));
    for (let place = 0; place < places; place += 1) {
      wrong.push(await explainRead(events, toCuts(Math.floor((length * place) / places), length)));
    }
  }
  expect(wrong.filter((each) => each !== undefined)).toEqual([]);
  process.stdout.write(`R-07: ${streams} streams, ${places} places each\n`);
});

/** Sends one event to each connection, then closes it. */
async function startStingyServer(events: readonly StreamEvent[]): Promise<Server> {
  const server = createServer((request, answer) => {
    const after = Number(new URL(request.url ?? "", "http://x").searchParams.get("after") ?? 0);
    const next = events.find(({ id }) => id > after);
    answer.writeHead(200, { "content-type": "text/event-stream", "x-response-id": "chat_1" });
    answer.end(encodeRetry(0) + (next === undefined ? "" : encodeSse(next)));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

/** Bytes in use behind a collection. */
function measureHeap(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

test(verifies("R-07", "many reconnects in one turn leave nothing behind"), { timeout: 600_000 }, async () => {
  const reconnects = isFull ? 1000 : 200;
  const events = assemble(toRunLog([...toTurn(1, toTextDeltas("x".repeat(reconnects), 1)), endTurn]));
  const server = await startStingyServer(events);
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const read = (): Promise<unknown> =>
    createClient({ baseUrl, reconnect: noWait }).follow("chat_1", { signal }).readToEnd();
  await read();
  const [heap, timers] = [measureHeap(), countTimers()];
  expect(await read()).toEqual(reduce(events));
  const growth = measureHeap() - heap;
  const connections = await new Promise<number>((resolve) => {
    server.getConnections((_, count) => resolve(count));
  });
  process.stdout.write(
    `R-07: ${events.length} connections, ${Math.round(growth / 1024)} KiB more heap, ${connections} open\n`,
  );
  expect(countTimers()).toBeLessThanOrEqual(timers);
  expect(connections).toBeLessThanOrEqual(2);
  expect(growth).toBeLessThan(2 * 1024 * 1024);
});

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}
