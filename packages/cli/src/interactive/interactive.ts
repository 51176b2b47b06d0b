/** `sheaf` alone in a terminal: a conversation, prompt by prompt, which stays in the terminal's scrollback. */
import type { RunStart } from "@sheaf/protocol";
import { createToolServers, type ToolServers } from "@sheaf/agent/assemble/wire-servers";
import { SheafError, errorTable, toSheafError } from "@sheaf/base/errors";
import { sheafVersion } from "@sheaf/base/version";
import type { ParsedArguments } from "../arguments.ts";
import { readQuestion, toAnswerMessage } from "../commands/answer.ts";
import { printRun, toMessageFiles } from "../commands/prompt.ts";
import type { FlagValues } from "../flags.ts";
import { createApprovalMenu } from "./approval-menu.ts";
import { completeLine } from "./complete-line.ts";
import { LineConsole } from "./line-console.ts";
import { openPromptHistory, type PromptHistory } from "./prompt-history.ts";
import { askQuestions } from "./ask-questions.ts";
import { chooseRevert, runSlashCommand, type InteractiveState } from "./run-slash-command.ts";
import { parseSlashLine } from "./slash-commands.ts";
import { toConversationId } from "../session-id.ts";
import { listOwnCommands, listServerCommands } from "../own-commands.ts";
import type { CommandIo } from "../io.ts";
import { checkCommandLine } from "../command-flags.ts";
import { formatFailure, formatNotice } from "../report-error.ts";
import { chooseLocale } from "../output-choice.ts";
import { toConfig } from "../run-config.ts";
import type { PromptOrder } from "../prompt-run.ts";
import { chooseSession } from "../run-tree.ts";
import { createRunControl } from "../signals.ts";
import { toVisibleLine, toVisibleText } from "@sheaf/agent/output/visible-text";
import { createTerminalProjection } from "@sheaf/agent/output/terminal/terminal";

interface TerminalState extends InteractiveState {
  /** Tool servers of the session (C51). */
  readonly toolServers: ToolServers;
  readonly console: LineConsole;
  /** Notices that the user has seen. */
  readonly seen: Set<string>;
  /** Files for the next prompt (C42). */
  files: Pick<RunStart, "attachments">;
}

type Message = PromptOrder["message"];

/** Runs the conversation to its end; returns 0, or the code of the signal that ended it. */
export async function runInteractive(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags, positionals } = parsed;
  if (flags["output-format"] !== undefined) {
    throw new SheafError("USAGE", '--output-format works in print mode only: write sheaf -p "your prompt"');
  }
  if (flags.worktree !== undefined) {
    throw new SheafError("USAGE", '--worktree works in print mode only: write sheaf -p "your prompt" --worktree');
  }
  checkCommandLine(parsed);
  keepTerminalClean();
  const files = toMessageFiles(flags, io);
  const session = await chooseSession(flags, toConfig(flags, io));
  const history = openHistory(flags, io);
  const state: TerminalState = {
    console: new LineConsole({
      input: process.stdin,
      output: process.stdout,
      history,
      complete: async (before) => {
        const config = toConfig(state.flags, io);
        const prompts = /^\/\S*$/.test(before) ? await listServerCommands(state.toolServers, state.session) : [];
        const conversation = toConversationId(state.session) ?? "";
        return completeLine(
          before,
          config.workspace,
          () => [...listOwnCommands(config, io), ...prompts],
          (server) => state.toolServers.listAddresses(conversation, server),
        );
      },
      sendSignal: sendOwnSignal,
    }),
    flags,
    session,
    seen: new Set(),
    toolServers: createToolServers(io.environment, { maxResting: 1 }, new Map()),
    files,
    listServerCommands: () => listServerCommands(state.toolServers, state.session),
    shorten: async () => void (await respond({ prompt: "", shortens: true }, state, io)),
    print: (text) => void process.stdout.write(toVisibleText(text)),
    chooseRevert: (conflict) => state.console.yield(() => chooseRevert(conflict)),
  };
  process.stdout.write(formatHead(state, io));
  let first = positionals.join(" ").trim();
  for (let interrupts = 0; ;) {
    const input = first === "" ? await state.console.read() : ({ kind: "text", text: first } as const);
    first = "";
    if (input.kind === "end") break;
    if (input.kind === "interrupt") {
      interrupts += 1;
      if (interrupts === 2) break;
      process.stdout.write("\nPress Ctrl-C again to leave.\n");
      continue;
    }
    interrupts = 0;
    const { text } = input;
    orNotice(() => history.add(text));
    if ((await runLine(text, state, io)) === "quit") break;
  }
  state.console.close();
  await state.toolServers.close();
  process.stdout.write(`\nGo on with: sheaf --resume ${state.session}\n`);
  return 0;
}

