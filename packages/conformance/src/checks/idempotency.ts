/** The same key gives the same response (X9). */
import type { ChatRequest } from "@sheaf/protocol";
import type { Check } from "../check.ts";
import { readIds, readResponse, type Context } from "../context.ts";
import { explainDifference } from "../difference.ts";
import { demand, demandNone } from "../violation.ts";

export const idempotencyChecks: readonly Check[] = [
  {
    id: "idempotency-json",
    level: "resumable",
    clauses: ["X9"],
    title: "the same key gives the same response as JSON",
    run: async (context) => {
      const send = createSender(context, { stream: false });
      const [first, second] = [await send(), await send()];
      demandNone(explainDifference(first.response, second.response), "X9", "two answers to one key differ");
    },
  },
  {
    id: "idempotency-stream",
    level: "resumable",
    clauses: ["X9"],
    title: "the same key gives the same stream, also while it runs",
    run: checkStream,
  },
  {
    id: "idempotency-at-once",
    level: "resumable",
    clauses: ["X9"],
    title: "simultaneous requests with one key begin one response",
    run: async (context) => {
      const send = createSender(context, { stream: false });
      const answers = await Promise.all(Array.from({ length: 5 }, () => send()));
      const ids = new Set(answers.map(({ responseId }) => responseId));
      demand(ids.size === 1, "X9", `five requests with one key began ${ids.size} responses`);
    },
  },
  {
    id: "idempotency-other-key",
    level: "resumable",
    clauses: ["X9"],
    title: "another key, or none, begins another response; one key with another message begins none",
    run: checkOthers,
  },
];

interface Sent {
  readonly responseId: string;
  readonly response: unknown;
}

function createSender(context: Context, fields: Partial<ChatRequest>): () => Promise<Sent> {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const body = context.toRequest("text", fields);
  return async () => {
    const answer = await context.http.expect(200, "X9", "POST", "/v1/chat", { body, headers });
    return { responseId: readIds(answer.headers).responseId, response: readResponse(answer, "POST /v1/chat") };
  };
}

async function checkStream(context: Context): Promise<void> {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const first = await context.start("text", {}, headers);
  const second = await context.start("text", {}, headers);
  demand(first.responseId === second.responseId, "X9", "one key began two responses");
  const [one, two] = await Promise.all([first.stream.readToEnd(), second.stream.readToEnd()]);
  demandNone(explainDifference(one, two), "X9", "two streams of one key differ");
  const late = await context.start("text", {}, headers);
  demand(late.responseId === first.responseId, "X9", "a key repeated after the end began another response");
  const [end, lateEnd] = [one.at(-1), (await late.stream.readToEnd()).at(-1)];
  demandNone(explainDifference(end, lateEnd), "X9", "the stream of a key repeated after the end differs");
}

async function checkOthers(context: Context): Promise<void> {
  const key = crypto.randomUUID();
  const ids: string[] = [];
  for (const headers of [{ "idempotency-key": key }, { "idempotency-key": crypto.randomUUID() }, {}, {}]) {
    const body = context.toRequest("text");
    const answer = await context.http.expect(200, "X9", "POST", "/v1/chat", { body, headers });
    ids.push(readIds(answer.headers).responseId);
  }
  demand(new Set(ids).size === ids.length, "X9", "requests with different keys got the same response");
  const body = { ...context.toRequest("text"), message: "Another message under a key that is taken" };
  const answer = await context.http.send("POST", "/v1/chat", { body, headers: { "idempotency-key": key } });
  const isNew = answer.status < 400 && answer.headers.get("x-response-id") !== ids[0];
  demand(!isNew, "X9", "one key with another message began another response");
}
