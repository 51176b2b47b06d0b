/** A run whose settings or prompt cannot be used, reported in the requested format (C22). */
import { randomUUID } from "node:crypto";
import type { RunEvent } from "@sheaf/protocol";
import { createOutputMask } from "@sheaf/agent/output/event-mask";
import { createFailedRun } from "@sheaf/agent/run/run-failure";
import { SheafError } from "@sheaf/base/errors";
import type { OutputFormat } from "@sheaf/agent/output/projection";
import { sheafVersion } from "@sheaf/base/version";
import type { ParsedArguments } from "./arguments.ts";
import { deliverEvents } from "./deliver.ts";
import type { CommandIo } from "./io.ts";
import { createChosenProjection } from "./output-choice.ts";
import { now } from "@sheaf/agent/assemble/wire";
import { reportEnd } from "./report-end.ts";
import { toConversationId } from "./session-id.ts";

/** Runs the result of `prepare`; prints a refused run if that throws a SheafError. Returns the exit code. */
export async function runOrRefuse<Start>(
  prepare: () => Promise<Start>,
  run: (start: Start) => Promise<number>,
  format: OutputFormat,
  parsed: ParsedArguments,
  io: CommandIo,
): Promise<number> {
  let start: Start;
  try {
    start = await prepare();
  } catch (error) {
    if (error instanceof SheafError) return printRefusedRun(error, format, parsed, io);
    throw error;
  }
  return run(start);
}

/** Prints the lines of a run that failed before its start, without storing it; returns the exit code. */
export async function printRefusedRun(
  error: SheafError,
  format: OutputFormat,
  { command, flags, positionals }: ParsedArguments,
  io: CommandIo,
): Promise<number> {
  const model = flags.model ?? "";
  // The lines have the session's id from the arguments, so that readers find them (C14).
  const [session = "", ...words] =
    command === "answer" ? positionals : [flags["session-id"] ?? flags.resume, ...positionals];
  const start = {
    responseId: `chat_${randomUUID()}`,
    conversationId: toConversationId(session) ?? `conv_${randomUUID()}`,
    prompt: words.join(" "),
    mode: "agent",
    model,
    modelName: model,
    apiKeySource: "none",
    workspace: io.cwd,
    permissionMode: "default",
    sandbox: flags.sandbox === "disabled" ? "disabled" : "untried",
    trusted: false,
    sheafVersion,
  } as const;
  const events = async function* (): AsyncGenerator<readonly RunEvent[]> {
    yield createFailedRun(start, error, now());
  };
  const delivery = await deliverEvents(events(), {
    projection: await createChosenProjection(format, flags, io),
    output: io.openOutput(),
    mask: createOutputMask(io.environment),
  });
  return reportEnd(delivery, undefined, { verbose: flags.verbose ?? false, io });
}