/** Opens the user's history. If that fails, it shows the reason, and the history lasts as long as the conversation. */
function openHistory(flags: FlagValues, io: CommandIo): PromptHistory {
  const open = () => openPromptHistory(flags["no-save"] ? undefined : toConfig(flags, io).dataFolder);
  return orNotice(open) ?? openPromptHistory(undefined);
}

function orNotice<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    process.stdout.write(formatNotice(toSheafError(error).message));
    return undefined;
  }
}

/** Sends the signal that the terminal doesn't send in raw mode. Without a run that listens, Ctrl-C ends the program. */
function sendOwnSignal(name: "SIGINT" | "SIGTSTP"): void {
  if (name === "SIGINT" && process.listenerCount(name) === 0) process.exit(errorTable.CANCELLED.exitCode);
  process.kill(process.pid, name);
}

/** Advice for a user who starts Sheaf for the first time. */
const firstSteps = `Choose a model first:
  /model anthropic/ID  with ANTHROPIC_API_KEY set, or after "sheaf login anthropic"; also openai/ID, google/ID
  /model ollama/ID     on this machine
  /model offline       built in, to try things out without a key
"sheaf doctor" checks this machine.
`;

function formatHead(state: TerminalState, io: CommandIo): string {
  const { model, mode, workspace } = toConfig(state.flags, io);
  const head = `sheaf ${sheafVersion} · ${model ?? "no model"} · ${mode} · ${toVisibleLine(workspace)}\n`;
  return `${head}${model === undefined ? firstSteps : ""}Ctrl-C stops, /help shows more.\n\n`;
}

/** Runs a line; shows a failure, after which the conversation continues. */
async function runLine(line: string, state: TerminalState, io: CommandIo): Promise<"quit" | undefined> {
  if (line.trim() === "") return undefined;
  try {
    const slash = parseSlashLine(line, () => listOwnCommands(toConfig(state.flags, io), io));
    if (slash?.kind === "unknown") process.stdout.write(`${slash.message}\n`);
    else if (slash) return await runSlashCommand(slash, state, io);
    else {
      const { files } = state;
      // The files belong to the first prompt.
      state.files = {};
      await converse({ prompt: line, ...files }, state, io);
    }
  } catch (error) {
    const { code, message } = toSheafError(error);
    process.stderr.write(formatFailure({ code, message }, false));
  }
  return undefined;
}

/** Runs one response, and more as long as the agent asks and the user answers. */
async function converse(message: Message, state: TerminalState, io: CommandIo): Promise<void> {
  for (let next: Message | undefined = message; next;) {
    const code = await respond(next, state, io);
    next = code === errorTable.NEEDS_INPUT.exitCode ? await askPerson(state, io) : undefined;
  }
}

async function respond(message: Message, state: TerminalState, io: CommandIo): Promise<number> {
  const { flags, session, seen, toolServers, console: keys } = state;
  const control = createRunControl(io);
  const { NO_COLOR, TERM } = io.environment;
  const hasColors = !NO_COLOR && TERM !== "dumb";
  const projection = createTerminalProjection({
    locale: chooseLocale(flags, io),
    hasColors,
    includeThinking: flags["include-thinking"] ?? false,
  });
  const approver = createApprovalMenu({
    hasColors,
    console: keys,
    onCancel: () => control.abort(new SheafError("CANCELLED", "cancelled at a question", { source: "user" })),
  });
  const cancel = (): void => control.abort(new SheafError("CANCELLED", "cancelled by Esc", { source: "user" }));
  const conversation = {
    approver,
    toolServers,
    seen,
    terminal: { projection, write: (text: string) => keys.write(text) },
  };
  const { continue: _, "session-id": __, ...rest } = flags;
  try {
    const runFlags = { ...rest, resume: session };
    const start = { message, config: toConfig(runFlags, io), flags: runFlags };
    return await keys.attend(() => printRun(start, io, control, conversation), cancel);
  } finally {
    control.close();
    // A signal other than Ctrl-C ends the program.
    if (control.exitCode !== undefined && control.exitCode !== errorTable.CANCELLED.exitCode)
      process.exit(control.exitCode);
  }
}

async function askPerson(state: TerminalState, io: CommandIo): Promise<Message | undefined> {
  const { storeFile } = toConfig(state.flags, io);
  const question = await readQuestion(storeFile, state.session);
  const answers = await state.console.yield(() => askQuestions(question));
  return answers && toAnswerMessage(answers);
}

/** Restores echo and the cursor however the process ends, except by SIGKILL. */
export function keepTerminalClean(): void {
  process.on("exit", () => {
    if (process.stdin.isRaw) process.stdin.setRawMode(false);
    // Show the cursor, and end the marking of pastes.
    process.stdout.write("\u001B[?25h\u001B[?2004l");
  });
  // During a run, its handlers end the run; at the prompt, these end the program.
  for (const [name, code] of [
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGQUIT", 131],
  ] as const) {
    process.on(name, () => {
      if (process.listenerCount(name) === 1) process.exit(code);
    });
  }
}
