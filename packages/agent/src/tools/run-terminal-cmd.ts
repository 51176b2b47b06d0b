/** run_terminal_cmd: one shell command, to its end (N37). */
import type { CommandEffect } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { type BackgroundCommand, maxRunning, type WholeOutcome } from "./background-commands.ts";
import type { CommandOutcome, CommandRequest } from "@sheaf/sandbox/command";
import { quoteWord } from "@sheaf/sandbox/programs";
import { toCancelledOutcome, toFailedOutcome, toFailure } from "./failure.ts";
import type { Tool, ToolContext, ToolReturn } from "./tool.ts";
import { type GivenArguments, toOptional, toArgumentText } from "./tool-traits.ts";

const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 600_000;
/** Milliseconds in which a background command may fail at once. */
const firstLookMs = 200;

/** Shows the exit codes of a pipe that bash drops, except 141: then the reader had enough. */
const pipeReport = `[ -z "$BASH" ] || trap 'set -- $? "\${PIPESTATUS[@]}" && [ $1 = 0 ] && shift && [[ " \${*//141/0}" =~ \\ [1-9] ]] && echo "bash: exit codes in the last pipe: $*" >&2' EXIT\n`;

const parameters = s.object({
  command: s.string({ description: "For bash" }),
  working_directory: s.optional(s.string({ description: "Default: the workspace" })),
  timeout_ms: s.optional(
    s.integer({
      minimum: 1,
      maximum: maxTimeoutMs,
      description: `Then it continues in the background; default ${defaultTimeoutMs}, at most ${maxTimeoutMs}. With is_background, it ends then`,
    }),
  ),
  is_background: s.optional(s.boolean({ description: "For servers; read its output with read_terminal" })),
  description: s.optional(s.string({ description: "Its purpose, in a few words" })),
});

/** Succeeds with any exit code, which the model reads (N37). No process of the command keeps running. */
export const runTerminalCmdTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "run_terminal_cmd",
  description:
    "Run a shell command and wait until it ends: tests, builds, git and other programs. To read, search and change files, use the other tools. Returns output and exit code. It gets no input, so pass flags such as --yes. Sheaf ends processes that it leaves running, so start servers with is_background.",
  access: "command",
  paths: { folders: ["working_directory"] },
  words: [
    "Ran terminal command",
    "Terminal-Befehl ausgeführt",
    "Terminal komutu çalıştırıldı",
    "ターミナルコマンドを実行しました",
    "已執行終端機指令",
  ],
  kind: "execute",
  toCursor: ({ command, working_directory, timeout_ms, is_background, description }, toolCallId) => ({
    shellToolCall: {
      command: toArgumentText(command),
      workingDirectory: toArgumentText(working_directory),
      timeout: Number.isInteger(timeout_ms) ? timeout_ms : 0,
      toolCallId,
      isBackground: is_background === true,
      ...toOptional("string", { description }),
    },
  }),
  claude: { name: "Bash", fields: { timeout_ms: "timeout", is_background: "run_in_background" } },
  aliases: ["bash", "exec", "shell", "execcommand", "runcommand", "executecommand", "runshellcommand", "terminal"],
  mend: toOneCommand,
  parameters,
  async run({ command, working_directory = ".", timeout_ms, is_background = false }, context) {
    if (command.trim() === "") return toFailure("INVALID_ARGUMENTS", "the command is empty: write one");
    const folder = context.workspace.resolve(working_directory);
    if (!folder.ok) return toFailedOutcome(folder.error);
    const workingDirectory = folder.path.absolute;
    if (is_background) return startInBackground({ command, workingDirectory, timeoutMs: timeout_ms }, context);
    const timeoutMs = timeout_ms ?? defaultTimeoutMs;
    const { results, signal, emitOutput, background } = context;
    const facts = { command, workingDirectory, timeoutMs };
    const script = command.includes("|") ? pipeReport + command : command;
    const request = { ...facts, command: script, results };
    const { outcome, goesOn } = await background.run(request, { signal, onOutput: emitOutput });
    return goesOn ? toOpenOutcome(outcome, goesOn, facts) : toToolOutcome(outcome, facts);
  },
};

