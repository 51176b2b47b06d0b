/** Messages that wait in a store: in a file, and in a PostgreSQL database that several servers share. */
import type { ChatResponse } from "@sheaf/protocol";
import { expect, test, type TestContext } from "vitest";
import { begin, createCluster, readWhole, type Cluster } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { readEvents, startServer, startServerProcess, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Two seconds of text. */
const slow = {
  turns: [{ events: Array.from({ length: 20 }, (_, index) => [{ text: `${index} ` }, { wait_ms: 100 }]).flat() }],
  after: "loop",
};

test.each(["SIGKILL", "SIGTERM"] as const)(
  verifies(
    ["R-38", "R-01", "X9"],
    "messages in a file outlive a server that ends by %s, and start in their order, once",
  ),
  async (signal) => {
    const cwd = folders.newFolder();
    const place = { cwd, home: `${cwd}-home` };
    const server = await startServerProcess({
      ...place,
      args: ["--grace", "0"],
      script: { turns: [{ events: [{ text: "a" }, { wait_ms: 60_000 }] }] },
    });
    const running = await begin(server);
    const body = { message: "two", conversationId: running.conversationId, whenBusy: "queue", stream: true };
    const headers = { "Idempotency-Key": "two" };
    const queued = await server.chat(body, { headers });
    const path = queued.headers.get("location")!;
    const last = await begin(server, { ...body, message: "three" });
    await server.stop(signal);
    await Promise.all([queued.text().catch(() => undefined), running.read, last.read]);
    expect(last.seen).toEqual([]);

    const restarted = await startServer(place);
    const again = await restarted.chat(body, { headers });
    expect(again.headers.get("location")).toBe(path);
    expect(await readEvents(again)).toEqual(await readWhole(restarted, path, []));
    await readWhole(restarted, last.path, []);
    const { turns } = await restarted.readConversation(running.conversationId);
    expect(turns.map(({ message, response }) => [message, response.status])).toEqual([
      ["Go", "error"],
      ["two", "completed"],
      ["three", "completed"],
    ]);
  },
);

describeWithPostgres("a queue that servers share", (postgres) => {
  // They wait for answers of some seconds, so they wait together.
  const startTwo = async (
    { onTestFinished: onEnd }: TestContext,
    args: readonly string[] = [],
  ): Promise<[Cluster, TestServer, TestServer]> => {
    const cluster = await createCluster(postgres, folders, { script: slow, args, onEnd });
    return [cluster, ...(await Promise.all([cluster.start("a"), cluster.start("b")]))];
  };

  const readStatus = async (server: TestServer, path: string): Promise<string> =>
    ((await (await server.fetch(path)).json()) as ChatResponse).status;

  testDeep(
    verifies("R-38", "messages wait at all servers, and begin in their order, one at a time"),
    async (context) => {
      const [cluster, one, other] = await startTwo(context);
      const { path, conversationId, read } = await begin(one);
      const queue = { conversationId, whenBusy: "queue" };
      const second = await begin(other, queue);
      const third = await begin(one, queue);
      const removed = await begin(one, queue);
      const last = await begin(other, queue);
      expect(await readStatus(one, second.path)).toBe("streaming");
      expect((await other.fetch(`${removed.path}/cancel`, { method: "POST" })).status).toBe(202);
      await Promise.all([read, second.read, third.read, removed.read, last.read]);
      expect(removed.seen.at(-1)?.event).toBe("done");
      expect((await one.fetch(removed.path)).status).toBe(404);
      for (const { path: of, seen } of [second, third, last]) {
        await readWhole(one, of, seen);
        expect(await readStatus(other, of)).toBe("completed");
      }
      const rows = await postgres.run(cluster.store, "SELECT id FROM sheaf.responses ORDER BY position");
      expect(rows.map(({ id }) => `/v1/responses/${id as string}`)).toEqual([path, second.path, third.path, last.path]);
      const overlaps = await postgres.run(
        cluster.store,
        `SELECT r.id FROM sheaf.responses r JOIN sheaf.responses s ON s.position = r.position + 1
       WHERE (SELECT MAX((e->>'time')::bigint) FROM sheaf.event_groups g, json_array_elements(g.events::json) e WHERE g.response = r.key)
         > (SELECT MIN((e->>'time')::bigint) FROM sheaf.event_groups g, json_array_elements(g.events::json) e WHERE g.response = s.key)`,
      );
      expect(overlaps).toEqual([]);
      expect(await postgres.run(cluster.store, "SELECT * FROM sheaf.orders")).toEqual([]);
    },
  );

  test.concurrent(
    verifies(["C240", "C242", "R-38"], "a message at another server reaches the response that runs"),
    async (context) => {
      const call = { call: { tool: "run_terminal_cmd", arguments: { command: "rm README.md" } } };
      const turns = [{ events: [{ text: "One." }, call] }, { events: [{ text: "Two." }] }];
      const ports = { script: { turns }, args: ["--sandbox", "disabled"], onEnd: context.onTestFinished };
      const cluster = await createCluster(postgres, folders, ports);
      const [one, other] = await Promise.all([cluster.start("a"), cluster.start("b")]);
      const { conversationId, path, seen, read } = await begin(one, { approvals: "ask" });
      const findQuestion = () => seen.find(({ event }) => event === "approval_request");
      await expect.poll(findQuestion, { timeout: 20_000 }).toBeDefined();
      const steered = await begin(other, { conversationId, whenBusy: "steer", message: "use tabs" });
      const { approvalId } = findQuestion()!.data as { readonly approvalId: string };
      const headers = { "Content-Type": "application/json" };
      const answer = { method: "POST", headers, body: JSON.stringify({ optionId: "reject_once" }) };
      expect((await one.fetch(`${path}/approvals/${approvalId}`, answer)).status).toBe(202);
      await Promise.all([read, steered.read]);
      const response = await one.read<ChatResponse>(path);
      expect(response).toMatchObject({ status: "completed", messages: [{ message: "use tabs" }] });
      expect(steered.seen[0]).toMatchObject({ event: "snapshot", data: { response: { id: response.id } } });
      expect((await other.readConversation(conversationId)).turns).toHaveLength(1);
      expect(await postgres.run(cluster.store, "SELECT * FROM sheaf.orders")).toEqual([]);
    },
  );

  test.concurrent(
    verifies("R-38", "a message outlives the server that took it, and is answered once"),
    async (context) => {
      const cluster = await createCluster(postgres, folders, { script: slow, onEnd: context.onTestFinished });
      const [one, other] = await Promise.all([cluster.start("a"), cluster.startProcess("b")]);
      const { conversationId } = await begin(one);
      const headers = { "Idempotency-Key": "two" };
      const body = { message: "Go", conversationId, whenBusy: "queue", stream: true };
      const queued = await other.chat(body, { headers });
      const path = queued.headers.get("location")!;
      await other.stop("SIGKILL");
      await queued.text().catch(() => undefined);
      const again = await one.chat(body, { headers });
      expect(again.headers.get("location")).toBe(path);
      const seen = await readEvents(again);
      await readWhole(one, path, seen);
      expect(await readStatus(one, path)).toBe("completed");
      expect(await postgres.run(cluster.store, "SELECT id FROM sheaf.responses")).toHaveLength(2);
    },
  );

  test.concurrent(verifies("R-38", "a message replaces a response of the other server"), async (context) => {
    const [, one, other] = await startTwo(context);
    const first = await begin(one);
    await context.expect.poll(() => first.seen.length).toBeGreaterThan(3);
    const second = await begin(other, { conversationId: first.conversationId, whenBusy: "cancel" });
    await Promise.all([first.read, second.read]);
    expect(await readStatus(other, first.path)).toBe("error");
    expect(await readStatus(one, second.path)).toBe("completed");
  });

  test.concurrent(verifies("R-39", "the limit of running responses holds at all servers together"), async (context) => {
    const [, one, other] = await startTwo(context, ["--max-running", "3"]);
    const answers = await Promise.all(
      [one, other, one, other, one, other].map((server) => server.chat({ message: "Go", stream: true })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(await refused.json()).toMatchObject({ error: { errorCode: "LIMIT_REACHED" } });
  });

  test.concurrent(
    verifies("R-69", "the limit of waiting messages applies at all servers, and delays nobody else"),
    async (context) => {
      const [cluster, one, other] = await startTwo(context, ["--max-waiting", "6"]);
      const busy = [await begin(one), await begin(other)];
      const send = (server: TestServer, index: number): Promise<Response> =>
        server.chat({
          message: "Go",
          conversationId: busy[index % 2]!.conversationId,
          whenBusy: "queue",
          stream: true,
        });
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => send([one, other][index % 3 === 0 ? 0 : 1]!, index)),
      );
      expect(answers.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(4);
      const refused = answers.find(({ status }) => status === 429)!;
      expect(await refused.json()).toMatchObject({ error: { errorCode: "LIMIT_REACHED" } });
      expect(refused.headers.get("retry-after")).toBe("1");

      const ask = (body: object): Promise<Response> =>
        other.as(cluster.tokenOf("bob")).chat({ message: "Go", stream: true, model: "scripted:script.json", ...body });
      const first = await ask({});
      const conversationId = first.headers.get("x-conversation-id")!;
      const second = await ask({ conversationId, whenBusy: "queue" });
      await Promise.all([readEvents(first), readEvents(second)]);
      // Ada's first two have ended, too, and four of hers still wait or run: bob's second one did not wait for them.
      const rows = await postgres.run(cluster.store, "SELECT 1 FROM sheaf.orders WHERE response IS NULL");
      expect(rows.length).toBeGreaterThan(0);
    },
  );
});
