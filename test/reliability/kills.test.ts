/** The server is killed at random moments, again and again, on one store. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { reduce, type ChatResponse, type StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { readEvents, startServerProcess, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns, createRandom, reportFigure, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Text, reads, an edit and a command, with pauses: kills meet all of them. */
const script = {
  turns: [
    {
      events: [
        { text: "I look around. ", repeat: 20, chunk: 3 },
        { wait_ms: 40 },
        { call: { tool: "list_dir", arguments: { target_directory: "." } } },
      ],
    },
    {
      events: [
        { text: "I write. ", repeat: 20, chunk: 3 },
        { call: { tool: "write_file", arguments: { target_file: "out.txt", content: "x\n".repeat(500) } } },
      ],
    },
    {
      events: [
        { wait_ms: 40 },
        { text: "I run. " },
        { call: { tool: "run_terminal_cmd", arguments: { command: "seq 200; sleep 0.05" } } },
      ],
    },
    { events: [{ text: "Done. ", repeat: 40, chunk: 3 }] },
  ],
  after: "loop",
};

/** Reads until the connection breaks; what came until then has been seen. */
async function readUntilBroken(answer: Response, seen: StreamEvent[]): Promise<void> {
  try {
    await readEvents(answer, (event) => {
      seen.push(event);
      return false;
    });
  } catch {
    // The server is gone.
  }
}

async function readWhole(server: TestServer, path: string): Promise<StreamEvent[]> {
  return readEvents(await server.fetch(`${path}/events`));
}

describe("SIGKILL of the server at a random moment of a turn", () => {
  test(
    verifies(["R-01", "R-03"], "loses nothing that a client saw, and ends what was cut within 5 s of the restart"),
    async () => {
      const runs = chooseRuns(6, 200);
      const random = createRandom(7);
      const cwd = folders.newFolder();
      const home = `${cwd}-home`;
      const args = ["--force", "--sandbox", "disabled"];
      let slowest = 0;
      let acknowledged = 0;
      let server = await startServerProcess({ cwd, home, script, args });
      for (let run = 0; run < runs; run += 1) {
        const seen: StreamEvent[] = [];
        const answer = await server.chat({ message: `run ${run}`, stream: true });
        const path = answer.headers.get("location")!;
        const reading = readUntilBroken(answer, seen);
        await wait(random() * 400);
        await server.stop("SIGKILL");
        await reading;
        acknowledged += seen.length;

        const restartedAt = performance.now();
        server = await startServerProcess({ cwd, home, script, args });
        const events = await readWhole(server, path);
        slowest = Math.max(slowest, performance.now() - restartedAt);
        expect(events.slice(0, seen.length)).toEqual(seen);
        expect(verify(events)).toBeUndefined();
        expect(events.at(-1)?.event).toBe("done");
        const stored = await server.read<ChatResponse>(path);
        expect(stored).toEqual(reduce(events));
        if (stored.status === "error") expect(stored.documents.at(-1)?.type).toBe("error");
      }
      expect(slowest).toBeLessThan(5000);
      const all = (await server.read("/v1/conversations?limit=100")) as { conversations: object[] };
      expect(all.conversations).toHaveLength(Math.min(runs, 100));
      reportFigure(
        "R-01",
        `${runs} kills, ${acknowledged} events seen, 0 lost, slowest recovery ${Math.round(slowest)} ms`,
      );
    },
    soakTimeout,
  );

  test(
    verifies("R-04", "between the end of a tool and its result: the tool does not run a second time"),
    async () => {
      const runs = chooseRuns(5, 100);
      const random = createRandom(11);
      const cwd = folders.newFolder();
      const home = `${cwd}-home`;
      const args = ["--force", "--sandbox", "disabled"];
      const counting = {
        turns: [
          { events: [{ call: { tool: "run_terminal_cmd", arguments: { command: "echo $PROMPT x >> count.txt" } } }] },
          { events: [{ text: "Counted." }] },
        ],
        after: "loop",
      };
      let server = await startServerProcess({ cwd, home, script: counting, args });
      const count = (): number =>
        existsSync(join(cwd, "count.txt")) ? readFileSync(join(cwd, "count.txt"), "utf8").split("\n").length - 1 : 0;
      for (let run = 0; run < runs; run += 1) {
        const before = count();
        const answer = await server.chat({ message: "count", stream: true });
        const path = answer.headers.get("location")!;
        const reading = readUntilBroken(answer, []);
        while (count() === before) await wait(1);
        await wait(random() * 6);
        await server.stop("SIGKILL");
        await reading;
        server = await startServerProcess({ cwd, home, script: counting, args });
        const { status, conversationId } = reduce(await readWhole(server, path));
        expect(status).not.toBe("streaming");
        expect((await server.fetch(`/v1/conversations/${conversationId}`)).status).toBe(200);
        await wait(50);
        expect(count()).toBe(before + 1);
      }
      reportFigure("R-04", `${runs} kills between end and result, 0 second runs`);
    },
    soakTimeout,
  );
});

describe("SIGKILL during a write", () => {
  test(
    verifies("R-16", "leaves the old file or the new one, never a mixture"),
    async () => {
      const runs = chooseRuns(4, 200);
      const random = createRandom(13);
      const cwd = folders.newFolder();
      const size = 5_000_000;
      const file = join(cwd, "large.txt");
      const args = ["--force", "--sandbox", "disabled"];
      for (let run = 0; run < runs; run += 1) {
        const [old, fresh] = run % 2 === 0 ? ["a", "b"] : ["b", "a"];
        writeFileSync(file, old.repeat(size));
        const writing = {
          turns: [
            {
              events: [
                { call: { tool: "write_file", arguments: { target_file: "large.txt", content: fresh.repeat(size) } } },
              ],
            },
          ],
        };
        const server = await startServerProcess({ cwd, home: `${cwd}-home-${run % 2}`, script: writing, args });
        const reading = readUntilBroken(await server.chat({ message: "write", stream: true }), []);
        await wait(random() * 150);
        await server.stop("SIGKILL");
        await reading;
        const text = readFileSync(file, "utf8");
        expect(text.length).toBe(size);
        expect([old.repeat(size), fresh.repeat(size)]).toContain(text);
      }
      reportFigure("R-16", `${runs} kills, 0 mixed files`);
    },
    soakTimeout,
  );
});
