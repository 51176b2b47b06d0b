/** Two servers, as on two machines, on one PostgreSQL database. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type ChatResponse, type StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { expect, test } from "vitest";
import { describeWithPostgres } from "../support/postgres.ts";
import { readEvents, startServer, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Three seconds of text. */
const slow = {
  turns: [{ events: Array.from({ length: 30 }, (_, index) => [{ text: `${index} ` }, { wait_ms: 100 }]).flat() }],
  after: "loop",
};

describeWithPostgres("servers that share a database", (postgres) => {
  /** Two servers with the same workspace, tokens and store, and nothing else in common. */
  const startTwo = async (script: unknown): Promise<[TestServer, TestServer]> => {
    const address = await postgres.clearDatabase();
    const cwd = folders.newFolder();
    const tokenFile = join(folders.path, "tokens");
    const scriptFile = join(folders.path, "script.json");
    writeFileSync(scriptFile, JSON.stringify(script));
    const model = `scripted:${scriptFile}`;
    const token = randomBytes(24).toString("hex");
    writeFileSync(tokenFile, `ada ${token}\n`, { mode: 0o600 });
    const start = async (name: string): Promise<TestServer> => {
      const server = await startServer({
        home: `${cwd}-${name}`,
        cwd,
        args: ["--token-file", tokenFile, "--offer", model],
        environment: { SHEAF_STORE: address },
      });
      const request: TestServer["fetch"] = (path, init = {}) =>
        fetch(`${server.address}${path}`, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${token}` },
        });
      const headers = { "content-type": "application/json" };
      return {
        ...server,
        fetch: request,
        chat: (body, init = {}) =>
          request("/v1/chat", {
            method: "POST",
            body: JSON.stringify({ model, ...body }),
            headers: { ...headers, ...Object.fromEntries(new Headers(init.headers)) },
          }),
      };
    };
    return Promise.all([start("a"), start("b")]);
  };

  const begin = async (server: TestServer): Promise<{ path: string; answer: Response }> => {
    const answer = await server.chat({ message: "Go", stream: true });
    return { path: answer.headers.get("location")!, answer };
  };

  test(verifies(["R-30", "R-35"], "a reader at the other server goes on where it was, and follows live"), async () => {
    const [one, other] = await startTwo(slow);
    const { path, answer } = await begin(one);
    const first: StreamEvent[] = [];
    const reading = readEvents(answer, (event) => {
      first.push(event);
      return false;
    });
    await expect.poll(() => first.length).toBeGreaterThan(5);
    const seen = first.slice(0, 5);
    const headers = { "Last-Event-ID": String(seen.at(-1)!.id) };
    const times: number[] = [];
    const rest = await readEvents(await other.fetch(`${path}/events`, { headers }), () => {
      times.push(performance.now());
      return false;
    });
    await reading;
    expect([...seen, ...rest]).toEqual(first);
    expect(verify([...seen, ...rest])).toBeUndefined();
    // It came while it was written, not at the end: no wait was as long as the poll behind lost notices.
    const gaps = times.slice(1).map((time, index) => time - times[index]!);
    expect(Math.max(...gaps)).toBeLessThan(1500);
    expect(await (await other.fetch(path)).json()).toEqual(reduce(first));
  });

  test(verifies("R-36", "a cancel at the other server ends the response within 1 s"), async () => {
    const [one, other] = await startTwo(slow);
    const { path, answer } = await begin(one);
    const events: StreamEvent[] = [];
    const begun = Promise.withResolvers<void>();
    const reading = readEvents(answer, (event) => {
      events.push(event);
      if (events.length > 5) begun.resolve();
      return false;
    });
    await begun.promise;
    const askedAt = performance.now();
    expect((await other.fetch(`${path}/cancel`, { method: "POST" })).status).toBe(202);
    await reading;
    expect(performance.now() - askedAt).toBeLessThan(1000);
    const { status, documents } = (await (await other.fetch(path)).json()) as ChatResponse;
    expect(status).toBe("error");
    expect(documents.at(-1)).toMatchObject({ type: "error", metadata: { errorCode: "CANCELLED" } });
  });

  test(verifies(["R-01", "R-32"], "a server dies: the other one ends its response, and goes on with it"), async () => {
    const [one, other] = await startTwo(slow);
    const { path, answer } = await begin(one);
    const conversationId = answer.headers.get("x-conversation-id")!;
    const seen: StreamEvent[] = [];
    const reading = readEvents(answer, (event) => {
      seen.push(event);
      return false;
    }).catch(() => undefined);
    await expect.poll(() => seen.length).toBeGreaterThan(5);
    await one.stop("SIGKILL");
    await reading;
    const events = await readEvents(await other.fetch(`${path}/events`));
    expect(events.slice(0, seen.length)).toEqual(seen);
    expect(verify(events)).toBeUndefined();
    expect(events.at(-1)?.event).toBe("done");
    expect((await other.chat({ message: "Again", conversationId })).status).toBe(200);
  });

  test(verifies(["X9", "R-30"], "a request that comes again at the other server is the same response"), async () => {
    const [one, other] = await startTwo({ turns: [{ events: [{ text: "Hello." }] }], after: "loop" });
    const headers = { "Idempotency-Key": "one" };
    const answers = [await one.chat({ message: "Go" }, { headers }), await other.chat({ message: "Go" }, { headers })];
    const [first, second] = await Promise.all(answers.map((answer) => answer.json() as Promise<unknown>));
    expect(second).toEqual(first);
    const { conversations } = (await (await other.fetch("/v1/conversations")).json()) as { conversations: object[] };
    expect(conversations).toHaveLength(1);
  });
});