/** Turns a list into a command: a shell with its script, or words. A `timeout` below 1000 may be in seconds. */
function toOneCommand(args: GivenArguments): GivenArguments {
  const { timeout, timeout_ms, command } = args;
  if (Number(timeout) >= 1000 && timeout_ms === undefined) {
    const { timeout: _, ...rest } = args;
    return toOneCommand({ ...rest, timeout_ms: timeout });
  }
  if (!Array.isArray(command) || !command.every((word) => typeof word === "string")) return args;
  const isScript = command.length === 3 && /^(?:\S*\/)?(?:ba|z|da)?sh -\w*c$/.test(command.slice(0, 2).join(" "));
  const words = command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoteWord(word)));
  return { ...args, command: isScript ? command[2] : words.join(" ") };
}

/** Returns the outcome so far: the command continues, since a second try would not be faster. */
function toOpenOutcome(outcome: WholeOutcome, { id }: BackgroundCommand, facts: CommandFacts): ToolReturn {
  const returned = toToolOutcome(outcome, facts);
  if (returned.effect?.kind !== "command") return returned;
  const note = `It did not end within ${facts.timeoutMs} ms and continues in the background as ${id}, so don't start it again: wait for its output with read_terminal (wait_ms), or end it there (end). It ends with this run.`;
  const notes = [note, ...outcome.refusals].join(" ");
  return { ...returned, effect: { ...returned.effect, background: true, terminalId: id }, note: notes };
}

/** Starts a command, and reports at once if it fails at once. */
async function startInBackground(
  facts: CommandFacts,
  { background, signal, results }: ToolContext,
): Promise<ToolReturn> {
  const running = background.all.filter(({ outcome }) => outcome === undefined);
  if (running.length >= maxRunning) {
    const ids = running.map(({ id }) => id).join(", ");
    return toFailure("TOO_MANY_COMMANDS", `${ids} are still running: end one of them with read_terminal`);
  }
  const started = background.start({ ...facts, results });
  await started.waitForEnd(firstLookMs, signal);
  const { outcome, id } = started;
  const { text, whole } = started.takeOutput();
  if (outcome) return toToolOutcome({ ...outcome, whole }, facts);
  const { command, workingDirectory } = facts;
  const effect: CommandEffect = {
    kind: "command",
    command,
    workingDirectory,
    exitCode: 0,
    signal: "",
    stdout: text,
    stderr: "",
    timedOut: false,
    background: true,
    terminalId: id,
    permissions: started.permissions,
  };
  const note = `It is running in the background as ${id}: read its output or end it with read_terminal. It ends with this run.`;
  return { status: "success", output: text, effect, note, whole };
}

type CommandFacts = Pick<CommandRequest, "command" | "workingDirectory" | "timeoutMs">;

function toToolOutcome(outcome: WholeOutcome, { command, workingDirectory, timeoutMs }: CommandFacts): ToolReturn {
  const { exitCode, signal, stdout, stderr, timedOut, permissions, whole } = outcome;
  const effect: CommandEffect = {
    kind: "command",
    command,
    workingDirectory,
    exitCode,
    signal,
    stdout,
    stderr,
    timedOut,
    background: false,
    permissions,
    ...(outcome.refusals.length > 0 && { refusals: outcome.refusals }),
  };
  const output = outcome.output;
  const cut = outcome.truncated ? { truncated: true as const, bytes: outcome.bytes } : {};
  if (outcome.cancelled) {
    const note = outcome.refusals.length > 0 ? { note: outcome.refusals.join(" ") } : {};
    return { ...toCancelledOutcome(), output, effect, whole, ...cut, ...note };
  }
  if (outcome.refusal !== "") {
    return {
      status: "rejected",
      output: "",
      error: { code: "PERMISSION_DENIED", message: `the sandbox refused the command: ${outcome.refusal}`, details: "" },
      lacks: "sandbox",
      effect,
    };
  }
  if (outcome.startError !== "") {
    return { ...toFailure("COMMAND_NOT_STARTED", `the command was not started: ${outcome.startError}`), effect };
  }
  const note = [toNote(outcome, timeoutMs), ...outcome.refusals].filter((sentence) => sentence !== "").join(" ");
  return { status: "success", output, effect, whole, ...cut, ...(note !== "" && { note }) };
}

/** Returns the facts that the output lacks, or "". */
function toNote(outcome: CommandOutcome, timeoutMs: number | undefined): string {
  const { exitCode, signal, timedOut, output } = outcome;
  const notes: string[] = [];
  if (timedOut) notes.push(`The command ended at its timeout of ${timeoutMs} ms.`);
  else if (signal !== "") notes.push(`Ended by ${signal}, exit code ${exitCode}.`);
  else if (exitCode !== 0) notes.push(`Exit code ${exitCode}.`);
  else if (output === "") notes.push("Exit code 0, no output.");
  return notes.join(" ");
}
