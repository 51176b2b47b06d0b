/** Clients of a cluster that write down what they did and saw, for `checkHistory`. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunEvent, StreamEvent } from "@sheaf/protocol";
import type { ClusterHistory } from "./check-history.ts";
import type { TestPostgres } from "./postgres-cluster.ts";
import { readEvents, type TestServer } from "./server.ts";

/** Text, a call, text, a call, text: each call of a conversation leaves a word that no other one leaves. */
export const effectsScript = {
  turns: Array.from({ length: 3000 }, (_, index) => ({
    events: [
      ...Array.from({ length: 8 }, () => [{ text: "I think. " }, { wait_ms: 30 }]).flat(),
      ...(index % 3 === 2
        ? []
        : [{ call: { tool: "run_terminal_cmd", arguments: { command: `echo ${index} >> effects; sleep 0.2` } } }]),
    ],
  })),
};

/** Longest time in which a message must be taken, or a stream go on. Milliseconds. */
const PATIENCE_MS = 60_000;

/** One conversation in each of `lanes`, which are workspaces by their roots, served as `lane0`, `lane1`, … */
export function createHistoryRecorder(lanes: readonly string[], findServers: () => readonly TestServer[]) {
  const conversations: (string | undefined)[] = lanes.map(() => undefined);
  const sent: ClusterHistory["sent"][number][] = [];
  const readings: ClusterHistory["readings"][number][] = [];
  let longest = 0;

  /** At one server after the other, until one says yes. */
  const insist = async (ask: (server: TestServer) => Promise<Response>): Promise<Response> => {
    const end = performance.now() + PATIENCE_MS;
    for (let turn = 0; performance.now() < end; turn += 1) {
      const servers = findServers();
      const answer = await ask(servers[turn % servers.length]!).catch(() => undefined);
      if (answer?.status === 200) return answer;
      await answer?.body?.cancel();
      await sleep(100);
    }
    throw new Error(`no server took the request within ${PATIENCE_MS} ms`);
  };

  return {
    /** One message and its whole answer, over as many connections as it takes. */
    async ask(lane: number, round: number): Promise<void> {
      const text = `${round}.${lane}`;
      const conversationId = conversations[lane];
      const place = conversationId === undefined ? { workspace: `lane${lane}` } : { conversationId };
      const body = { message: text, stream: true, whenBusy: "queue", ...place };
      const answer = await insist((server) => server.chat(body, { headers: { "Idempotency-Key": text } }));
      conversations[lane] = answer.headers.get("x-conversation-id")!;
      const path = answer.headers.get("location")!;
      const responseId = path.split("/").at(-1)!;
      sent.push({ text, acknowledgedAs: responseId });
      const events: StreamEvent[] = [];
      let lostAt: number | undefined;
      const keep = (event: StreamEvent): boolean => {
        if (lostAt !== undefined) longest = Math.max(longest, performance.now() - lostAt);
        lostAt = undefined;
        events.push(event);
        return false;
      };
      await readEvents(answer, keep).catch(() => undefined);
      while (events.at(-1)?.event !== "done") {
        lostAt ??= performance.now();
        if (performance.now() - lostAt > PATIENCE_MS) throw new Error(`nothing more came of ${responseId}`);
        const headers = { "Last-Event-ID": `${events.at(-1)?.id ?? 0}` };
        const again = await insist((server) => server.fetch(`${path}/events`, { headers }));
        await readEvents(again, keep).catch(() => undefined);
      }
      readings.push({ responseId, events, isWhole: true });
      const whole = await readEvents(await insist((server) => server.fetch(`${path}/events`))).catch(() => undefined);
      if (whole) readings.push({ responseId, events: whole, isWhole: whole.at(-1)?.event === "done" });
    },
    /** Longest time without an event after a connection was lost. Milliseconds. */
    get longestSilence(): number {
      return longest;
    },
    /** With what is stored at the end. */
    async finish(postgres: Pick<TestPostgres, "run">, store: string): Promise<ClusterHistory> {
      const rows = await postgres.run(
        store,
        "SELECT r.id, g.events FROM sheaf.responses r JOIN sheaf.event_groups g ON g.response = r.key ORDER BY r.key, g.first_seq",
      );
      const logs = new Map<string, RunEvent[]>();
      for (const { id, events } of rows as unknown as { id: string; events: string }[]) {
        logs.set(id, [...(logs.get(id) ?? []), ...(JSON.parse(events) as RunEvent[])]);
      }
      const effects = lanes.flatMap((root, lane) => readWords(join(root, "effects")).map((word) => `${lane}: ${word}`));
      return { sent, readings, stored: [...logs.values()], effects };
    },
  };
}

function readWords(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

/** How many logs say that another server went on with them, and the ends that are errors. */
export function countOutcomes(stored: ClusterHistory["stored"]) {
  const takeovers = stored.filter((log) =>
    log.some((event) => event.type === "turn_start" && event.note?.includes("another one goes on")),
  ).length;
  const failed = stored.flatMap((log) => {
    const end = log.at(-1);
    return end?.type === "run_end" && end.error ? [end.error.code] : [];
  });
  return { takeovers, failed };
}
