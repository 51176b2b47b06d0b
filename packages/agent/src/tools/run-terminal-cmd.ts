/** run_terminal_cmd: one shell command, to its end (N37). */
import type { CommandEffect } from "@sheaf/protocol";
import type * as z from "zod/mini";
import type { CommandOutcome } from "../sandbox/command.ts";
import { toCancelledOutcome, toFailedOutcome, toFailure } from "./failure.ts";
import { flag, object, optional, positiveInteger, string } from "./parameters.ts";
import type { Tool, ToolOutcome } from "./tool.ts";

const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 600_000;

const parameters = object({
  command: string("Shell command (bash)"),
  working_directory: optional(string("Folder in the workspace; default: the workspace")),
  timeout_ms: optional(
    positiveInteger(
      `Ends the command after this time; default ${defaultTimeoutMs}, at most ${maxTimeoutMs}`,
      maxTimeoutMs,
    ),
  ),
  is_background: optional(flag("Not supported: must be false")),
  description: optional(string("What the command is for, in a few words")),
});

/** An exit code other than 0 is a success of the tool: the model reads it (N37). Nothing of the command stays behind. */
export const runTerminalCmdTool: Tool<z.infer<typeof parameters>> = {
  name: "run_terminal_cmd",
  description:
    "Run a shell command in the workspace and wait for its end. No input can be given; what it leaves in the background is ended.",
  documentType: "terminal_command",
  access: "command",
  parameters,
  async run({ command, working_directory = ".", timeout_ms = defaultTimeoutMs, is_background }, context) {
    if (command.trim() === "") return toFailure("INVALID_ARGUMENTS", "the command is empty: write one");
    if (is_background) {
      const advice = "run it in the foreground with timeout_ms; it is ended after that time and you see its output";
      return toFailure("UNSUPPORTED", `is_background is not supported: ${advice}`);
    }
    const folder = context.workspace.resolve(working_directory);
    if (!folder.ok) return toFailedOutcome(folder.error);
    const workingDirectory = folder.path.absolute;
    const outcome = await context.commands.run({
      command,
      workingDirectory,
      timeoutMs: timeout_ms,
      signal: context.signal,
      onOutput: context.emitOutput,
    });
    return toToolOutcome(outcome, { command, workingDirectory, timeoutMs: timeout_ms });
  },
};

interface CommandFacts {
  readonly command: string;
  readonly workingDirectory: string;
  readonly timeoutMs: number;
}

function toToolOutcome(outcome: CommandOutcome, { command, workingDirectory, timeoutMs }: CommandFacts): ToolOutcome {
  const { exitCode, signal, stdout, stderr, timedOut, permissions } = outcome;
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
  };
  const output = outcome.output;
  const cut = outcome.truncated ? { truncated: true as const, bytes: outcome.bytes } : {};
  if (outcome.cancelled) return { ...toCancelledOutcome(), output, effect, ...cut };
  if (outcome.startError !== "") {
    return { ...toFailure("COMMAND_NOT_STARTED", `the command was not started: ${outcome.startError}`), effect };
  }
  const note = toNote(outcome, timeoutMs);
  return { status: "success", output, effect, ...cut, ...(note !== "" && { note }) };
}

/** What the output itself does not say; "" if there is nothing. */
function toNote({ exitCode, signal, timedOut, truncated, bytes, output }: CommandOutcome, timeoutMs: number): string {
  const notes: string[] = [];
  if (timedOut) notes.push(`The command was ended after ${timeoutMs} ms; raise timeout_ms (at most ${maxTimeoutMs}).`);
  else if (signal !== "") notes.push(`Ended by ${signal}, exit code ${exitCode}.`);
  else if (exitCode !== 0) notes.push(`Exit code ${exitCode}.`);
  else if (output === "") notes.push("Exit code 0, no output.");
  if (truncated) notes.push(`The output has ${bytes} bytes; its middle was cut out. Write it into a file to see all.`);
  return notes.join(" ");
}
