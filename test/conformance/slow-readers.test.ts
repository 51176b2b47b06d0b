/** Readers that stop reading: each keeps its stream, and gets every event of it once it reads on. */
import { get, type IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { chooseRows } from "../support/depth.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { verifies } from "../support/verifies.ts";

const line = `${"word ".repeat(3999)}end\n`;
const pieces = Array.from({ length: 450 }, (_, index) => [{ text: `${index} ${line}` }, { wait_ms: 1 }]).flat();

/** A stream that is open, and of which nothing is read. */
function open({ address, token }: TestServer, path: string): Promise<IncomingMessage> {
  const headers = { Authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    get(`${address}${path}`, { headers, agent: false }, resolve).on("error", reject);
  });
}

async function readIds(stream: IncomingMessage): Promise<readonly number[]> {
  stream.setEncoding("latin1");
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
}

const longer = { long: "9 MB in pieces", events: [{ text: "Begin. " }, { wait_ms: 300 }, ...pieces] };
const atOnce = { long: "10 MB at once", events: [{ text: "Begin. " }, { wait_ms: 300 }, { text: line.repeat(500) }] };

const rows = [
  { ...atOnce, query: "", silentMs: 0 },
  { ...longer, query: "", silentMs: 0 },
  { ...longer, query: "?snapshot=1", silentMs: 0 },
  { ...longer, query: "?format=stream-json", silentMs: 2500 },
  { ...longer, query: "?format=stream-json", silentMs: 0 },
  { ...longer, query: "", silentMs: 2500 },
];

test.each(chooseRows(rows, 2))(
  verifies(["N55", "X2"], "$long, $query, silent for another $silentMs ms: the reader gets each event once"),
  async ({ events, query, silentMs }) => {
    const server = await startServer({ script: { turns: [{ events }], after: "loop" } });
    const answer = await server.chat({ message: "go", stream: true });
    const path = `${answer.headers.get("location")!}/events`;
    const silent = await open(server, `${path}${query}`);
    const fast = await readIds(await open(server, `${path}${query.replace("?snapshot=1", "")}`));
    await answer.body?.cancel();
    await wait(silentMs);
    const ids = await readIds(silent);
    expect(ids).toEqual(fast.slice(-ids.length));
    expect(ids[0]).toBeLessThan(10);
    expect(ids.length).toBeGreaterThan(20);
  },
);
