/** The same key gives the same response (X9). */
import type { ChatResponse } from "@sheaf/protocol";
import { atLevel } from "../check.ts";
import { readResponse, type Context } from "../context.ts";
import { demandEqual } from "../difference.ts";
import { demand } from "../violation.ts";

export const idempotencyChecks = atLevel("resumable", [
  ["idempotency-json", "X9", "the same key gives the same response as JSON",
    async (context) => {
      const send = createSender(context);
      demandEqual(await send(), await send(), "X9", "two answers to one key differ");
    }],
  ["idempotency-stream", "X9", "the same key gives the same stream, also while it runs", checkStream],
  ["idempotency-at-once", "X9", "simultaneous requests with one key start one response",
    async (context) => {
      const send = createSender(context);
      const answers = await Promise.all(Array.from({ length: 5 }, () => send()));
      const ids = new Set(answers.map(({ id }) => id));
      demand(ids.size === 1, "X9", `five requests with one key started ${ids.size} responses`);
    }],
  ["idempotency-other-key", "X9", "another key, or none, starts another response, but one key with another message is an error",
    checkOthers],
]); // prettier-ignore

function createSender(context: Context, headers = createKey()): () => Promise<ChatResponse> {
  const body = context.toRequest("text", { stream: false });
  return async () =>
    readResponse(await context.http.expect(200, "X9", "POST", "/v1/chat", { body, headers }), "POST /v1/chat");
}

const createKey = (): Readonly<Record<string, string>> => ({ "idempotency-key": crypto.randomUUID() });

async function checkStream(context: Context): Promise<void> {
  const headers = createKey();
  const first = await context.start("text", {}, headers);
  const second = await context.start("text", {}, headers);
  demand(first.responseId === second.responseId, "X9", "one key started two responses");
  const [one, two] = await Promise.all([first.stream.readToEnd(), second.stream.readToEnd()]);
  demandEqual(one, two, "X9", "two streams of one key differ");
  const late = await context.start("text", {}, headers);
  demand(late.responseId === first.responseId, "X9", "a key repeated after the end started another response");
  const [end, lateEnd] = [one.at(-1), (await late.stream.readToEnd()).at(-1)];
  demandEqual(end, lateEnd, "X9", "the stream of a key repeated after the end differs");
}

async function checkOthers(context: Context): Promise<void> {
  const headers = createKey();
  const ids: string[] = [];
  for (const each of [headers, createKey(), {}, {}]) ids.push((await createSender(context, each)()).id);
  demand(new Set(ids).size === ids.length, "X9", "requests with different keys got the same response");
  const body = { ...context.toRequest("text"), message: "Another message under a key that is taken" };
  const answer = await context.http.send("POST", "/v1/chat", { body, headers });
  const isNew = answer.status < 400 && answer.headers.get("x-response-id") !== ids[0];
  demand(!isNew, "X9", "one key with another message started another response");
}
