/** Every recorded stream and answer as documents. The one place that imports the decoders. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { assemble } from "@sheaf/documents";
import { createCursorStreamDecoder } from "@sheaf/documents/agent-streams";
import {
  createModelStreamDecoder,
  type ModelStreamFormat,
  modelStreamFormats,
  toRunEvents,
} from "@sheaf/documents/model-streams";
import { createReducer, createStreamDecoder, type RunEvent } from "@sheaf/protocol";
import { encodeSse } from "@sheaf/protocol/encode";
import { loadRecordedBodies } from "../../packages/documents/test/model-streams/recorded-bodies.ts";
import { cutBody, readBody } from "../support/recorded-bodies.ts";

/** By file and format. `folder`: that of `SHEAF_FIXTURES`. */
export async function* toFixtureOutputs(
  folder: string,
): AsyncGenerator<{ readonly key: string; readonly text: string }> {
  const providers = join(folder, "providers");
  const { bodies, others } = loadRecordedBodies(providers);
  for (const { row, format, body } of bodies) yield* decodeBody(row.file, format, body);
  for (const file of others) {
    for (const format of modelStreamFormats) yield* decodeBody(file, format, readBody(providers, file));
  }
  for (const [name, text] of listMarkdown(join(folder, "markdown"))) yield* decodeBody(name, "markdown", text);
  for (const path of globSync(join(folder, "cursor-streams/*.ndjson")).toSorted()) {
    const decoder = createCursorStreamDecoder({ workspace: "/w", newId: createIds() });
    const events = [...decoder.push(readFileSync(path)), ...decoder.end()];
    yield { key: basename(path), text: `${toText(events)}${JSON.stringify(decoder.report)}\n` };
  }
  for (const path of globSync(join(folder, "documents/*.sse")).toSorted()) {
    const decoder = createStreamDecoder();
    const reducer = createReducer();
    const events = [...decoder.push(readFileSync(path, "utf8")), ...decoder.end()];
    for (const event of events) reducer.push(event);
    yield { key: basename(path), text: JSON.stringify(reducer.response) };
  }
}

/** Answers, cases written by hand, and the examples of CommonMark. */
function listMarkdown(folder: string): (readonly [string, string])[] {
  const answers = globSync(join(folder, "answers/*.md")).toSorted();
  const { cases } = JSON.parse(readFileSync(join(folder, "hand-cases.json"), "utf8")) as {
    cases: { markdown: string }[];
  };
  const { examples } = JSON.parse(readFileSync(join(folder, "commonmark-fenced.json"), "utf8")) as {
    examples: { markdown: string }[];
  };
  return [
    ...answers.map((path) => [basename(path), readFileSync(path, "utf8")] as const),
    ...cases.map(({ markdown }, index) => [`hand case ${index + 1}`, markdown] as const),
    ...examples.map(({ markdown }, index) => [`CommonMark example ${index + 1}`, markdown] as const),
  ];
}

/** In one piece and in pieces of seven bytes. */
async function* decodeBody(
  name: string,
  format: ModelStreamFormat,
  body: Uint8Array | string,
): AsyncGenerator<{ readonly key: string; readonly text: string }> {
  const bytes = Buffer.from(body);
  for (const size of [Infinity, 7]) {
    const chunks = size === Infinity ? [bytes] : cutBody(bytes, size);
    const decoder = createModelStreamDecoder(format, { newCallId: createIds() });
    const events = [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()];
    const log: RunEvent[] = [];
    const run = { workspace: "/w", sheafVersion: "0" };
    for await (const event of toRunEvents(events, { now: () => 0, newId: createIds(), run, report: decoder.report })) {
      log.push(event);
    }
    yield {
      key: `${name}, ${format}${size === Infinity ? "" : ", cut"}`,
      text: `${toText(log)}${JSON.stringify(decoder.report)}\n`,
    };
  }
}

function toText(log: readonly RunEvent[]): string {
  return assemble(log, { includeReasoning: true }).map(encodeSse).join("");
}

function createIds(): () => string {
  let count = 0;
  return () => `00000000-0000-4000-8000-${`${(count += 1)}`.padStart(12, "0")}`;
}
