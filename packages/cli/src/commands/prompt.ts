/** `sheaf -p PROMPT`: one response, printed (sections 1 and 2 of docs/formats/cli.md). */
import { resolve } from "node:path";
import type { RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { Projection } from "@sheaf/agent/output/projection";
import type { Approver } from "@sheaf/agent/tools/approval";
import type { ParsedArguments } from "../arguments.ts";
import { deliverEvents } from "../deliver.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection, toOutputFormat } from "../output-choice.ts";
import { checkCommandLine } from "../command-flags.ts";
import { now } from "@sheaf/agent/assemble/wire";
import type { ToolServers } from "@sheaf/agent/assemble/wire-servers";
import { createPromptRun } from "../prompt-run.ts";
import { readPrompt, skippedInputNotice } from "../standard-input.ts";
import { printRefusedRun } from "../refused-run.ts";
import { reportEnd } from "../report-end.ts";
import { createNoticeReport, reportNotices } from "../report-notices.ts";
import { formatNotice } from "../report-error.ts";
import { toConfig, type RunConfig } from "../run-config.ts";
import { checkSessionWord } from "../session-words.ts";
import type { RunControl } from "../signals.ts";
import { readAttachments } from "@sheaf/base/files/attachment";

/** Runs one prompt; gives the exit code (C20). */
export async function runPrompt(parsed: ParsedArguments, io: CommandIo, control: RunControl): Promise<number> {
  return answerMessage(parsed, io, control, async () => {
    const { flags } = parsed;
    checkCommandLine(parsed);
    // What is wrong fails before anything is read from stdin.
    if (flags.resume) checkSessionWord(flags.resume, { isResumed: true });
    const config = toConfig(flags, io);
    const files = toMessageFiles(flags, io);
    const timer = setInputTimer(config, io, control);
    const { message, typed } = await readPrompt(parsed, io, control.signal);
    clearTimeout(timer);
    // Programs for that profile leave a socket open by habit, and may take a word on stderr for a failure (C15, C30).
    const isHabit = io.profile === "cursor-2026" && io.findInputKind() === "socket";
    if (message.stdin && !isHabit) io.writeError(formatNotice(skippedInputNotice));
    return { message: { ...message, ...files }, config: { ...config, typed }, flags };
  });
}

/** Of `--file` and `--image` (C42, C149). @throws SheafError USAGE for a file that cannot be attached. */
export function toMessageFiles({ file = [], image = [] }: FlagValues, io: CommandIo): Pick<RunStart, "attachments"> {
  const words = [...file, ...image];
  if (words.includes("")) throw new SheafError("USAGE", "--file names no file: write --file FILE");
  const files = words.map((word) => resolve(io.cwd, word));
  return files.length === 0 ? {} : { attachments: readAttachments(files) };
}

/** What a run is begun with. */
export interface PromptStart {
  readonly message: Pick<RunStart, "prompt" | "shortens" | "attachments" | "answers" | "stdin">;
  readonly config: RunConfig;
  readonly flags: FlagValues;
}

/** Runs what is found. What cannot be used ends as a run does, once the format is known (C22). */
export async function answerMessage(
  parsed: ParsedArguments,
  io: CommandIo,
  control: RunControl,
  findStart: () => Promise<PromptStart>,
): Promise<number> {
  const format = toOutputFormat(parsed.flags, io);
  let start: PromptStart;
  try {
    start = await findStart();
  } catch (error) {
    if (error instanceof SheafError) return printRefusedRun(error, format, parsed, io);
    throw error;
  }
  return answerPrompt(start.message, start.config, start.flags, io, control);
}

/** Stdin that never ends takes the time of the run, too (C24): the run then ends before its first turn. */
function setInputTimer({ timeoutMs }: RunConfig, io: CommandIo, control: RunControl): NodeJS.Timeout | undefined {
  if (timeoutMs === undefined) return undefined;
  const message = `stdin did not end within ${timeoutMs / 1000} s: close it, or raise --timeout`;
  const leftMs = Math.max(0, timeoutMs - (performance.now() - io.startedAt));
  return setTimeout(() => control.abort(new SheafError("BUDGET_TIME", message)), leftMs);
}

/** The person in front of a terminal. */
export interface Person {
  /** What the person sees of the run. */
  readonly projection: Projection;
  /** Asks the person (X8). */
  readonly approver: Approver;
  /** Those of the conversation. */
  readonly toolServers: ToolServers;
  /** Notices that the person has seen; the run adds its own. */
  readonly seen: Set<string>;
  /** Shows text in the terminal, for what is else on stderr, too. */
  readonly write: (text: string) => void;
}

function formatQuotaWait(until: string): string {
  return `the provider's quota is used up: --wait-for-quota waits until ${until}, unless --timeout ends it`;
}

/** Runs one response to its end and prints it; gives the exit code. Without a person nobody is asked. */
export async function answerPrompt(
  message: PromptStart["message"],
  config: RunConfig,
  flags: FlagValues,
  io: CommandIo,
  control: RunControl,
  person?: Person,
): Promise<number> {
  // Where a person writes, each run has its own time; else there is one, and its time is that of the process.
  const spentMs = person ? 0 : performance.now() - io.startedAt;
  const format = toOutputFormat(flags, io);
  const seen = person?.seen ?? new Set();
  const write = person?.write ?? io.writeError;
  reportNotices(config.notices, seen, write);
  const projection = person?.projection ?? (await createChosenProjection(format, flags, io));
  const { approver, toolServers } = person ?? {};
  const report = (line: string): void => write(formatNotice(line));
  const run = createPromptRun({ message, config, flags, io, control, spentMs, approver, toolServers, report });
  const notices = person || io.isErrorTerminal ? createNoticeReport(seen, write) : undefined;
  const delivery = await deliverEvents(run.events(), {
    projection,
    output: person
      ? { write: (text) => person.write(text) as undefined }
      : io.openOutput({ isEnding: () => control.exitCode !== undefined }),
    onStart: notices?.reportStart,
    onNotice: (notice, isFallback) => (isFallback ? reportNotices([notice], seen, write) : notices?.report(notice)),
    // A job that seems to hang says why; a person at the terminal sees it anyway.
    onQuotaWait: person ? undefined : (until) => reportNotices([formatQuotaWait(until)], seen, write),
    onOutputError: (error) =>
      control.abort(
        new SheafError("CANCELLED", `stdout was closed (${error.code ?? error.message})`, { cause: error }),
      ),
    heartbeat: config.heartbeatMs === undefined ? undefined : { everyMs: config.heartbeatMs, now },
  });
  await run.close();
  return reportEnd(delivery, control.exitCode, {
    verbose: flags.verbose ?? false,
    io,
    write: person?.write,
    namesSession: format === "json" && !flags["no-save"],
  });
}
