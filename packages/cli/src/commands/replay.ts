/** `sheaf replay FILE`: a recorded run, printed again, offline (X11); with `--redact OUT` a cassette for sharing. */
import { resolve } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { findHome } from "@sheaf/base/paths";
import { readNamedFile } from "@sheaf/base/read-named-file";
import { createOutputMask } from "@sheaf/agent/output/event-mask";
import type { Cassette } from "@sheaf/agent/recording/cassette";
import { createCassetteWriter } from "@sheaf/agent/recording/cassette-writer";
import { decodeCassette } from "@sheaf/agent/recording/decode-cassette";
import { readPrivateWords, redactCassette } from "@sheaf/agent/recording/redact";
import { replayRun } from "@sheaf/agent/recording/replay";
import { createStore } from "@sheaf/agent/assemble/wire-stores";
import { memoryFile } from "@sheaf/store/store";
import type { ParsedArguments } from "../arguments.ts";
import { deliverEvents } from "../deliver.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection, toOutputFormat } from "../output-choice.ts";
import { reportEnd } from "../report-end.ts";
import { toSignalExitCode } from "../signals.ts";

/**
 * Prints the run of a cassette; gives the exit code that the run had.
 * @throws SheafError USAGE without a file, CONFIG_INVALID for one that is not a cassette.
 */
export async function runReplay(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags, positionals } = parsed;
  const [file = ""] = positionals;
  const format = toOutputFormat(flags, io);
  const cassette = await readCassette(file, io);
  if (flags.redact !== undefined) {
    writeCassette(
      redactCassette(cassette, readPrivateWords(io.environment, findHome(io.environment))),
      resolve(io.cwd, flags.redact),
    );
    return 0;
  }
  const store = await createStore(memoryFile);
  const delivery = await deliverEvents(replayRun(cassette, store), {
    projection: await createChosenProjection(format, flags, io),
    output: io.openOutput(),
    mask: createOutputMask(io.environment),
  });
  return reportEnd(delivery, toSignalExitCode(delivery.end?.error?.details ?? ""), {
    verbose: flags.verbose ?? false,
    io,
  });
}

async function readCassette(file: string, { cwd }: CommandIo): Promise<Cassette> {
  let text: string;
  try {
    text = await readNamedFile(resolve(cwd, file));
  } catch (error) {
    const reason = (error as Error).message;
    throw new SheafError("USAGE", `the cassette ${file} cannot be read (${reason}): check the path`, { cause: error });
  }
  return decodeCassette(text, file);
}

function writeCassette({ header, records }: Cassette, file: string): void {
  const writer = createCassetteWriter(file);
  for (const record of [header, ...records]) writer.write(record);
  writer.close();
}
