/** The store refuses the end of a response: no reader of the server sees it, in any form. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { reduce, type ChatResponse } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { SheafError } from "@sheaf/base/errors";
import { createPostgresStore } from "@sheaf/store/postgres";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { SharedStore } from "@sheaf/store/store";
import { createThreadedSqliteStore } from "@sheaf/store/threaded-sqlite";
import { testDeep } from "../../../test/support/describe-where.ts";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { readEvents } from "../../../test/support/server.ts";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const folders = createTestFolder();

interface RefusingStore {
  readonly store: SharedStore;
  /** From now on no group with `run_end` can be stored. */
  readonly refuseEnds: () => unknown;
  readonly allowEnds: () => unknown;
}

const message = { messages: [{ role: "user", content: "go" }] };
const forms: readonly (readonly [path: string, body: object, whole: "whole" | "stream"])[] = [
  ["/v1/chat", { message: "go", stream: true }, "stream"],
  ["/v1/chat", { message: "go" }, "whole"],
  ["/v1/chat/completions", { ...message, stream: true }, "stream"],
  ["/v1/chat/completions", message, "whole"],
  ["/v1/responses", { input: "go", stream: true }, "stream"],
  ["/v1/responses", { input: "go" }, "whole"],
  [
    "/v1/ui/chat",
    { id: "my chat", messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "go" }] }] },
    "stream",
  ],
];

/** Words by which each form says that the answer is complete. */
const complete =
  /"(status|finishReason|type)":"(completed|end_turn|finish|response\.completed)"|"finish_reason":"stop"|event: done|\[DONE\]/;

/** What a client gets until its stream ends or breaks. */
async function readText(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of answer.body!) text += decoder.decode(chunk, { stream: true });
  } catch {
    text += "(broken)";
  }
  return text;
}

function testUnstoredEnds(open: () => Promise<RefusingStore>, testEnds = test as typeof testDeep): void {
  testEnds(
    verifies(["R-03", "R-71"], "streams break, whole answers wait; then all see the end that is stored"),
    async () => {
      const { store, refuseEnds, allowEnds } = await open();
      const server: TestApp = await openApp({ store });
      await refuseEnds();
      const sent = forms.map(([path, body]) => server.send("POST", path, body));
      const broken = forms.flatMap(([path, , kind], index) =>
        kind === "stream" ? [sent[index]!.then(async (answer) => [path, await readText(answer)] as const)] : [],
      );
      const seen: (readonly [string, string])[] = [];
      for (const reading of broken) seen.push(await reading);
      for (const [path, text] of seen) {
        expect([path, text]).toEqual([path, expect.stringMatching(/Hello world[\s\S]*\(broken\)$/)]);
        expect([path, text]).toEqual([path, expect.not.stringMatching(complete)]);
      }
      await expect.poll(() => store.listOpenResponses()).toHaveLength(forms.length);
      const left = await store.listOpenResponses();
      for (const { id } of left) {
        const now = await server.read<ChatResponse>(`/v1/responses/${id}`);
        expect(now).toMatchObject({ status: "streaming" });
      }
      await allowEnds();
      // The server looks every 3 s for what was left open, also by itself.
      const wholes = await Promise.all(forms.flatMap(([, , kind], index) => (kind === "whole" ? [sent[index]!] : [])));
      for (const answer of wholes) expect(await answer.text()).not.toMatch(complete);
      await expect.poll(() => store.listOpenResponses(), { timeout: 8000 }).toEqual([]);
      for (const { id } of left) {
        const events = await readEvents(await server.fetch(`/v1/responses/${id}/events`));
        expect(reduce(events)).toMatchObject({
          status: "error",
          documents: [{ content: "Hello world." }, {}],
        });
      }
    },
  );
}

