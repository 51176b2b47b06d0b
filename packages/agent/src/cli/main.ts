/** Entry of the command line: finds the command and loads it, nothing else. */
import { errorTable, toSheafError } from "../errors.ts";
import { sheafVersion } from "../version.ts";
import { parseArguments } from "./arguments.ts";
import type { CommandIo } from "./io.ts";
import { formatFailure } from "./report-error.ts";

async function runCommandLine(words: readonly string[]): Promise<number> {
  const parsed = parseArguments(words);
  const io: CommandIo = {
    environment: process.env,
    cwd: process.cwd(),
    isInputTerminal: process.stdin.isTTY,
    isOutputTerminal: process.stdout.isTTY,
  };
  if (parsed.flags.version) {
    process.stdout.write(`${sheafVersion}\n`);
    return 0;
  }
  if (parsed.flags.help) {
    const { formatHelp } = await import("./commands/help.ts");
    process.stdout.write(formatHelp());
    return 0;
  }
  switch (parsed.command) {
    case "prompt":
      return (await import("./commands/prompt.ts")).runPrompt(parsed, io);
    case "answer":
      return (await import("./commands/answer.ts")).runAnswer(parsed, io);
    case "show":
      return (await import("./commands/show.ts")).runShow(parsed, io);
    case "convert":
      return (await import("./commands/convert.ts")).runConvert(parsed, io);
    case "schema":
      return (await import("./commands/schema.ts")).runSchema(parsed);
  }
}

function fail(error: unknown): never {
  const known = toSheafError(error);
  const verbose = process.argv.includes("--verbose");
  const stack = known.code === "INTERNAL" && error instanceof Error ? (error.stack ?? "") : known.details;
  process.stderr.write(formatFailure({ code: known.code, message: known.message, details: stack }, verbose));
  process.exit(errorTable[known.code].exitCode);
}

process.on("uncaughtException", fail);
const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === "--version" || words[0] === "-v")) {
  // Asked for by every tool that probes for Sheaf: loads nothing more.
  process.stdout.write(`${sheafVersion}\n`);
} else {
  try {
    process.exit(await runCommandLine(words));
  } catch (error) {
    fail(error);
  }
}
