/** Servers on one PostgreSQL database die or stop, and others go on with their responses (`--on-node-loss resume`). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { reduce, type RunEvent } from "@sheaf/protocol";
import { expect, test, type TestContext } from "vitest";
import { begin, createCluster, readWhole, type Cluster } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import type { ServerProcess, TestServer } from "../support/server.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const args = ["--on-node-loss", "resume", "--sandbox", "disabled"];

const words = (count: number) =>
  Array.from({ length: count }, (_, index) => [{ text: `${index} ` }, { wait_ms: 100 }]).flat();
const command = (line: string) => ({
  events: [{ text: "I run. " }, { call: { tool: "run_terminal_cmd", arguments: { command: line } } }],
});

describeWithPostgres("a server is lost", (postgres) => {
  // These wait for leases to end, so they wait together; those that stop the database follow alone.
  const start = async (
    { onTestFinished: onEnd }: TestContext,
    script: unknown,
    more: readonly string[] = [],
  ): Promise<[Cluster, ServerProcess, TestServer]> => {
    const cluster = await createCluster(postgres, folders, { script, args: [...args, ...more], onEnd });
    return [cluster, ...(await Promise.all([cluster.startProcess("a"), cluster.start("b")]))];
  };

  /** The log of the only response. */
  const readLog = async ({ store }: Cluster): Promise<RunEvent[]> => {
    const rows = await postgres.run(store, "SELECT events FROM sheaf.event_groups ORDER BY first_seq");
    return rows.flatMap(({ events }) => JSON.parse(events as string) as RunEvent[]);
  };

  const checkNumbers = (log: readonly RunEvent[]): void => {
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.filter(({ type }) => type === "run_end")).toHaveLength(1);
  };

  test.concurrent(
    verifies(["R-40", "R-41"], "it dies in the middle of a text: another one goes on with the log"),
    async (context) => {
      const script = { turns: [{ events: words(60) }, { events: [{ text: "And so on." }] }] };
      const [cluster, one, other] = await start(context, script);
      const { path, seen, read } = await begin(one);
      await context.expect.poll(() => seen.length).toBeGreaterThan(8);
      await one.stop("SIGKILL");
      await read;
      const events = await readWhole(other, path, seen);
      const response = reduce(events);
      expect(response).toMatchObject({ status: "completed", documents: [{ type: "text" }, { content: "And so on." }] });
      expect(response.metadata.notices).toEqual([
        { code: "ANSWER_CUT", message: expect.stringContaining("ended in the middle of a message") as string },
      ]);
      const log = await readLog(cluster);
      checkNumbers(log);
      expect(log.filter((event) => event.type === "turn_end")).toMatchObject([{ cut: true }, { finishReason: "stop" }]);
      expect(log.filter((event) => event.type === "turn_start")[1]?.note).toMatch(
        /broke off there: continue at its end, without repeating it/,
      );
      expect(await postgres.run(cluster.store, "SELECT * FROM sheaf.orders")).toEqual([]);
    },
  );

  testDeep(
    verifies("R-40", "it dies before its first event is stored: another one begins with the message"),
    async (context) => {
      const script = { turns: [{ events: words(60) }, { events: [{ text: "Answered." }] }] };
      const [cluster, one, other] = await start(context, script);
      const headers = { "Idempotency-Key": "once" };
      const answer = await one.chat({ message: "Go", stream: true }, { headers });
      const path = answer.headers.get("location")!;
      // A moment that no test can catch: the response is there, and none of its events.
      one.child.kill("SIGSTOP");
      await postgres.run(cluster.store, "DELETE FROM sheaf.event_groups");
      await one.stop("SIGKILL");
      const again = await other.chat({ message: "Go", stream: true }, { headers });
      expect(again.headers.get("location")).toBe(path);
      await again.text();
      await readWhole(other, path, []);
      const log = await readLog(cluster);
      checkNumbers(log);
      expect(log[0]).toMatchObject({ type: "run_start", prompt: "Go" });
      expect(log.at(-1)).toMatchObject({ type: "run_end", reason: "end_turn" });
    },
  );

  test.concurrent(
    verifies(["R-40", "R-42"], "it dies in the middle of a call: the model learns of it, and it ran once"),
    async (context) => {
      const turns = [command("echo x >> count; sleep 60"), { events: [{ text: "I look." }] }];
      const [cluster, one, other] = await start(context, { turns }, ["--force"]);
      const { path, seen, read } = await begin(one);
      await context.expect.poll(() => existsSync(join(cluster.cwd, "count"))).toBe(true);
      await one.stop("SIGKILL");
      await read;
      expect(reduce(await readWhole(other, path, seen))).toMatchObject({
        status: "completed",
        documents: [{ type: "text" }, { type: "terminal_command" }, { type: "error" }, { content: "I look." }],
      });
      const log = await readLog(cluster);
      checkNumbers(log);
      expect(log.filter((event) => event.type === "tool_result")).toMatchObject([
        { status: "error", error: { code: "INTERRUPTED", message: expect.stringContaining("not known") as string } },
      ]);
      expect(readFileSync(join(cluster.cwd, "count"), "utf8")).toBe("x\n");
    },
  );

  test.concurrent(
    verifies(["R-40", "R-42"], "it dies while it asks: the call did not run, and may be asked for again"),
    async (context) => {
      const turns = [command("echo x >> count"), command("echo y >> count"), { events: [{ text: "Done." }] }];
      const [cluster, one, other] = await start(context, { turns });
      const { path, seen, read } = await begin(one, { approvals: "ask" });
      await context.expect.poll(() => seen.at(-1)?.event).toBe("approval_request");
      await one.stop("SIGKILL");
      await read;
      const asked = async (): Promise<RunEvent[]> =>
        (await readLog(cluster)).filter(({ type }) => type === "approval_request");
      await context.expect.poll(async () => (await asked()).length).toBe(2);
      const request = (await asked())[1];
      if (request?.type !== "approval_request") throw new Error("nothing was asked");
      const decided = await other.fetch(`${path}/approvals/${request.approvalId}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ optionId: "allow_once" }),
      });
      expect(decided.status).toBe(202);
      expect(reduce(await readWhole(other, path, seen)).status).toBe("completed");
      const log = await readLog(cluster);
      checkNumbers(log);
      expect(log.filter((event) => event.type === "approval_resolved")).toMatchObject([
        { by: "cancelled" },
        { by: "ada" },
      ]);
      expect(log.find((event) => event.type === "tool_result")?.error).toMatchObject({
        code: "INTERRUPTED",
        message: expect.stringContaining("did not run") as string,
      });
      expect(readFileSync(join(cluster.cwd, "count"), "utf8")).toBe("y\n");
    },
  );

  testDeep(
    verifies(["R-40", "R-43"], "it stops for longer than its lease: it writes nothing more, its command ends"),
    async (context) => {
      const beats = "while true; do echo x >> beats; sleep 0.1; done";
      const script = { turns: [command(beats), { events: words(30) }], after: "repeat_last" };
      const [cluster, one, other] = await start(context, script, ["--force"]);
      const { path, conversationId, seen, read } = await begin(one);
      await context.expect.poll(() => existsSync(join(cluster.cwd, "beats"))).toBe(true);
      one.child.kill("SIGSTOP");
      const events = readWhole(other, path, []);
      await context.expect
        .poll(async () => (await readLog(cluster)).filter(({ type }) => type === "turn_start").length, {
          timeout: 30_000,
        })
        .toBe(2);
      one.child.kill("SIGCONT");
      const whole = await events;
      await read;
      // What its readers got is the beginning of what is stored.
      expect(whole.slice(0, seen.length)).toEqual(seen);
      expect(reduce(whole).status).toBe("completed");
      checkNumbers(await readLog(cluster));
      const readBeats = (): string => readFileSync(join(cluster.cwd, "beats"), "utf8");
      await sleep(3000);
      const before = readBeats();
      await sleep(1000);
      expect(readBeats()).toBe(before);
      expect((await one.chat({ message: "Again", conversationId })).status).toBe(200);
    },
  );

  test.concurrent(verifies("R-40", "resume needs a database, and the flag one of two words"), async () => {
    const cwd = folders.newFolder();
    for (const [flags, problem] of [
      [["--on-node-loss", "resume"], /needs a database/],
      [["--on-node-loss", "go-on"], /use end or resume/],
    ] as const) {
      const { code, stderr } = await runSheaf(["serve", "--model", "offline", "--port", "0", ...flags], {
        cwd,
        home: `${cwd}-home`,
      });
      expect(code).toBe(2);
      expect(stderr).toMatch(problem);
    }
  });

  testDeep(
    verifies("R-71", "the database is away for long: a response ends or goes on, and readers see what is stored"),
    async () => {
      const script = { turns: [{ events: words(300) }, { events: [{ text: "And so on." }] }], after: "repeat_last" };
      const cases = await Promise.all(
        [[], args].map(async (flags) => {
          const cluster = await createCluster(postgres, folders, { script, args: flags });
          const server = await cluster.start("a");
          return { cluster, server, outcome: flags === args ? "completed" : "error", ...(await begin(server)) };
        }),
      );
      for (const { seen } of cases) await expect.poll(() => seen.length).toBeGreaterThan(8);
      await postgres.stop("SIGQUIT");
      // Their streams break, and do not end: nothing of an end could be stored.
      await Promise.all(cases.map(({ read }) => read));
      for (const { seen } of cases) expect(seen.some(({ event }) => event === "done")).toBe(false);
      await postgres.start();
      for (const { cluster, server, outcome, path, conversationId, seen } of cases) {
        expect(reduce(await readWhole(server, path, seen)).status).toBe(outcome);
        checkNumbers(await readLog(cluster));
        const again = await begin(server, { conversationId });
        await again.read;
        expect(again.seen.at(-1)?.event).toBe("done");
      }
    },
  );
});
