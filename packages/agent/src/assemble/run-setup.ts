/** The command that prepares a new working tree (S-127). */
import type { CommandRunner } from "../guard/sandbox/command.ts";
import { toLine } from "../workspace/read-folder.ts";
import type { TreeSetup } from "./run-request.ts";

/** What a failed command says at its end. Characters. */
const MAX_SETUP_OUTPUT = 300;

/** Prepares a new tree, in the sandbox, with the rules for commands; gives why it failed (S-127). */
export async function runSetup(
  { command, timeoutMs }: TreeSetup,
  commands: CommandRunner,
  workingDirectory: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const outcome = await commands.run({ command, workingDirectory, timeoutMs, signal, onOutput: () => undefined });
  const { exitCode, refusal, startError, timedOut, stderr } = outcome;
  if (exitCode === 0 && refusal === "" && startError === "") return undefined;
  const reason = refusal || startError || (timedOut ? "it took too long" : `exit code ${exitCode}`);
  const output = toLine(stderr.trim().slice(-MAX_SETUP_OUTPUT));
  return `the setup of the working tree failed (${reason})${output === "" ? "" : `: ${output}`}`;
}
