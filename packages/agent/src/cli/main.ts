/** Entry of the command line: finds the command and loads it, nothing else. */
import { errorTable, SheafError, toSheafError } from "../base/errors.ts";
import { silenceRuntimeWarnings } from "../base/runtime-warnings.ts";
import { sheafVersion } from "../base/version.ts";
import { checkForeignFlags, parseArguments, type ParsedArguments } from "./arguments.ts";
import { takeCursorArguments } from "./cursor-arguments.ts";
import { chooseProfile, isPrintMode, isTerminal, type CommandIo } from "./io.ts";
import { formatFailure } from "./report-error.ts";
import { createRunControl, type RunControl } from "./signals.ts";
import { collectEarly, useSmallMemory } from "./small-memory.ts";

/** What a command does; gives its exit code. */
type RunCommand = (parsed: ParsedArguments, io: CommandIo, control: RunControl) => Promise<number>;

/** Each command is loaded when it is asked for. */
const commands: Readonly<Record<ParsedArguments["command"], () => Promise<RunCommand>>> = {
  prompt: async () => (await import("./commands/prompt.ts")).runPrompt,
  answer: async () => (await import("./commands/answer.ts")).runAnswer,
  show: async () => (await import("./commands/show.ts")).runShow,
  ls: async () => (await import("./commands/sessions.ts")).runListSessions,
  usage: async () => (await import("./commands/usage.ts")).runUsage,
  "create-chat": async () => (await import("./commands/sessions.ts")).runCreateChat,
  export: async () => (await import("./commands/export.ts")).runExport,
  fork: async () => (await import("./commands/sessions.ts")).runFork,
  rm: async () => (await import("./commands/sessions.ts")).runRemoveSession,
  import: async () => (await import("./commands/import.ts")).runImport,
  replay: async () => (await import("./commands/replay.ts")).runReplay,
  convert: async () => (await import("./commands/convert.ts")).runConvert,
  schema: async () => (await import("./commands/schema.ts")).runSchema,
  login: async () => (await import("./commands/login.ts")).runLogin,
  logout: async () => (await import("./commands/login.ts")).runLogout,
  revert: async () => (await import("./commands/revert.ts")).runRevert,
  worktrees: async () => (await import("./commands/worktrees.ts")).runWorktrees,
  trust: async () => (await import("./commands/trust.ts")).runTrust,
  skills: async () => (await import("./commands/skills.ts")).runSkills,
  permissions: async () => (await import("./commands/permissions.ts")).runPermissions,
  serve: async () => (await import("./commands/serve.ts")).runServe,
  store: async () => (await import("./commands/store.ts")).runStore,
  models: async () => (await import("./commands/models.ts")).runModels,
  config: async () => (await import("./commands/config.ts")).runConfig,
  doctor: async () => (await import("./commands/doctor.ts")).runDoctor,
  completion: async () => (await import("./commands/completion.ts")).runCompletion,
  hooks: async () => (await import("./commands/hooks.ts")).runHooks,
  mcp: async () => (await import("./commands/mcp.ts")).runMcp,
  acp: async () => (await import("./commands/acp.ts")).runAcp,
  "install-alias": async () => (await import("./commands/install-alias.ts")).runInstallAlias,
  help: async () => (await import("./commands/help.ts")).runHelp,
  foreign: async () => (await import("./commands/foreign.ts")).runForeign,
};

/** Commands that run a model; signals end them through their `RunControl`. */
const controlled: ReadonlySet<string> = new Set(["prompt", "answer", "serve", "acp"]);

/** Milliseconds until a command has loaded its code, which is no garbage: to collect before would delay the first request. */
const startMs = 250;

async function runCommandLine(words: readonly string[]): Promise<number> {
  const given = parseArguments(words);
  // A key or a password on the command line is taken out of what other users of this machine can list (S-42).
  const secrets = ["api-key", "header", "store"] as const;
  if (secrets.some((name) => given.flags[name] !== undefined)) process.title = "sheaf";
  const profile = chooseProfile(given.flags.compat, process.argv[1] ?? "");
  if (profile === "sheaf") checkForeignFlags(given);
  const { parsed, notices } =
    profile === "sheaf" ? { parsed: given, notices: [] } : takeCursorArguments(given, process.env);
  const io: CommandIo = {
    environment: process.env,
    cwd: findFolder(),
    profile,
    notices,
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
  if (parsed.flags["list-models"]) {
    return (await import("./commands/models.ts")).runModels({ ...parsed, flags: {} }, io);
  }
  if (parsed.command === "prompt" && parsed.flags["list-tools"]) {
    return (await import("./commands/list-tools.ts")).runListTools(parsed, io);
  }
  if (controlled.has(parsed.command)) setTimeout(collectEarly, startMs).unref();
  if (parsed.command === "prompt" && !isPrintMode(parsed.flags, io)) {
    return (await import("./interactive/interactive.ts")).runInteractive(parsed, io);
  }
  // An answer that cannot be used ends as a run does (C22): the command checks its flags itself.
  if (parsed.command !== "prompt" && parsed.command !== "answer") {
    (await import("./command-flags.ts")).checkCommandLine(parsed, profile);
  }
  if (parsed.command === "serve") useSmallMemory();
  // Before the command is loaded: from then on each signal has its last line and its code (C22, C23).
  const control = controlled.has(parsed.command) ? createRunControl() : undefined;
  const isTwoWay = parsed.command === "prompt" && (parsed.flags["input-format"] ?? "text") !== "text";
  const run = isTwoWay ? (await import("./two-way/two-way.ts")).runTwoWay : await commands[parsed.command]();
  return run(parsed, io, control!);
}

/** @throws SheafError USAGE where the shell's current folder was removed. */
function findFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new SheafError("USAGE", "the current folder is gone: go to one that exists", { cause: error });
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
silenceRuntimeWarnings();
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
