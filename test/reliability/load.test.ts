/** Many readers, slow ones and silent ones; a server that goes while it is busy. */
import { get, type IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { createStreamDecoder } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { readMemory } from "../support/process-memory.ts";
import { readEvents, startServerProcess, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns, reportFigure, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const isSoak = process.env.SHEAF_SOAK === "1";

/** A delta every 20 ms, each with some text. */
const createPacedScript = (seconds: number): object => ({
  turns: [
    {
      events: Array.from({ length: seconds * 50 }, (_, index) => [{ text: `delta ${index} ` }, { wait_ms: 20 }]).flat(),
    },
  ],
  after: "loop",
});

function open(server: TestServer, path: string): Promise<IncomingMessage> {
  const headers = { Authorization: `Bearer ${server.token}` };
  return new Promise((resolve, reject) => {
    get(`${server.address}${path}`, { headers, agent: false }, resolve).on("error", reject);
  });
}

describe("readers of one response", () => {
  test(
    verifies(["R-08", "N55"], "fast ones get every event soon, whatever the slow and the silent ones do"),
    async () => {
      const [fast, slow, silent, seconds] = isSoak ? [440, 50, 10, 60] : [40, 6, 2, 4];
      const cwd = folders.newFolder();
      const server = await startServerProcess({ cwd, script: createPacedScript(seconds) });
      await server.chat({ message: "warm up", budget: { timeout: 1 } });
      const idle = readMemory(server.child.pid!);
      const answer = await server.chat({ message: "go", stream: true });
      const path = `${answer.headers.get("location")!}/events`;
      void answer.body?.cancel();

      /** When the first reader got an event, by its id. */
      const firstAt = new Map<number, number>();
      const delays: number[] = [];
      const follow = async (): Promise<number[]> => {
        const decoder = createStreamDecoder();
        const ids: number[] = [];
        const stream = await open(server, path);
        stream.setEncoding("utf8");
        for await (const chunk of stream) {
          const now = performance.now();
          for (const { id } of decoder.push(chunk as string)) {
            ids.push(id);
            if (!firstAt.has(id)) firstAt.set(id, now);
            delays.push(now - firstAt.get(id)!);
          }
        }
        return ids;
      };
      const slowReaders = await Promise.all(Array.from({ length: slow }, () => open(server, path)));
      for (const reader of slowReaders) void readSlowly(reader);
      const silentReaders = await Promise.all(Array.from({ length: silent }, () => open(server, path)));
      let peak = 0;
      const sampler = setInterval(() => (peak = Math.max(peak, readMemory(server.child.pid!))), 100);
      const all = await Promise.all(Array.from({ length: fast }, follow));
      clearInterval(sampler);
      for (const reader of [...slowReaders, ...silentReaders]) reader.destroy();

      const [one = []] = all;
      expect(one.length).toBeGreaterThan(seconds * 40);
      for (const ids of all) expect(ids).toEqual(one);
      const p99 = delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.99)]!;
      const growth = (peak - idle) / 2 ** 20;
      expect(growth).toBeLessThan(200);
      reportFigure(
        "R-08",
        `${fast} fast, ${slow} slow, ${silent} silent readers, ${seconds} s: p99 ${p99.toFixed(1)} ms after the first, memory +${Math.round(growth)} MiB, 0 gaps`,
      );
      expect(p99).toBeLessThan(1000);
    },
    soakTimeout,
  );
});

/** A kilobyte a second. */
async function readSlowly(reader: IncomingMessage): Promise<void> {
  reader.pause();
  while (!reader.destroyed) {
    reader.read(1024);
    await wait(1000);
  }
}

describe("a graceful stop", () => {
  test(
    verifies("R-18", "of a busy server: every stream gets its last event, exit 0 in time"),
    async () => {
      const [turns, streams] = isSoak ? [50, 4] : [6, 3];
      const cwd = folders.newFolder();
      const args = ["--grace", "2"];
      const server = await startServerProcess({ cwd, script: createPacedScript(60), args });
      const paths = await Promise.all(
        Array.from({ length: turns }, async (_, index) => {
          const answer = await server.chat({ message: `turn ${index}`, stream: true });
          void answer.body?.cancel();
          return `${answer.headers.get("location")!}/events`;
        }),
      );
      // All are open: a connection that the server has not yet accepted is not a stream.
      const answers = await Promise.all(
        paths.flatMap((path) => Array.from({ length: streams }, () => server.fetch(path))),
      );
      const readers = answers.map((answer) => readEvents(answer));
      await wait(500);
      const stoppedAt = performance.now();
      const code = await server.stop("SIGTERM");
      const took = performance.now() - stoppedAt;
      expect(code).toBe(0);
      expect(took).toBeLessThan(7000);
      for (const events of await Promise.all(readers)) expect(events.at(-1)?.event).toBe("done");
      reportFigure(
        "R-18",
        `stop with ${turns} turns and ${turns * streams} streams: ${Math.round(took)} ms, every stream ended with done`,
      );
    },
    soakTimeout,
  );

  test(
    verifies(["R-18", "X9"], "again and again while messages come: none is lost, none is doubled"),
    async () => {
      const restarts = chooseRuns(3, 20);
      const cwd = folders.newFolder();
      const home = `${cwd}-home`;
      const script = { turns: [{ events: [{ text: "Hello." }, { wait_ms: 30 }, { text: " Bye." }] }], after: "loop" };
      let server = await startServerProcess({ cwd, home, script, args: ["--grace", "1"] });
      const done = new AbortController();
      const answered = new Map<string, string>();
      /** As a client does: the same key until there is an answer. */
      const send = async (key: string): Promise<void> => {
        for (;;) {
          try {
            const answer = await server.chat({ message: key }, { headers: { "Idempotency-Key": key } });
            if (answer.ok) {
              const { id } = (await answer.json()) as { id: string };
              answered.set(key, id);
              return;
            }
            await answer.arrayBuffer();
          } catch {
            // The server is on its way down or up.
          }
          await wait(50);
        }
      };
      const sending: Promise<void>[] = [];
      const sender = (async () => {
        for (let number = 0; !done.signal.aborted; number += 1) {
          sending.push(send(`message-${number}`));
          await wait(100);
        }
      })();
      for (let restart = 0; restart < restarts; restart += 1) {
        await wait(700);
        expect(await server.stop("SIGTERM")).toBe(0);
        server = await startServerProcess({ cwd, home, script, args: ["--grace", "1"] });
      }
      done.abort();
      await sender;
      await Promise.all(sending);
      const titles: string[] = [];
      for (let path: string | undefined = "/v1/conversations?limit=100"; path !== undefined;) {
        const page = (await server.read(path)) as {
          conversations: { title: string }[];
          next?: string;
        };
        titles.push(...page.conversations.map(({ title }) => title));
        path = page.next === undefined ? undefined : `/v1/conversations?limit=100&before=${page.next}`;
      }
      expect(titles.toSorted()).toEqual([...answered.keys()].toSorted());
      expect(new Set(answered.values()).size).toBe(answered.size);
      reportFigure("R-18", `${restarts} rolling restarts, ${answered.size} messages, 0 lost, 0 doubled`);
    },
    soakTimeout,
  );
});
