/** Entry of the command line: finds the command and loads it, nothing else. */
import { errorTable, SheafError, toSheafError } from "../base/errors.ts";
import { sheafVersion } from "../base/version.ts";
import { parseArguments } from "./arguments.ts";
import { isPrintMode, isTerminal, type CommandIo } from "./io.ts";
import { chooseProfile } from "./profile-choice.ts";
import { formatFailure } from "./report-error.ts";
import { createRunControl, type RunControl } from "./signals.ts";
import { useSmallMemory } from "./small-memory.ts";

async function runCommandLine(words: readonly string[]): Promise<number> {
  const parsed = parseArguments(words);
  // A key on the command line is taken out of what other users of this machine can list (S-42).
  if (parsed.flags["api-key"] !== undefined || parsed.flags.header !== undefined) process.title = "sheaf";
  const io: CommandIo = {
    environment: process.env,
    cwd: findFolder(),
    profile: chooseProfile(parsed.flags.compat, process.argv[1] ?? ""),
    isInputTerminal: isTerminal(0),
    isOutputTerminal: isTerminal(1),
  };
  if (parsed.flags.version) {
    process.stdout.write(`${sheafVersion}\n`);
    return 0;
  }
  if (parsed.flags.help) {
    return (await import("./commands/help.ts")).runHelp(parsed);
  }
  switch (parsed.command) {
    case "prompt":
      if (!isPrintMode(parsed.flags, io)) {
        return (await import("./interactive/interactive.ts")).runInteractive(parsed, io);
      }
      return runWithControl(async (control) => (await import("./commands/prompt.ts")).runPrompt(parsed, io, control));
    case "answer":
      return runWithControl(async (control) => (await import("./commands/answer.ts")).runAnswer(parsed, io, control));
    case "show":
      return (await import("./commands/show.ts")).runShow(parsed, io);
    case "ls":
      return (await import("./commands/sessions.ts")).runListSessions(parsed, io);
    case "create-chat":
      return (await import("./commands/sessions.ts")).runCreateChat(parsed);
    case "export":
      return (await import("./commands/export.ts")).runExport(parsed, io);
    case "fork":
      return (await import("./commands/sessions.ts")).runFork(parsed, io);
    case "rm":
      return (await import("./commands/sessions.ts")).runRemoveSession(parsed, io);
    case "import":
      return (await import("./commands/import.ts")).runImport(parsed, io);
    case "replay":
      return (await import("./commands/replay.ts")).runReplay(parsed, io);
    case "convert":
      return (await import("./commands/convert.ts")).runConvert(parsed, io);
    case "schema":
      return (await import("./commands/schema.ts")).runSchema(parsed);
    case "login":
      return (await import("./commands/login.ts")).runLogin(parsed, io);
    case "logout":
      return (await import("./commands/login.ts")).runLogout(parsed, io);
    case "status":
    case "whoami":
      return (await import("./commands/status.ts")).runStatus(parsed, io);
    case "revert":
      return (await import("./commands/revert.ts")).runRevert(parsed, io);
    case "instrumentation":
      return (await import("./commands/instrumentation.ts")).runInstrumentation(parsed, io);
    case "trust":
      return (await import("./commands/trust.ts")).runTrust(parsed, io);
    case "permissions":
      return (await import("./commands/permissions.ts")).runPermissions(parsed, io);
    case "serve":
      useSmallMemory();
      return runWithControl(async (control) => (await import("./commands/serve.ts")).runServe(parsed, io, control));
    case "models":
      return (await import("./commands/models.ts")).runModels(parsed, io);
    case "about":
      return (await import("./commands/about.ts")).runAbout(parsed, io);
    case "config":
      return (await import("./commands/config.ts")).runConfig(parsed, io);
    case "doctor":
      return (await import("./commands/doctor.ts")).runDoctor(parsed, io);
    case "completion":
      return (await import("./commands/completion.ts")).runCompletion(parsed);
    case "mcp":
      return (await import("./commands/mcp.ts")).runMcp(parsed, io);
    case "acp":
      return runWithControl(async (control) => (await import("./commands/acp.ts")).runAcp(parsed, io, control));
    case "install-alias":
      return (await import("./commands/install-alias.ts")).runInstallAlias(parsed);
    case "help":
      return (await import("./commands/help.ts")).runHelp(parsed);
  }
}

/** @throws SheafError USAGE where the shell's current folder was removed. */
function findFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new SheafError("USAGE", "the current folder is gone: go to one that exists", { cause: error });
  }
}

/** Listens to signals before the command is loaded: from then on each has its last line and its code (C22, C23). */
function runWithControl(run: (control: RunControl) => Promise<number>): Promise<number> {
  return run(createRunControl());
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
