/** The response as one object, over JSON and over SSE. */
import { createReducer, reduce, type ChatResponse, type StreamEvent } from "@sheaf/protocol";
import { explainChatResponse } from "@sheaf/protocol/validate";
import { atLevel, type Check } from "../check.ts";
import { readIds, readResponse, type Context } from "../context.ts";
import { demandEqual } from "../difference.ts";
import { demand, demandNone, show } from "../violation.ts";

export const responseChecks: readonly Check[] = [
  ...atLevel("base", [
    ["response-json", "R2 N1 N7 N3", "POST /v1/chat returns a finished response as JSON, and GET returns the same", checkJson],
    ["response-headers", "N49 X2", "the answer to POST /v1/chat has the ids of the response and the conversation", checkHeaders],
    ["response-accept", "R14", "Accept: text/event-stream requests a stream, as `stream` does", checkAccept],
    ["response-counts", "N4 N5 N6 N7", "tokens add up, and the number of tool calls and the times are valid",
      (context) => context.eachResponse(checkCounts)],
    ["response-status", "N2 N52", "completed means that the agent ended itself; every other end has an error document",
      (context) => context.eachResponse(checkStatus)],
    ["response-is-stream", "N53", "the stream adds up to the documents that GET returns",
      (context) => compareStreams(context, toCore)],
  ]),
  ...atLevel("resumable", [
    ["response-is-whole-stream", "N53 N46 N50", "the stream adds up to all that GET returns",
      (context) => compareStreams(context, (response) => response)],
    ["response-prefixes", "N3", "the start of a stream is a streaming response at every event", checkPrefixes],
  ]),
]; // prettier-ignore

async function checkJson(context: Context): Promise<void> {
  const startedAt = Date.now();
  const request = context.toRequest("text", { stream: false });
  const answer = await context.http.expect(200, "R2", "POST", "/v1/chat", { body: request });
  const response = readResponse(answer, "POST /v1/chat");
  demand(response.status !== "streaming", "N1", "the answer of POST /v1/chat is still streaming");
  demand(response.documents.length > 0, "N44", "the answer of POST /v1/chat has no document");
  demand(response.id.startsWith("chat_"), "R2", `the id is ${show(response.id)}, not chat_…`);
  demand(response.conversationId.startsWith("conv_"), "R2", `the conversation is ${show(response.conversationId)}`);
  const created = Date.parse(response.created);
  const isNear = Math.abs(created - startedAt) < 24 * 3_600_000 && response.created.endsWith("Z");
  demand(isNear, "N7", `created is ${show(response.created)}, asked for at ${new Date(startedAt).toISOString()}`);
  const stored = await context.getResponse(response.id);
  demandEqual(response, stored, "N53", "POST /v1/chat and GET /v1/responses/{id} differ");
}

async function checkHeaders(context: Context): Promise<void> {
  for (const stream of [false, true]) {
    const answer = stream
      ? await context.sample("text").then((sample) => sample.stream)
      : await context.http.expect(200, "R2", "POST", "/v1/chat", { body: context.toRequest("text") });
    const { responseId } = readIds(answer.headers);
    const address = answer.headers.get("location") ?? answer.headers.get("content-location");
    const path = address === null ? "nothing" : new URL(address, context.options.baseUrl).pathname;
    demand(path.endsWith(`/v1/responses/${responseId}`), "X2", `Location names ${path} for ${responseId}`);
  }
}

async function checkAccept(context: Context): Promise<void> {
  const { stream: _, ...body } = context.toRequest("text");
  const stream = await context.http.open("POST", "/v1/chat", { body });
  await stream.readToEnd();
  demand(stream.events.at(-1)?.event === "done", "N51", "the stream has no done");
}

function checkCounts({ id, usage, metadata, documents }: ChatResponse): void {
  const { promptTokens, completionTokens, totalTokens } = usage;
  demand(totalTokens === promptTokens + completionTokens, "N6", `usage of ${id} does not add up: ${show(usage)}`);
  const calls = documents.filter(({ type }) => type === "tool_call").length;
  demand(
    metadata.toolCallCount === calls,
    "N4",
    `toolCallCount of ${id} is ${metadata.toolCallCount}, with ${calls} tool_call documents`,
  );
  demand(metadata.turnCount >= 1, "N5", `turnCount of ${id} is ${metadata.turnCount}`);
  demand(metadata.duration_ms >= 0, "N7", `duration_ms of ${id} is ${metadata.duration_ms}`);
}

const ends: Readonly<Record<string, ChatResponse["status"]>> = {
  end_turn: "completed",
  clarification: "completed",
  refusal: "error",
  cancelled: "error",
  max_tokens: "error",
  budget: "error",
  error: "error",
};

function checkStatus({ id, status, documents, metadata }: ChatResponse): void {
  const last = documents.at(-1);
  const { finishReason } = metadata;
  if (status === "error")
    demand(last?.type === "error", "N2", `${id} has the status error, and ends with ${last?.type}`);
  if (finishReason === undefined) return;
  const isFree = finishReason === "refusal";
  demand(
    isFree || ends[finishReason] === status,
    "N2",
    `${id} has the status ${status} and the finishReason ${finishReason}`,
  );
}

/** The fields that a base client compares. */
export function toCore({ documents }: ChatResponse): unknown {
  return documents.map(({ id, type, sequence, content }) => ({ id, type, sequence, content }));
}

async function compareStreams(context: Context, select: (response: ChatResponse) => unknown): Promise<void> {
  await context.eachResponse((stored, { name, events }) => {
    demandEqual(select(reduce(events)), select(stored), "N53", `prompt "${name}": stream and GET differ`);
  });
}

async function checkPrefixes(context: Context): Promise<void> {
  for (const { name, events } of await context.samples()) {
    const reducer = createReducer();
    for (const event of events) {
      reducer.push(event);
      checkPrefix(name, event, reducer.response);
    }
  }
}

function checkPrefix(name: string, { id, event }: StreamEvent, response: ChatResponse): void {
  const subject = `prompt "${name}", after event ${id}`;
  demandNone(explainChatResponse(response), "N3", subject);
  const status = event === "done" ? "ended" : "streaming";
  demand(
    (response.status === "streaming") === (status === "streaming"),
    "N3",
    `${subject}: the response has not ${status}`,
  );
}
