/** Entry of the program: runs the command line of this process. */
import { SheafError } from "@sheaf/base/errors";
import { silenceRuntimeWarnings } from "@sheaf/base/runtime-warnings";
import { createTextMask } from "@sheaf/base/text-mask";
import { sheafVersion } from "@sheaf/base/version";
import type { ParsedArguments } from "./arguments.ts";
import { controlledCommands, reportFailure, runCommandLine } from "./command-line.ts";
import { createProcessPorts } from "./io.ts";
import { collectEarly, useSmallMemory } from "./small-memory.ts";

// For programs that run a command line in their own process.
export { runCommandLine };

/** Milliseconds until a command has loaded its code, which is no garbage: to collect before would delay the first request. */
const startMs = 250;

/** Runs the command line of this process, and ends the process. */
export async function startSheaf(): Promise<void> {
  const words = process.argv.slice(2);
  const writeError = (text: string): void => void process.stderr.write(createTextMask().mask(text));
  const fail = (error: unknown): never => process.exit(reportFailure(error, words, { writeError }));
  process.on("uncaughtException", fail);
  silenceRuntimeWarnings();
  if (words.length === 1 && (words[0] === "--version" || words[0] === "-v")) {
    // Asked for by every tool that probes for Sheaf: loads nothing more.
    process.stdout.write(`${sheafVersion}\n`);
    return;
  }
  const ports = createProcessPorts();
  process.exit(await runCommandLine(words, { ports, environment: process.env, findFolder, onCommand: prepareProcess }));
}

/** Makes this process one for the command. */
function prepareProcess({ command, flags }: ParsedArguments): void {
  // A key or a password on the command line is taken out of what other users of this machine can list (S-42).
  const secrets = ["api-key", "header", "store"] as const;
  if (secrets.some((name) => flags[name] !== undefined)) process.title = "sheaf";
  if (flags.help || flags.version) return;
  if (command === "serve") useSmallMemory();
  if (controlledCommands.has(command)) setTimeout(collectEarly, startMs).unref();
}

/** @throws SheafError USAGE where the shell's current folder was removed. */
function findFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new SheafError("USAGE", "the current folder is gone: go to one that exists", { cause: error });
  }
}
