/** Two servers, as on two machines, on one PostgreSQL database. */
import { reduce, type ChatResponse } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { expect, test, type TestContext } from "vitest";
import { begin, createCluster, readWhole } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { readEvents, type ServerProcess, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Three seconds of text. */
const slow = {
  turns: [{ events: Array.from({ length: 30 }, (_, index) => [{ text: `${index} ` }, { wait_ms: 100 }]).flat() }],
  after: "loop",
};

describeWithPostgres("servers that share a database", (postgres) => {
  const startTwo = async (
    { onTestFinished: onEnd }: TestContext,
    script: unknown,
  ): Promise<[ServerProcess, TestServer]> => {
    const cluster = await createCluster(postgres, folders, { script, onEnd });
    return Promise.all([cluster.startProcess("a"), cluster.start("b")]);
  };

  test.concurrent(
    verifies(["R-30", "R-35"], "a reader at the other server goes on where it was, and follows live"),
    async (context) => {
      const [one, other] = await startTwo(context, slow);
      const { path, seen: first, read } = await begin(one);
      await context.expect.poll(() => first.length).toBeGreaterThan(5);
      const seen = first.slice(0, 5);
      const headers = { "Last-Event-ID": String(seen.at(-1)!.id) };
      const times: number[] = [];
      const rest = await readEvents(await other.fetch(`${path}/events`, { headers }), () => {
        times.push(performance.now());
        return false;
      });
      await read;
      expect([...seen, ...rest]).toEqual(first);
      expect(verify([...seen, ...rest])).toBeUndefined();
      // It came while it was written, not at the end: no wait was as long as the poll behind lost notices.
      const gaps = times.slice(1).map((time, index) => time - times[index]!);
      expect(Math.max(...gaps)).toBeLessThan(1500);
      expect(await (await other.fetch(path)).json()).toEqual(reduce(first));
    },
  );

  test.concurrent(verifies("R-36", "a cancel at the other server ends the response within 1 s"), async (context) => {
    const [one, other] = await startTwo(context, slow);
    const { path, seen, read } = await begin(one);
    await context.expect.poll(() => seen.length).toBeGreaterThan(5);
    const askedAt = performance.now();
    expect((await other.fetch(`${path}/cancel`, { method: "POST" })).status).toBe(202);
    await read;
    expect(performance.now() - askedAt).toBeLessThan(1000);
    const { status, documents } = (await (await other.fetch(path)).json()) as ChatResponse;
    expect(status).toBe("error");
    expect(documents.at(-1)).toMatchObject({ type: "error", metadata: { errorCode: "CANCELLED" } });
  });

  testDeep(
    verifies(["R-01", "R-32"], "a server dies: the other one ends its response, and goes on with it"),
    async (context) => {
      const [one, other] = await startTwo(context, slow);
      const { path, conversationId, seen, read } = await begin(one);
      await context.expect.poll(() => seen.length).toBeGreaterThan(5);
      await one.stop("SIGKILL");
      await read;
      await readWhole(other, path, seen);
      expect((await other.chat({ message: "Again", conversationId })).status).toBe(200);
    },
  );

  const asking = {
    turns: [
      { events: [{ call: { tool: "run_terminal_cmd", arguments: { command: "node -e 0" } } }] },
      { events: [{ text: "Done." }] },
    ],
    after: "loop",
  };

  /** A response at the first server that has asked. */
  const ask = async (context: TestContext, one: TestServer) => {
    const response = await begin(one, { approvals: "ask" });
    await context.expect.poll(() => response.seen.at(-1)?.event).toBe("approval_request");
    const request = response.seen.at(-1);
    if (request?.event !== "approval_request") throw new Error("nothing was asked");
    return { ...response, decisions: `${response.path}/approvals/${request.data.approvalId}` };
  };

  test.concurrent(verifies("R-37", "an approval is decided at the other server, once"), async (context) => {
    const cluster = await createCluster(postgres, folders, {
      script: asking,
      args: ["--sandbox", "disabled"],
      onEnd: context.onTestFinished,
    });
    const [one, other] = [await cluster.start("a"), await cluster.start("b")];
    const { read, seen, decisions } = await ask(context, one);
    const allow = { optionId: "allow_once" };
    const stranger = other.as(cluster.tokenOf("bob"));
    for (const [by, path, body, status] of [
      [stranger, decisions, allow, 404],
      [other, `${decisions}x`, allow, 404],
      [other, decisions, { optionId: "nonsense" }, 400],
      [other, decisions, { ...allow, editedArguments: { command: 7 } }, 400],
    ] as const) {
      expect((await by.send("POST", path, body)).status).toBe(status);
    }
    const answers = await Promise.all([other, one, other].map((server) => server.send("POST", decisions, allow)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409, 409]);
    await read;
    expect(seen.find(({ event }) => event === "approval_resolved")?.data).toMatchObject({ by: "ada" });
    expect(reduce(seen)).toMatchObject({ status: "completed", documents: [{ metadata: { exitCode: 0 } }, {}] });
    const late = await other.send("POST", decisions, allow);
    expect(await late.json()).toMatchObject({ error: { errorCode: "APPROVAL_RESOLVED" } });
    expect(await postgres.run(cluster.store, "SELECT * FROM sheaf.letters")).toEqual([]);
  });

  testDeep(
    verifies("R-37", "a decision whose notice is lost arrives; one that nobody takes does not count"),
    async (context) => {
      const cluster = await createCluster(postgres, folders, {
        script: asking,
        args: ["--sandbox", "disabled"],
        onEnd: context.onTestFinished,
      });
      const [one, other] = [await cluster.startProcess("a"), await cluster.start("b")];
      const { read, seen, path, decisions } = await ask(context, one);
      // Written as by a server whose notice was lost.
      await postgres.run(
        cluster.store,
        `INSERT INTO sheaf.letters (id, response, body) SELECT 'one', key, '${JSON.stringify({
          approvalId: decisions.split("/").at(-1),
          answer: { optionId: "reject_once", by: "ada" },
        })}' FROM sheaf.responses`,
      );
      await read;
      expect(seen.find(({ event }) => event === "approval_resolved")?.data).toMatchObject({ optionId: "reject_once" });

      const second = await ask(context, one);
      await one.stop("SIGKILL");
      const answer = await other.send("POST", second.decisions, { optionId: "allow_once" });
      expect(answer.status).toBe(409);
      await readWhole(other, second.path, second.seen);
      expect(second.path).not.toBe(path);
    },
  );
});
