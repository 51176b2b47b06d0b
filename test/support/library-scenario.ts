/** What the libraries are put through wherever they run: in Node, in a bare engine, in a browser. */
import type { ModelEvent, RunEvent, StreamEvent } from "@sheaf/protocol";
import type * as libraries from "./whole-libraries.ts";

type Library = typeof libraries;

const answer = [
  "# Ümlaut 🙂\r\n\r\nRun it:\r\n\r\n1. First\r\n\r\n   ```sh\r\n   npm ci\r\n   ```\r\n",
  '\n```ts title="a.ts" purpose=example\nexport const a = 1;\n\t// tab\n```\n',
  "Look here:\n\n```12:14:src/main.py\ndef main():\n    pass\n```\n\n<div>\n```\nno fence\n```\n</div>\n\n",
  "````md\n```\nnested\n```\n````\n\n~~~ \nopen",
].join("");

const chatBody = [
  { id: "chatcmpl-1", model: "m", choices: [{ delta: { content: "I write it.\n\n```" } }] },
  { choices: [{ delta: { content: "js\nx()\n```\nDone 🙂" } }] },
  { choices: [{ delta: { tool_calls: [toChatCall("write_file", '{"target_file":"a.ts","con')] } }] },
  { choices: [{ delta: { tool_calls: [toChatCall("", 'tent":"const a = \\"\\u00e9\\";\\n"}')] } }] },
  { choices: [{ finish_reason: "tool_calls", delta: {} }], usage: { prompt_tokens: 7, completion_tokens: 9 } },
]
  .map((payload) => `data: ${JSON.stringify(payload)}\n\n`)
  .concat("data: [DONE]\n\n")
  .join("");

const messagesBody = [
  { type: "message_start", message: { id: "msg_1", model: "m", usage: { input_tokens: 3, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Well …" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Yes." } },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
]
  .map((payload) => `event: ${payload.type}\r\ndata: ${JSON.stringify(payload)}\r\n\r\n`)
  .join("");

function toChatCall(name: string, text: string): object {
  return { index: 0, ...(name === "" ? {} : { id: "call_a" }), function: { name, arguments: text } };
}

/** Runs it; the result is plain JSON, and the same everywhere. */
export async function runScenario(library: Library): Promise<unknown> {
  const chat = readModelStream(library, "openai-chat", chatBody);
  const messages = readModelStream(library, "anthropic-messages", messagesBody);
  const log = await toRunLog(library, [...chat.events, ...messages.events]);
  return {
    text: parseInChunks(library),
    chat,
    messages,
    log,
    ...runStream(library, log),
    details: runDetails(library),
  };
}

function toChunks(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}

/** The segments of the whole text, the events of its pieces, and whether all cuts agree. */
function parseInChunks({ createTextParser, parseText }: Library): unknown {
  const parse = (size: number) => {
    const parser = createTextParser();
    return [...toChunks(answer, size).flatMap((chunk) => parser.push(chunk)), ...parser.end()];
  };
  const toContent = (size: number) =>
    parse(size)
      .map((event) => (event.type === "segment_delta" ? event.delta : `<${JSON.stringify(event)}>`))
      .join("");
  const segments = parseText(answer);
  const same = [1, 2, 3, 5, 7, answer.length].every((size) => toContent(size) === toContent(4));
  return { segments, events: parse(4), same };
}

function readModelStream(
  { createModelStreamDecoder }: Library,
  format: "openai-chat" | "anthropic-messages",
  body: string,
): { readonly events: ModelEvent[]; readonly report: unknown } {
  let calls = 0;
  const decoder = createModelStreamDecoder(format, { newCallId: () => `call_${format}_${(calls += 1)}` });
  const events = toChunks(body, 5).flatMap((chunk) => decoder.push(chunk));
  return { events: [...events, ...decoder.end()], report: decoder.report };
}

async function toRunLog({ toRunEvents }: Library, events: readonly ModelEvent[]): Promise<RunEvent[]> {
  let time = 1_771_842_600_000;
  let ids = 0;
  const log: RunEvent[] = [];
  const options = { now: () => (time += 10), newId: () => `id-${(ids += 1)}` };
  for await (const event of toRunEvents(events, options)) log.push(event);
  return log;
}

/** From the log to events, over the wire as SSE and as NDJSON, and back to a response. */
function runStream(library: Library, log: readonly RunEvent[]): Record<string, unknown> {
  const assembler = library.createAssembler({ includeReasoning: true });
  const events = log.flatMap((event) => assembler.push(event));
  const reducer = library.createReducer();
  for (const event of events) reducer.push(event);
  const sse = library.encodeRetry(500) + library.encodeHeartbeat() + events.map(library.encodeSse).join("");
  const streamDecoder = library.createStreamDecoder();
  const decoded = toChunks(sse, 11).flatMap((chunk) => streamDecoder.push(chunk));
  const ndjson = library.createNdjsonDecoder();
  const lines = toChunks(events.map(library.encodeNdjson).join(""), 13).flatMap((chunk) => ndjson.push(chunk));
  return {
    events,
    sse,
    decoded,
    lines: lines.map((line) => (line.ok ? line.value : line)),
    response: reducer.response,
    again: library.reduce(decoded),
    base: library.toBaseEvents(events),
    violation: library.verify(events, { requireExtensions: true }) ?? null,
    explained: decoded.map((event: StreamEvent) => library.explainStreamEvent(event) ?? null),
  };
}

function runDetails(library: Library): Record<string, unknown> {
  const hash = library.createSha256();
  hash.update("é🙂");
  const scanner = library.createJsonScanner();
  return {
    sha256: hash.digest(),
    scanned: toChunks('{"path":"a\\u00e9","n":[1,{"x":null}],"ok":true}', 3).flatMap((chunk) => scanner.push(chunk)),
    languages: ["a.TS", "Dockerfile.dev", "x.unknown"].map(library.toLanguage),
    line: library.toJsonLine({ text: "\u2028" }),
  };
}
