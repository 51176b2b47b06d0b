/** Checks of a stream's format, on which any reader relies. */
import { reduce } from "@sheaf/protocol";
import { toBaseEvents } from "@sheaf/protocol/base-form";
import { verify, type VerifierOptions } from "@sheaf/protocol/verify";
import { atLevel, type Check } from "../check.ts";
import type { Context, Sample } from "../context.ts";
import { demandEqual } from "../difference.ts";
import { demand, show } from "../violation.ts";
import { toCore } from "./responses.ts";

export const streamChecks: readonly Check[] = [
  ...atLevel("base", [
    ["stream-wire-form", "N43 R14", "each event is an event line and one data line of JSON; only document_start has a type",
      (context) => eachSample(context, checkWireForm)],
    ["stream-grammar", "N44 R15 R16 N2 N6 N9 N10 N45 N47 N48", "the events of each document come in order, and documents in the order of their sequence",
      (context) => eachSample(context, (sample) => checkGrammar(sample, {}))],
    ["stream-end", "N50 N51", "done is the last event, and then the server closes the stream",
      (context) => eachSample(context, checkEnd)],
    ["stream-without-extensions", "N54", "without extensions it is still a valid stream, with the same documents",
      (context) => eachSample(context, checkStripped)],
    ["stream-reasoning", "N14 N13", "reasoning, and document types beyond the ten, come only on request",
      (context) => eachSample(context, checkUnasked)],
  ]),
  ...atLevel("resumable", [
    ["stream-extensions", "X4 N49 N46 N50 X14", "response_start is first, metadata is complete at the end of each document, done is rich",
      (context) => eachSample(context, checkExtensions)],
    ["stream-ids", "X1", "ids are integers from 1 that grow", (context) => eachSample(context, checkIds)],
  ]),
]; // prettier-ignore

async function eachSample(context: Context, check: (sample: Sample) => void): Promise<void> {
  for (const sample of await context.samples()) check(sample);
}

/** Frames of the body, without comments. */
function toFrames(text: string): string[][] {
  return text
    .split(/\r?\n\r?\n/)
    .map((frame) => frame.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith(":")))
    .filter((lines) => lines.some((line) => line.startsWith("data")));
}

function checkWireForm({ name, stream, events }: Sample): void {
  for (const lines of toFrames(stream.text)) {
    const fields = lines.map((line) => line.split(":", 1)[0]!);
    const count = (field: string): number => fields.filter((each) => each === field).length;
    const isFrame = count("event") === 1 && count("data") === 1 && count("id") <= 1;
    demand(isFrame, "N43", `prompt "${name}": an event with the lines ${fields.join(", ")}`);
    const foreign = fields.find((field) => !["event", "data", "id", "retry"].includes(field));
    demand(foreign === undefined, "N43", `prompt "${name}": an event with the line ${foreign}`);
  }
  for (const { event, data } of events) {
    const isTyped = "type" in data && event !== "document_start";
    demand(!isTyped, "N43", `prompt "${name}": the payload of ${event} has a field type`);
  }
}

function checkGrammar({ name, events }: Pick<Sample, "name" | "events">, options: VerifierOptions): void {
  const found = verify(events, options);
  demand(found === undefined, found?.clause ?? "", `prompt "${name}", event ${found?.eventId}: ${found?.message}`);
}

function checkEnd({ name, events }: Sample): void {
  const ends = events.filter(({ event }) => event === "done").length;
  demand(ends === 1, ends === 0 ? "N51" : "N50", `prompt "${name}": done came ${ends} times`);
  demand(events.at(-1)?.event === "done", "N50", `prompt "${name}": ${events.at(-1)?.event} follows done`);
}

function checkStripped(sample: Sample): void {
  const base = toBaseEvents(sample.events);
  checkGrammar({ name: sample.name, events: base }, {});
  const [whole, stripped] = [sample.events, base].map((events) => toCore(reduce(events)));
  demandEqual(stripped, whole, "N54", `prompt "${sample.name}": a base client gets other documents`);
}

const knownTypes = new Set([
  "text",
  "code_reference",
  "code_block",
  "file_edit",
  "tool_call",
  "terminal_command",
  "plan",
  "clarification",
  "error",
  "todo_update",
]);

function checkUnasked({ name, events }: Sample): void {
  for (const { event, data } of events) {
    demand(event !== "reasoning_delta", "N14", `prompt "${name}": reasoning_delta was not requested`);
    demand(event !== "approval_request", "X8", `prompt "${name}": approval_request was not requested`);
    if (event !== "document_start") continue;
    demand(knownTypes.has(data.type), "N13", `prompt "${name}": the document type ${data.type} was not requested`);
  }
}

function checkExtensions(sample: Sample): void {
  checkGrammar(sample, { requireExtensions: true });
  const [start] = sample.events;
  if (start?.event !== "response_start") return;
  const { data } = start;
  const sent = [data.id, data.conversationId];
  const named = [sample.responseId, sample.conversationId];
  demand(sent.join() === named.join(), "N49", `response_start has ${show(sent)}, the headers ${show(named)}`);
  demand(data.status === "streaming", "N49", `the status of response_start is ${show(data.status)}`);
  demand(/^\d+\.\d+$/.test(data.protocol?.version), "X14", `the version is ${show(data.protocol?.version)}`);
  demand(data.heartbeat_ms > 0, "X5", `heartbeat_ms is ${show(data.heartbeat_ms)}`);
}

function checkIds({ name, stream }: Sample): void {
  const ids = [...stream.text.matchAll(/^id: ?(.*)$/gm)].map(([, id]) => id ?? "");
  demand(
    ids.length === stream.events.length,
    "X1",
    `prompt "${name}": ${ids.length} ids for ${stream.events.length} events`,
  );
  let last = 0;
  for (const id of ids) {
    demand(/^[1-9]\d*$/.test(id) && Number(id) > last, "X1", `prompt "${name}": id ${show(id)} after ${last}`);
    last = Number(id);
  }
}
