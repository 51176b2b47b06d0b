/** `sheaf convert [--from FORMAT] --to FORMAT` turns a model's or an agent's stream on stdin into a format of Sheaf. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { isOutputFormat, outputFormats } from "@sheaf/agent/output/projection";
import { SheafError, errorTable, isErrorCode } from "@sheaf/base/errors";
import { sheafVersion } from "@sheaf/base/version";
import {
  agentStreamFormats,
  createAgentStreamDecoder,
  findStreamFormat,
  type AgentStreamFormat,
  type AgentStreamReport,
  type StreamFormat,
} from "@sheaf/documents/agent-streams";
import {
  createModelStreamDecoder,
  modelStreamFormats,
  toRunEvents,
  type RunEventOptions,
  type ModelStreamDecoder,
  type ModelStreamFormat,
  type ModelStreamReport,
} from "@sheaf/documents/model-streams";
import type { ModelEvent, RunEvent } from "@sheaf/protocol";
import { createOutputMask } from "@sheaf/agent/output/event-mask";
import type { ParsedArguments } from "../arguments.ts";
import { agentTargets, createAgentTarget } from "./agent-target.ts";
import { chooseWord } from "../command-flags.ts";
import { deliverEvents } from "../deliver.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection } from "../output-choice.ts";
import { writeOutputFile } from "../output-file.ts";
import { formatFailure, reportOutputError } from "../report-error.ts";

const sources = [...modelStreamFormats, ...agentStreamFormats] as const;

type Source = (typeof sources)[number];

/** Number of bytes within which the input shows its format. A whole answer with an image is one payload. */
const longestBeginning = { given: 256 * 1024, unknown: 64 * 1024 * 1024 };

/**
 * Converts stdin until its end. The exit code describes the end of the answer, as for a run (C20), or the first failure
 * of several runs.
 */
export async function runConvert(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags } = parsed;
  const to = chooseWord("--to", flags.to ?? "", [...outputFormats, ...agentTargets]);
  const given = flags.from === undefined ? undefined : chooseWord("--from", flags.from, sources);
  const toolNames = flags["text-calls"]?.split(",").map((name) => name.trim());
  const input = await findInput(readInput(io), given);
  if (toolNames && isAgentFormat(input.from))
    throw new SheafError("USAGE", `--text-calls is for a model's stream, and stdin is ${input.from}: leave it out`);
  const reading = isAgentFormat(input.from)
    ? readAgentRuns(input.from, input.chunks, io)
    : readModelRun(input.from, input.chunks, { cwd: io.cwd, ...(toolNames && { toolNames }) });
  let exitCode = 0;
  const fields = new Set<string>();
  for await (const run of splitRuns(reading.groups)) {
    const target = isOutputFormat(to)
      ? { projection: await createChosenProjection(to, flags, io), findLost: () => [] }
      : await createAgentTarget(to, flags, io);
    const delivery = await deliverEvents(run, {
      projection: target.projection,
      output: io.openOutput(),
      mask: createOutputMask(io.environment),
      onOutputError: () => io.openInput().destroy(),
    });
    if (delivery.outputError) return reportOutputError(delivery.outputError, flags.verbose ?? false, io);
    for (const field of target.findLost()) fields.add(field);
    const error = delivery.end?.error;
    if (!error) continue;
    io.writeError(formatFailure(error, flags.verbose ?? false));
    exitCode ||= isErrorCode(error.code) ? errorTable[error.code].exitCode : 1;
  }
  reportLosses({ ...toLosses(reading.report), from: input.from, to, fields: [...fields] }, flags.report, io);
  return exitCode;
}

function isAgentFormat(format: Source): format is AgentStreamFormat {
  return (agentStreamFormats as readonly string[]).includes(format);
}

