/** Clients of a cluster that write down what they did and saw, for `checkHistory`. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChatResponse, RunEvent, StreamEvent } from "@sheaf/protocol";
import type { Api } from "./api.ts";
import type { ClusterHistory } from "./check-history.ts";
import type { TestPostgres } from "./postgres-cluster.ts";
import { readEvents } from "./server.ts";

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
const PATIENCE_MS = 90_000;

/** A client gives a silent connection up and opens another one. Milliseconds. */
const SILENCE_MS = 20_000;

/** How a client asks: again and again with a key, once without one, without a stream, or with a cancel soon after. */
export const askingKinds = ["stream", "once", "json", "cancel"] as const;

/** One conversation in each of `lanes`, which are workspaces by their roots, served as `lane0`, `lane1`, … */
export function createHistoryRecorder(lanes: readonly string[], findServers: () => readonly Api[]) {
  const conversations: (string | undefined)[] = lanes.map(() => undefined);
  const sent: ClusterHistory["sent"][number][] = [];
  const readings: ClusterHistory["readings"][number][] = [];
  const answers: NonNullable<ClusterHistory["answers"]>[number][] = [];
  const problems: string[] = [];
  let [longest, turn] = [0, 0];

  /** A request at the next server, given up after a silence; each use of `touch` is a sign of life. */
  const request = async <Result>(
    send: (server: Api, init: RequestInit) => Promise<Response>,
    use: (answer: Response, touch: () => void) => Promise<Result>,
  ): Promise<Result> => {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), SILENCE_MS);
    const servers = findServers();
    try {
      const answer = await send(servers[(turn += 1) % servers.length]!, { signal: controller.signal });
      return await use(answer, () => void timer.refresh());
    } finally {
      clearTimeout(timer);
    }
  };

  /** Tries again until `use` gives something. Undefined: it never did, which is a problem. */
  const insist = async <Result>(what: string, ...[send, use]: Parameters<typeof request<Result | undefined>>) => {
    const end = performance.now() + PATIENCE_MS;
    let last: unknown;
    while (performance.now() < end) {
      const found = await request(send, async (answer, touch) => {
        last = answer.status;
        if (answer.ok) return use(answer, touch);
        if (answer.status === 404) problems.push(`${what} got 404`);
        return void (last = `${answer.status} ${await answer.text()}`);
      }).catch((error: unknown) => void (last = error));
      if (found !== undefined) return found;
      await sleep(100);
    }
    problems.push(`${what} had no success within ${PATIENCE_MS} ms: ${String(last)}`);
    return undefined;
  };

  /** Follows a response to its end, over as many connections as it takes, and keeps what it sees. */
  const follow = async (responseId: string, events: StreamEvent[], lookAt: () => void): Promise<void> => {
    let lostAt = performance.now();
    const path = `/v1/responses/${responseId}`;
    const send = (server: Api, init: RequestInit) =>
      server.fetch(`${path}/events`, { ...init, headers: { "Last-Event-ID": `${events.at(-1)?.id ?? 0}` } });
    const whole = events.at(-1)?.event === "done";
    if (!whole) {
      await insist(`${path}/events`, send, async (answer, touch) => {
        const keep = (event: StreamEvent): boolean => {
          longest = Math.max(longest, performance.now() - lostAt);
          lostAt = Infinity;
          touch();
          events.push(event);
          lookAt();
          return false;
        };
        await readEvents(answer, keep).catch(() => undefined);
        if (lostAt === Infinity) lostAt = performance.now();
        return events.at(-1)?.event === "done" || undefined;
      });
    }
    readings.push({ responseId, events, isWhole: events.at(-1)?.event === "done" });
    await insist(
      path,
      (server, init) => server.fetch(path, init),
      async (answer) => {
        const response = (await answer.json()) as ChatResponse;
        answers.push({ responseId, response, how: "GET" });
        return response;
      },
    );
    await request(
      (server, init) => server.fetch(`${path}/events`, init),
      async (answer) => {
        const again = await readEvents(answer);
        readings.push({ responseId, events: again, isWhole: again.at(-1)?.event === "done" });
      },
    ).catch(() => undefined);
  };

  return {
    problems,
    /** One message and its whole answer, over as many connections as it takes. */
    async ask(lane: number, text: string, kind: (typeof askingKinds)[number] = "stream"): Promise<void> {
      const conversationId = conversations[lane];
      const place = conversationId === undefined ? { workspace: `lane${lane}` } : { conversationId };
      const body = { message: text, stream: kind !== "json", whenBusy: "queue", ...place };
      const key = kind === "once" ? {} : { "Idempotency-Key": text };
      const events: StreamEvent[] = [];
      let responseId: string | undefined;
      let isCancelled = kind !== "cancel";
      const cancel = (): void => {
        if (isCancelled || events.length < 5) return;
        isCancelled = true;
        const send: Parameters<typeof request>[0] = (server, init) =>
          server.send("POST", `/v1/responses/${responseId}/cancel`, undefined, init);
        void request(send, async (answer) => answer.body?.cancel()).catch(() => undefined);
      };
      const send = (server: Api, init: RequestInit) => server.chat(body, { ...init, headers: key });
      const use = async (answer: Response, touch: () => void): Promise<true> => {
        conversations[lane] = answer.headers.get("x-conversation-id")!;
        const first = responseId === undefined;
        responseId = answer.headers.get("location")!.split("/").at(-1)!;
        if (first) sent.push({ text, acknowledgedAs: responseId });
        if (kind === "json") {
          answers.push({ responseId, response: (await answer.json()) as ChatResponse, how: "POST" });
          return true;
        }
        const keep = (event: StreamEvent): boolean => {
          touch();
          events.push(event);
          cancel();
          return false;
        };
        await readEvents(answer, keep).catch(() => undefined);
        return true;
      };
      if (kind === "once") {
        await request(send, async (answer, touch) => {
          if (answer.ok) return use(answer, touch);
          sent.push({ text, acknowledgedAs: undefined, refusedWith: answer.status });
          return answer.body?.cancel();
        }).catch(() => undefined);
        if (sent.at(-1)?.text !== text && responseId === undefined) sent.push({ text, acknowledgedAs: undefined });
      } else await insist(`the message ${text}`, send, use);
      if (responseId !== undefined) await follow(responseId, events, cancel);
    },
    /** Deletes all conversations, as the last act. */
    async deleteAll(): Promise<void> {
      for (const id of conversations) {
        await insist(
          `DELETE of ${id}`,
          (server, init) => server.send("DELETE", `/v1/conversations/${id}`, undefined, init),
          async () => true,
        );
      }
    },
    /** Longest time without an event after a connection was lost. Milliseconds. */
    get longestSilence(): number {
      return longest;
    },
    /** With what is stored at the end. */
    async finish(postgres: Pick<TestPostgres, "run">, store: string): Promise<ClusterHistory> {
      const rows = await postgres.run(
        store,
        "SELECT r.id, g.events FROM sheaf.responses r LEFT JOIN sheaf.event_groups g ON g.response = r.key ORDER BY r.key, g.first_seq",
      );
      const logs = new Map<string, RunEvent[]>();
      for (const { id, events } of rows as unknown as { id: string; events: string | null }[]) {
        logs.set(id, [...(logs.get(id) ?? []), ...(JSON.parse(events ?? "[]") as RunEvent[])]);
      }
      const effects = lanes.flatMap((root, lane) => {
        const calls = [...logs.values()].flatMap((log) => {
          const [first] = log;
          return first?.type === "run_start" && first.workspace === root ? listEffects(log) : [];
        });
        // A word that several calls leave may be there as often: an answer that was not kept is given again.
        return readWords(join(root, "effects")).map((word, index, words) => {
          const before = words.slice(0, index).filter((other) => other === word).length;
          const times = calls.filter((other) => other === word).length;
          return `${lane}: ${word}${"'".repeat(Math.min(before, Math.max(times - 1, 0)))}`;
        });
      });
      for (const [id, log] of logs)
        if (log[0]?.type !== "run_start") problems.push(`${id} begins with ${log[0]?.type}`);
      return { sent, readings, answers, stored: [...logs.values()], effects };
    },
  };
}

/** The words that its calls leave. */
function listEffects(log: readonly RunEvent[]): string[] {
  return log.flatMap((event) =>
    event.type === "tool_call_arguments" ? (/echo (\d+) >>/.exec(JSON.stringify(event))?.[1] ?? []) : [],
  );
}

function readWords(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

/** How many logs say that another server went on with them, and the ends that are errors. */
export function countOutcomes(stored: ClusterHistory["stored"]) {
  const takeovers = stored.filter((log) =>
    log.some((event) => event.type === "turn_start" && event.note?.includes("another one continues it")),
  ).length;
  const failed = stored.flatMap((log) => {
    const end = log.at(-1);
    return end?.type === "run_end" && end.error
      ? [`${end.error.code}: ${log[0]?.type === "run_start" ? log[0].prompt : ""}: ${end.error.message}`]
      : [];
  });
  return { takeovers, failed };
}
