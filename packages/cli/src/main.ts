/** Entry of the program: runs the command line of this process. */
import { SheafError } from "@sheaf/base/errors";
import { silenceRuntimeWarnings } from "@sheaf/base/runtime-warnings";
import { createTextMask } from "@sheaf/base/text-mask";
import { sheafVersion } from "@sheaf/base/version";
import type { ParsedArguments } from "./arguments.ts";
import { controlledCommands, reportFailure, runCommandLine } from "./command-line.ts";
import { createProcessPorts } from "./io.ts";
import { collectEarly, useSmallMemory } from "./small-memory.ts";

// Programs import this to run a command line in their own process.
export { runCommandLine };

/** Milliseconds for a command to load its code. Collecting garbage earlier would only delay the first request. */
const startMs = 250;

export async function startSheaf(): Promise<void> {
  const words = process.argv.slice(2);
  const writeError = (text: string): void => void process.stderr.write(createTextMask().mask(text));
  const fail = (error: unknown): never => process.exit(reportFailure(error, words, { writeError }));
  process.on("uncaughtException", fail);
  silenceRuntimeWarnings();
  if (words.length === 1 && (words[0] === "--version" || words[0] === "-v")) {
    // Every tool that looks for Sheaf requests the version, so load no more code for it.
    process.stdout.write(`${sheafVersion}\n`);
    return;
  }
  const ports = createProcessPorts();
  process.exit(await runCommandLine(words, { ports, environment: process.env, findFolder, onCommand: prepareProcess }));
}

function prepareProcess({ command, flags }: ParsedArguments): void {
  // Removes a key or a password from the list of processes, which other users of this machine can see (S-42).
  const secrets = ["api-key", "header", "store"] as const;
  if (secrets.some((name) => flags[name] !== undefined)) process.title = "sheaf";
  if (flags.help || flags.version) return;
  if (command === "serve") useSmallMemory();
  if (controlledCommands.has(command)) setTimeout(collectEarly, startMs).unref();
}

/** Returns the current folder. @throws SheafError USAGE if it was deleted. */
function findFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new SheafError("USAGE", "the current folder is gone: go to one that exists", { cause: error });
  }
}
