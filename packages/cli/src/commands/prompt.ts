/** `sheaf -p PROMPT`: one response, printed (sections 1 and 2 of docs/formats/cli.md). */
import { resolve } from "node:path";
import { readNotices, type Notice, type RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { createOutputMask } from "@sheaf/agent/output/event-mask";
import type { Projection } from "@sheaf/agent/output/projection";
import type { Approver } from "@sheaf/agent/tools/approval";
import type { ParsedArguments } from "../arguments.ts";
import { deliverEvents, type DeliveryOptions } from "../deliver.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection, toOutputFormat } from "../output-choice.ts";
import { checkCommandLine } from "../command-flags.ts";
import { now } from "@sheaf/agent/assemble/wire";
import type { ToolServers } from "@sheaf/agent/assemble/wire-servers";
import { createRunSummary } from "@sheaf/documents/run-summary";
import { createPromptRun, type PromptOrder } from "../prompt-run.ts";
import { readPrompt, skippedInputNotice } from "../standard-input.ts";
import type { LineOutput } from "../standard-output.ts";
import { runOrRefuse } from "../refused-run.ts";
import { reportEnd } from "../report-end.ts";
import { createLastMessage } from "../last-message.ts";
import { createNoticeReport, formatNotice, reportFacts, reportNotices } from "../report-error.ts";
import { toConfig, type RunConfig } from "../run-config.ts";
import { checkSessionWord } from "../session-words.ts";
import type { RunControl } from "../signals.ts";
import { readAttachments } from "@sheaf/base/files/attachment";

/** Runs one prompt; returns the exit code (C20). */
export async function runPrompt(parsed: ParsedArguments, io: CommandIo, control: RunControl): Promise<number> {
  const prepare = async (): Promise<PromptStart> => {
    const { flags } = parsed;
    checkCommandLine(parsed);
    // Wrong flags must fail before the command reads stdin.
    if (flags.resume) checkSessionWord(flags.resume, { isResumed: true });
    const config = toConfig(flags, io);
    const files = toMessageFiles(flags, io);
    const timer = setInputTimer(config, io, control);
    const { message, typed } = await readPrompt(parsed, io, control.signal);
    clearTimeout(timer);
    const { isQuiet = false } = io.dialect;
    if (message.stdin && isQuiet && io.findInputKind() !== "socket")
      reportNotices([skippedInputNotice], new Set(), io.writeError);
    const notices = [...config.notices, ...(message.stdin && !isQuiet ? [skippedInputNotice] : [])];
    return { message: { ...message, ...files }, config: { ...config, notices, typed }, flags };
  };
  return runOrRefuse(prepare, (start) => printRun(start, io, control), toOutputFormat(parsed.flags, io), parsed, io);
}

/** Reads `--file` and `--image` (C42, C149). @throws SheafError USAGE for a file that can't be attached. */
export function toMessageFiles({ file = [], image = [] }: FlagValues, io: CommandIo): Pick<RunStart, "attachments"> {
  const words = [...file, ...image];
  if (words.includes("")) throw new SheafError("USAGE", "--file names no file: write --file FILE");
  const files = words.map((word) => resolve(io.cwd, word));
  return files.length === 0 ? {} : { attachments: readAttachments(files) };
}

/** Limits the time of stdin to the time of the run (C24): after it, the run ends before its first turn. */
function setInputTimer({ timeoutMs }: RunConfig, io: CommandIo, control: RunControl): NodeJS.Timeout | undefined {
  if (timeoutMs === undefined) return undefined;
  const message = `stdin did not end within ${timeoutMs / 1000} s: close it, or raise --timeout`;
  const leftMs = Math.max(0, timeoutMs - (performance.now() - io.startedAt));
  return setTimeout(() => control.abort(new SheafError("BUDGET_TIME", message)), leftMs);
}

/** Arguments of `createPromptRun` without its ports. */
type PromptStart = Pick<PromptOrder, "message" | "config" | "flags">;

/** A conversation of several runs, with the user at a terminal or with a program. */
export interface Conversation extends Pick<DeliveryOptions, "onEvents" | "onOutputError"> {
  /** Asks the user or the program (X8); undefined if there is neither. */
  readonly approver: Approver | undefined;
  readonly takeMessage?: PromptOrder["takeMessage"];
  readonly toolServers: ToolServers;
  /** Notices that earlier runs have shown; the run adds its own. */
  readonly seen: Set<string>;
  /** Stdout for a program. */
  readonly output?: LineOutput;
  /** Terminal of a user: shows the run, and replaces stderr. */
  readonly terminal?: { readonly projection: Projection; readonly write: (text: string) => void };
}

function formatQuotaWait(until: string): string {
  return `the provider's quota is used up: --wait-for-quota waits until ${until}, unless --timeout ends it`;
}

/** Runs one response to its end and prints it; returns the exit code. Asks questions only in a conversation. */
export async function printRun(
  start: PromptStart,
  io: CommandIo,
  control: Pick<RunControl, "signal" | "abort" | "exitCode">,
  conversation?: Conversation,
): Promise<number> {
  const { config, flags } = start;
  const { approver, takeMessage, toolServers, terminal, seen = new Set<string>() } = conversation ?? {};
  // In a conversation, each run has its own time; otherwise the run has the time of the process.
  const spentMs = conversation ? 0 : performance.now() - io.startedAt;
  const format = toOutputFormat(flags, io);
  const write = terminal?.write ?? io.writeError;
  const report = (notice: Notice): void => reportNotices([notice], seen, write);
  reportNotices(config.notices, seen, write);
  const projection = terminal?.projection ?? (await createChosenProjection(format, flags, io));
  const run = createPromptRun({ ...start, io, control, spentMs, approver, takeMessage, toolServers });
  const isShown = terminal !== undefined || (!conversation && io.isErrorTerminal);
  const notices = isShown ? createNoticeReport(seen, write) : undefined;
  const summary = format === "text" && !conversation && !io.dialect.isQuiet ? createRunSummary() : undefined;
  const lastMessage = createLastMessage(flags["output-last-message"], io);
  const delivery = await deliverEvents(run.events(), {
    projection,
    output: terminal
      ? { write: (text) => terminal.write(text) as undefined }
      : (conversation?.output ?? io.openOutput({ isEnding: () => control.signal.aborted })),
    // A program at both ends needs the unmasked texts (C64).
    mask: conversation?.output ? undefined : createOutputMask(io.environment),
    onEvents(events) {
      lastMessage?.push(events);
      conversation?.onEvents?.(events);
      if (summary) for (const event of events) summary.push(event);
    },
    onStart(event) {
      const uncontained = readNotices(event).filter(({ code }) => code === "NOT_CONTAINED");
      reportNotices(uncontained, seen, write);
      notices?.reportStart(event);
    },
    onNotice: (notice, isForAll) => (isForAll ? report(notice) : notices?.report(notice)),
    // Explains the wait to the reader of a job's stderr; a terminal's user sees it in the run.
    onQuotaWait: conversation ? undefined : (until) => write(formatNotice(formatQuotaWait(until))),
    onOutputError(error) {
      const message = `stdout was closed (${error.code ?? error.message})`;
      control.abort(new SheafError("CANCELLED", message, { cause: error }));
      conversation?.onOutputError?.(error);
    },
    heartbeat: config.heartbeatMs === undefined ? undefined : { everyMs: config.heartbeatMs, now },
  });
  await run.close();
  if (summary) reportFacts(summary.toFacts().told, delivery.end?.error?.message, seen, write);
  const code = reportEnd(delivery, control.exitCode, {
    verbose: flags.verbose ?? false,
    io,
    write: terminal?.write,
    namesSession: format === "json" && !flags["no-save"],
  });
  return lastMessage?.write(code) ?? code;
}
