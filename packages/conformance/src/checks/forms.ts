/** Other wire forms of the same log (X17). */
import { createSseDecoder } from "@sheaf/protocol";
import { atLevel } from "../check.ts";
import type { Context } from "../context.ts";
import type { Answer } from "../http.ts";
import { demand, show, Skip } from "../violation.ts";

export const formChecks = atLevel("interactive", [
  ["form-unknown", "X17 N52", "an unknown ?format= is an error, and no response starts", checkUnknown],
  ["form-stream-json", "X17 X1", "?format=stream-json has the lines of the command line, from system to result",
    (context) => checkForm(context, "stream-json", explainLines)],
  ["form-ai-sdk-ui", "X17 X1", "?format=ai-sdk-ui has the header and the chunks of a UI message stream, from start to [DONE]",
    (context) => checkForm(context, "ai-sdk-ui", explainChunks)],
]); // prettier-ignore

const streamHeaders = { accept: "text/event-stream" };

async function checkUnknown(context: Context): Promise<void> {
  const { http } = context;
  const { responseId, conversationId } = await context.sample("text");
  const path = `/v1/responses/${responseId}/events?format=no-such-form`;
  await http.expectError(400, "GET", path, { headers: streamHeaders });
  const countTurns = async (): Promise<number> => {
    const { json } = await http.expect(200, "X17", "GET", `/v1/conversations/${conversationId}`);
    return (json as { readonly turns: readonly unknown[] }).turns.length;
  };
  const before = await countTurns();
  const body = { ...context.toRequest("text", { conversationId }), stream: true };
  await http.expectError(400, "POST", "/v1/chat?format=no-such-form", { headers: streamHeaders, body });
  demand((await countTurns()) === before, "X17", "a request with an unknown ?format= got an error but ran anyway");
}

/** One message of a format. */
interface Message {
  readonly id: string;
  readonly data: string;
}

type Explain = (messages: readonly Message[], answer: Answer) => string | undefined;

/** Reads the whole format, and its rest after a message in the middle. */
async function checkForm(context: Context, form: string, explain: Explain): Promise<void> {
  const { responseId } = await context.sample("text");
  const path = `/v1/responses/${responseId}/events?format=${form}`;
  const answer = await context.http.send("GET", path, { headers: streamHeaders });
  if (answer.status === 400) throw new Skip(`the server does not offer ?format=${form}`);
  demand(answer.status === 200, "X17", `${path}: status ${answer.status}: ${show(answer.text)}`);
  const type = answer.headers.get("content-type") ?? "none";
  demand(/^text\/event-stream\s*(;|$)/i.test(type), "X17", `${path}: the content type is ${type}`);
  const messages = decode(answer);
  const explanation = explain(messages, answer);
  demand(explanation === undefined, "X17", `${path}: ${explanation ?? ""}`);
  const ids = messages.map(({ id }) => Number(id));
  const grow = ids.every((id, index) => id >= (ids[index - 1] ?? 1));
  demand(grow, "X1", `${path}: the ids are ${show(ids)}`);
  const place = ids[Math.floor(ids.length / 2)]!;
  const rest = decode(await context.http.send("GET", `${path}&after=${place}`, { headers: streamHeaders }));
  const expected = messages.filter(({ id }) => Number(id) > place).map(({ data }) => data);
  const isRest = show(rest.map(({ data }) => data)) === show(expected) && rest.length >= expected.length;
  demand(isRest, "X2", `${path}&after=${place} gives ${rest.length} messages, not the last ${expected.length}`);
}

function decode({ text }: Answer): Message[] {
  const decoder = createSseDecoder();
  return [...decoder.push(text), ...decoder.end()];
}

/** Checks C5 to C7 of the command line. */
function explainLines(messages: readonly Message[]): string | undefined {
  const types = messages.map(({ data }) => readType(data));
  const other = types.indexOf(undefined);
  if (other !== -1) return `message ${other + 1} has no type: ${show(messages[other]!.data)}`;
  if (types[0] !== "system" || types.at(-1) !== "result") return `the types are ${show(types)}`;
  return types.includes("assistant") ? undefined : "no message is from the assistant";
}

function explainChunks(messages: readonly Message[], { headers }: Answer): string | undefined {
  const version = headers.get("x-vercel-ai-ui-message-stream");
  if (version !== "v1") return `the header x-vercel-ai-ui-message-stream is ${show(version)}`;
  const last = messages.at(-1)?.data;
  if (last !== "[DONE]") return `the last message is ${show(last)}`;
  const types = messages.slice(0, -1).map(({ data }) => readType(data));
  if (types[0] !== "start" || types.at(-1) !== "finish") return `the types are ${show(types)}`;
  return types.includes("text-delta") ? undefined : "the stream has no text-delta";
}

function readType(data: string): string | undefined {
  try {
    const { type } = JSON.parse(data) as { readonly type?: unknown };
    return typeof type === "string" ? type : undefined;
  } catch {
    return undefined;
  }
}