interface Input {
  readonly from: Source;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Finds the format from the first bytes. @throws SheafError USAGE if they match no format, or not the requested one.
 */
async function findInput(chunks: AsyncGenerator<Uint8Array>, given: Source | undefined): Promise<Input> {
  const first: Uint8Array[] = [];
  let bytes = 0;
  let looked = 0;
  let found: StreamFormat | undefined;
  const limit = given === "markdown" ? 0 : longestBeginning[given === undefined ? "unknown" : "given"];
  for (let isDone = false; found === undefined && !isDone && bytes < limit;) {
    const { value, done } = await chunks.next();
    isDone = done === true;
    if (value) first.push(value);
    bytes += value?.length ?? 0;
    // Look again only at twice the length, so that a long input takes linear time.
    if (!isDone && looked > longestBeginning.given && bytes < looked * 2) continue;
    looked = bytes;
    found = findStreamFormat(Buffer.concat(first));
  }
  if (given === undefined && found === undefined) {
    throw new SheafError("USAGE", `stdin has no known format: name it with --from (${sources.join(", ")})`);
  }
  if (given !== undefined && found !== undefined && !isSame(given, found)) {
    throw new SheafError("USAGE", `nothing in stdin is ${given}; it looks like ${found}: use --from ${found}`);
  }
  async function* readAll(): AsyncGenerator<Uint8Array> {
    yield* first;
    yield* chunks;
  }
  return { from: given ?? found!, chunks: readAll() };
}

/** True if one reader reads both formats, as for Claude Code. */
function isSame(given: Source, found: Source): boolean {
  return given === found || (given.startsWith("claude-") && found.startsWith("claude-"));
}

/** Divides groups of events into runs; a group never belongs to two runs. */
async function* splitRuns(groups: AsyncGenerator<readonly RunEvent[]>): AsyncGenerator<AsyncGenerator<RunEvent[]>> {
  let rest: RunEvent[] = [];
  async function fill(): Promise<boolean> {
    while (rest.length === 0) {
      const next = await groups.next();
      if (next.done === true) return false;
      rest = [...next.value];
    }
    return true;
  }
  async function* readRun(): AsyncGenerator<RunEvent[]> {
    while (await fill()) {
      const end = rest.findIndex(({ type }) => type === "run_end") + 1;
      yield rest.splice(0, end || rest.length);
      if (end > 0) return;
    }
  }
  while (await fill()) yield readRun();
}

/** The parts of a stream that became no document. */
interface Losses {
  readonly from: Source;
  readonly to: string;
  /** Fields of the answer that the lines of another agent can't hold, each once. */
  readonly fields: readonly string[];
  /** JSON objects read. */
  readonly payloads: number;
  /** Texts other than a JSON object. */
  readonly unparsable: number;
  /** Texts that differ from their deltas. */
  readonly differences: number;
  readonly others: readonly unknown[];
}

function toLosses(report: ModelStreamReport | AgentStreamReport): Omit<Losses, "from" | "to" | "fields"> {
  const { unparsable, others } = report;
  if ("payloads" in report) return { payloads: report.payloads, unparsable, differences: 0, others };
  return { payloads: report.lines, unparsable, differences: report.differences, others };
}

/** Reports losses: in one line on stderr, and in full in the file. */
function reportLosses(losses: Losses, file: string | undefined, io: CommandIo): void {
  if (file !== undefined) writeOutputFile(resolve(io.cwd, file), `${JSON.stringify(losses, undefined, 2)}\n`);
  const lost = losses.unparsable + losses.differences + losses.others.length;
  const { fields, to } = losses;
  const facts = [
    ...(lost > 0 ? [`${lost} ${lost === 1 ? "part" : "parts"} of the stream became no document`] : []),
    ...(fields.length > 0 ? [`${to} can't hold ${fields.length === 1 ? "1 field" : `${fields.length} fields`}`] : []),
  ];
  if (facts.length === 0) return;
  const way = file === undefined ? "--report FILE shows them" : `see ${file}`;
  io.writeError(`sheaf: ${facts.join(", and ")}: ${way}\n`);
}

/** Run logs during the reading, and after its end a report on the rest of the stream. */
interface Reading {
  readonly groups: AsyncGenerator<readonly RunEvent[]>;
  readonly report: ModelStreamReport | AgentStreamReport;
}

/** Returns the run log of a model's answer. It ends as a live run with these bytes does. */
export function readModelRun(
  from: ModelStreamFormat,
  input: AsyncIterable<Uint8Array>,
  { cwd, ...options }: Pick<CommandIo, "cwd"> & Pick<RunEventOptions, "toolNames">,
): Reading {
  const decoder = createModelStreamDecoder(from, { newCallId: () => `call_${randomUUID()}`, endsWhereBroken: true });
  const events = toRunEvents(readModelEvents(decoder, input), {
    now: Date.now,
    newId: randomUUID,
    run: { workspace: cwd, sheafVersion },
    ...options,
    report: decoder.report,
  });
  return { groups: toGroups(events), report: decoder.report };
}

async function* toGroups(events: AsyncIterable<RunEvent>): AsyncGenerator<readonly RunEvent[]> {
  for await (const event of events) yield [event];
}

function readAgentRuns(from: AgentStreamFormat, input: AsyncIterable<Uint8Array>, io: CommandIo): Reading {
  const decoder = createAgentStreamDecoder(from, { newId: randomUUID, workspace: io.cwd });
  async function* readGroups(): AsyncGenerator<readonly RunEvent[]> {
    for await (const chunk of input) yield decoder.push(chunk);
    yield decoder.end();
  }
  return { groups: readGroups(), report: decoder.report };
}

async function* readModelEvents(
  decoder: ModelStreamDecoder,
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<ModelEvent> {
  for await (const chunk of input) yield* decoder.push(chunk);
  yield* decoder.end();
}

/** Yields stdin until its end, or until it is destroyed because the reader of the output has gone. */
async function* readInput({ openInput }: CommandIo): AsyncGenerator<Uint8Array> {
  try {
    yield* openInput() as AsyncIterable<Uint8Array>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
}