test(
  verifies(["R-34", "N51"], "a store that fails breaks streams, and shows its names to the operator alone"),
  async () => {
    const named = new SheafError(
      "STORAGE_LOCKED",
      'the store (database "db" at secret-host) failed (role "bob"): wait',
    );
    const failure = new SheafError("STORAGE_LOCKED", "the store failed: wait", { source: "storage", cause: named });
    const stored = createSqliteStore(":memory:");
    const store = { ...stored, forOwner: () => ({ ...stored, readEvents: () => Promise.reject(failure) }) };
    const server = await openApp({ store });
    await stored.createResponse({ id: "chat_a", conversationId: "conv_a", workspace: "/w", title: "t", createdAt: 1 });
    const stream = await server.fetch("/v1/responses/chat_a/events");
    expect([stream.status, await readText(stream)]).toEqual([200, expect.stringMatching(/^retry: \d+\n\n\(broken\)$/)]);
    const whole = await server.fetch("/v1/responses/chat_a");
    expect([whole.status, await whole.text()]).toEqual([503, expect.not.stringMatching(/secret-host|bob/)]);
    const lines = server
      .log()
      .split("\n")
      .filter((line) => line.includes('"store_failed"'));
    expect(lines).toEqual([expect.stringContaining("secret-host"), expect.stringContaining("secret-host")]);
  },
);

describe("a server with a file", () => {
  testUnstoredEnds(async () => {
    const file = join(folders.newFolder(), "sheaf.db");
    const store = createThreadedSqliteStore(file);
    const run = (sql: string): void => {
      const database = new DatabaseSync(file, { timeout: 5000 });
      database.exec(sql);
      database.close();
    };
    return {
      store,
      refuseEnds: () =>
        run(
          `CREATE TRIGGER refuse BEFORE INSERT ON event_groups WHEN NEW.events LIKE '%"type":"run_end"%'
           BEGIN SELECT RAISE(ABORT, 'refused'); END`,
        ),
      allowEnds: () => run("DROP TRIGGER refuse"),
    };
  });
});

describeWithPostgres("a server with a database", (postgres) => {
  testUnstoredEnds(async () => {
    const address = await postgres.clearDatabase();
    const store = await createPostgresStore(address);
    return {
      store,
      refuseEnds: () =>
        postgres.run(
          address,
          `CREATE FUNCTION sheaf.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused'' USING ERRCODE = ''53100''; END';
           CREATE TRIGGER refuse BEFORE INSERT ON sheaf.event_groups FOR EACH ROW
           WHEN (NEW.events LIKE '%"type":"run_end"%') EXECUTE FUNCTION sheaf.refuse()`,
        ),
      allowEnds: () => postgres.run(address, "DROP TRIGGER refuse ON sheaf.event_groups"),
    };
  }, testDeep);

  test(verifies("R-40", "a store that is away in the middle of a take-over ends no response"), async () => {
    const address = await postgres.clearDatabase();
    const stored = await createPostgresStore(address);
    const away = new SheafError("STORAGE_LOCKED", "the store is away: wait", { source: "storage" });
    let state: "running" | "taken over" | "failed" = "running";
    const store: SharedStore = {
      ...stored,
      forOwner(owner) {
        const own = stored.forOwner(owner);
        const takeOver = async (responseId: string): Promise<boolean> => {
          const isOurs = await own.cluster.takeOver(responseId);
          if (isOurs && state === "running") state = "taken over";
          return isOurs;
        };
        const readLog: typeof own.readEvents = (...asked) => {
          if (state !== "taken over") return own.readEvents(...asked);
          state = "failed";
          return Promise.reject(away);
        };
        return { ...own, readEvents: readLog, cluster: { ...own.cluster, takeOver } };
      },
    };
    const events = [{ text: "One." }, { wait_ms: 600_000 }];
    const server = await openApp({
      store,
      environment: { SHEAF_STORE: address },
      args: ["--on-node-loss", "resume"],
      script: { turns: [{ events }, { events: [{ text: "Two." }] }] },
    });
    const begun = await server.chat({ message: "go", stream: true });
    const path = begun.headers.get("location")!;
    await expect.poll(async () => JSON.stringify(await server.read(path))).toContain("One.");
    await postgres.run(address, "UPDATE sheaf.conversations SET holder = NULL, fence = fence + 1");
    const isEnded = () => postgres.run(address, "SELECT ended FROM sheaf.responses");
    await expect.poll(isEnded, { timeout: 20_000 }).toEqual([{ ended: true }]);
    expect([state, await server.read(path)]).toMatchObject(["failed", { status: "completed" }]);
  });
});
