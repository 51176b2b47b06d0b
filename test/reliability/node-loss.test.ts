/** Servers on one PostgreSQL database are killed or stopped at random moments; others go on with their responses. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunEvent, StreamEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { checkHistory, type ClusterHistory } from "../support/check-history.ts";
import { createCluster } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { readEvents, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns, createRandom, reportFigure, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Each in a workspace of its own. */
const LANES = 4;

/** Every tenth loss is a stop for longer than the lease, not a kill. */
const STOP_EVERY = 10;
const STOP_MS = 12_000;

/** Text, a call, text, a call, text: each call of a conversation leaves a word that no other one leaves. */
const script = {
  turns: Array.from({ length: 3000 }, (_, index) => ({
    events: [
      ...Array.from({ length: 8 }, () => [{ text: "I think. " }, { wait_ms: 30 }]).flat(),
      ...(index % 3 === 2
        ? []
        : [{ call: { tool: "run_terminal_cmd", arguments: { command: `echo ${index} >> effects; sleep 0.2` } } }]),
    ],
  })),
};

describeWithPostgres("servers are lost at random moments", (postgres) => {
  test(
    verifies("R-44", "every response ends once, no call runs twice, and readers see one stream"),
    async () => {
      const runs = chooseRuns(3, 100);
      const random = createRandom(7);
      const lanes = Array.from({ length: LANES }, (_, lane) => folders.newFolder({ "README.md": `${lane}` }));
      const workspaces = lanes.flatMap((root, lane) => ["--workspace", `lane${lane}=${root}`]);
      const args = ["--on-node-loss", "resume", "--sandbox", "disabled", "--force", ...workspaces];
      const cluster = await createCluster(postgres, folders, { script, args });
      const conversations: (string | undefined)[] = lanes.map(() => undefined);
      const sent: ClusterHistory["sent"][number][] = [];
      const readings: ClusterHistory["readings"][number][] = [];
      let [one, other] = await Promise.all([cluster.start("0"), cluster.start("1")]);
      let longest = 0;

      /** One message; its reader goes on at the other server once its own is lost. */
      const ask = async (lane: number, round: number): Promise<void> => {
        const text = `${round}.${lane}`;
        const conversationId = conversations[lane];
        const place = conversationId === undefined ? { workspace: `lane${lane}` } : { conversationId };
        const headers = { "Idempotency-Key": text };
        const body = { message: text, stream: true, whenBusy: "queue", ...place };
        const send = async (): Promise<Response> => one.chat(body, { headers });
        const answer = await send().catch(() => other.chat(body, { headers }));
        expect(answer.status).toBe(200);
        conversations[lane] = answer.headers.get("x-conversation-id")!;
        const path = answer.headers.get("location")!;
        const responseId = path.split("/").at(-1)!;
        sent.push({ text, acknowledgedAs: responseId });
        const events: StreamEvent[] = [];
        const keep = (event: StreamEvent): boolean => {
          events.push(event);
          return false;
        };
        let lostAt: number | undefined;
        await readEvents(answer, keep).catch(() => undefined);
        while (events.at(-1)?.event !== "done") {
          lostAt ??= performance.now();
          const rest = { "Last-Event-ID": `${events.at(-1)?.id ?? 0}` };
          const again = await other.fetch(`${path}/events`, { headers: rest });
          if (again.status !== 200) await sleep(100);
          else
            await readEvents(again, (event) => {
              if (lostAt !== undefined) longest = Math.max(longest, performance.now() - lostAt);
              lostAt = undefined;
              return keep(event);
            }).catch(() => undefined);
        }
        readings.push({ responseId, events, isWhole: true });
        const whole = await readEvents(await other.fetch(`${path}/events`));
        readings.push({ responseId, events: whole, isWhole: true });
      };

      for (let round = 1; round <= runs; round += 1) {
        const asked = lanes.map((_, lane) => ask(lane, round));
        await sleep(random() * 2000);
        const lost: TestServer = one;
        const isStop = round % STOP_EVERY === 0;
        if (isStop) {
          lost.child.kill("SIGSTOP");
          await sleep(STOP_MS + random() * 4000);
          lost.child.kill("SIGCONT");
        } else await lost.stop("SIGKILL");
        await Promise.all(asked);
        if (isStop) await lost.stop("SIGKILL");
        one = other;
        other = await cluster.start(`${round + 1}`);
      }

      const rows = await postgres.run(
        cluster.store,
        "SELECT r.id, g.events FROM sheaf.responses r JOIN sheaf.event_groups g ON g.response = r.key ORDER BY r.key, g.first_seq",
      );
      const logs = new Map<string, RunEvent[]>();
      for (const { id, events } of rows as unknown as { id: string; events: string }[]) {
        logs.set(id, [...(logs.get(id) ?? []), ...(JSON.parse(events) as RunEvent[])]);
      }
      const stored = [...logs.values()];
      const takeovers = stored.filter((log) =>
        log.some((event) => event.type === "turn_start" && event.note?.includes("another one goes on")),
      ).length;
      const effects = lanes.flatMap((root, lane) => {
        const file = join(root, "effects");
        return existsSync(file)
          ? readFileSync(file, "utf8")
              .trimEnd()
              .split("\n")
              .map((word) => `${lane}: ${word}`)
          : [];
      });
      expect(checkHistory({ sent, readings, stored, effects })).toEqual([]);
      const failed = stored.filter(
        (log) => log.at(-1)?.type === "run_end" && (log.at(-1) as { error?: unknown }).error,
      );
      reportFigure(
        "R-44",
        `${runs} servers lost, ${stored.length} responses, ${takeovers} taken over, ${failed.length} ended with an error, ${effects.length} effects of calls, longest silence of a reader ${Math.round(longest)} ms`,
      );
      expect(failed.map((log) => log.at(-1))).toEqual([]);
    },
    soakTimeout,
  );
});
