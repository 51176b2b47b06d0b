/** `sheaf convert --from FORMAT --to FORMAT`: a model's stream on stdin, as documents on stdout, while it comes. */
import { randomUUID } from "node:crypto";
import { createCursorStreamDecoder } from "@sheaf/documents/agent-streams";
import {
  createModelStreamDecoder,
  modelStreamFormats,
  toRunEvents,
  type ModelStreamDecoder,
  type ModelStreamFormat,
} from "@sheaf/documents/model-streams";
import type { ModelEvent, RunEvent } from "@sheaf/protocol";
import { errorTable, isErrorCode } from "@sheaf/base/errors";
import type { OutputFormat } from "@sheaf/agent/output/projection";
import { sheafVersion } from "@sheaf/base/version";
import type { ParsedArguments } from "../arguments.ts";
import { chooseWord } from "../command-flags.ts";
import { deliverEvents } from "../deliver.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection } from "../output-choice.ts";
import { formatFailure, reportOutputError } from "../report-error.ts";

/** What `cursor-agent` prints, and Sheaf in its place. */
const agentStream = "cursor-stream-json";

const sources = [...modelStreamFormats, agentStream] as const;

const targets = ["documents", "documents-stream"] as const satisfies readonly OutputFormat[];

/** Reads stdin to its end. The exit code tells how the answer ended, as for a run (C20). */
export async function runConvert(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags } = parsed;
  const from = chooseWord("--from", flags.from ?? "", sources);
  const to = chooseWord("--to", flags.to ?? "", targets);
  const projection = await createChosenProjection(to, flags, io);
  const delivery = await deliverEvents(
    from === agentStream ? readAgentRun(io) : readModelRun(from, readInput(io), io),
    {
      projection,
      output: io.openOutput(),
      onOutputError: () => io.openInput().destroy(),
    },
  );
  if (delivery.outputError) return reportOutputError(delivery.outputError, flags.verbose ?? false, io);
  const error = delivery.end?.error;
  if (!error) return 0;
  io.writeError(formatFailure(error, flags.verbose ?? false));
  return isErrorCode(error.code) ? errorTable[error.code].exitCode : 1;
}

/** The run log of one answer of a model: it ends as a live run with these bytes does. */
export async function* readModelRun(
  from: ModelStreamFormat,
  input: AsyncIterable<Uint8Array>,
  io: Pick<CommandIo, "cwd">,
): AsyncGenerator<readonly RunEvent[]> {
  const decoder = createModelStreamDecoder(from, { newCallId: () => `call_${randomUUID()}`, endsWhereBroken: true });
  const events = toRunEvents(readModelEvents(decoder, input), {
    now: Date.now,
    newId: randomUUID,
    run: { workspace: io.cwd, sheafVersion },
    report: decoder.report,
  });
  for await (const event of events) yield [event];
}

async function* readAgentRun(io: CommandIo): AsyncGenerator<readonly RunEvent[]> {
  const decoder = createCursorStreamDecoder({ newId: randomUUID, workspace: io.cwd });
  for await (const chunk of readInput(io)) yield decoder.push(chunk);
  yield decoder.end();
}

async function* readModelEvents(
  decoder: ModelStreamDecoder,
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<ModelEvent> {
  for await (const chunk of input) yield* decoder.push(chunk);
  yield* decoder.end();
}

/** Stdin, until it ends or is destroyed because nobody reads the output. */
async function* readInput({ openInput }: CommandIo): AsyncGenerator<Uint8Array> {
  try {
    yield* openInput() as AsyncIterable<Uint8Array>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
}
