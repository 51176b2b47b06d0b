/** Runs a command line: finds the command, and loads only its code. */
import { errorTable, toSheafError } from "@sheaf/base/errors";
import { createKnownMask } from "@sheaf/agent/config/known-secrets";
import type { Environment } from "@sheaf/base/paths";
import { sheafVersion } from "@sheaf/base/version";
import type { ParsedArguments } from "./arguments.ts";
import { chooseDialect, type CliDialect, type DialectName } from "./dialects/dialect.ts";
import { sheafDialect } from "./dialects/sheaf/sheaf.ts";
import { isPrintMode, type CommandIo, type ProcessPorts } from "./io.ts";
import { formatFailure } from "./report-error.ts";
import { createRunControl, type RunControl } from "./signals.ts";

/** A command; returns its exit code. */
type RunCommand = (parsed: ParsedArguments, io: CommandIo, control: RunControl) => Promise<number>;

/** Loaders of the commands, so that each is loaded on demand. */
const commands: Readonly<Record<ParsedArguments["command"], () => Promise<RunCommand>>> = {
  prompt: async () => (await import("./commands/prompt.ts")).runPrompt,
  answer: async () => (await import("./commands/answer.ts")).runAnswer,
  show: async () => (await import("./commands/show.ts")).runShow,
  ls: async () => (await import("./commands/sessions.ts")).runListSessions,
  usage: async () => (await import("./commands/usage.ts")).runUsage,
  "create-chat": async () => (await import("./commands/sessions.ts")).runCreateChat,
  diff: async () => (await import("./commands/diff.ts")).runDiff,
  export: async () => (await import("./commands/export.ts")).runExport,
  fork: async () => (await import("./commands/sessions.ts")).runFork,
  rm: async () => (await import("./commands/sessions.ts")).runRemoveSession,
  import: async () => (await import("./commands/import.ts")).runImport,
  test: async () => (await import("./commands/test.ts")).runTest,
  demo: async () => (await import("./commands/demo.ts")).runDemo,
  review: async () => (await import("./commands/review.ts")).runReview,
  convert: async () => (await import("./commands/convert.ts")).runConvert,
  schema: async () => (await import("./commands/schema.ts")).runSchema,
  login: async () => (await import("./commands/login.ts")).runLogin,
  logout: async () => (await import("./commands/login.ts")).runLogout,
  blame: async () => (await import("./commands/blame.ts")).runBlame,
  revert: async () => (await import("./commands/revert.ts")).runRevert,
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
  foreign: async () => (await import("./commands/cursor-command.ts")).runCursorCommand,
};

const dialects: Readonly<Record<DialectName, () => Promise<CliDialect>>> = {
  sheaf: async () => sheafDialect,
  "cursor-2026": async () => (await import("./dialects/cursor/cursor.ts")).cursorDialect,
  "codex-2026": async () => (await import("./dialects/codex/codex.ts")).codexDialect,
  "claude-2026": async () => (await import("./dialects/claude/claude.ts")).claudeDialect,
};

/** Commands that run a model. Signals end them through their `RunControl`. */
export const controlledCommands: ReadonlySet<string> = new Set(["prompt", "answer", "demo", "review", "serve", "acp"]);

/** Folder, environment and streams of a command line. */
export interface CommandLineSetup {
  readonly ports: ProcessPorts;
  readonly environment: Environment;
  /** @throws SheafError USAGE if the folder is gone. */
  readonly findFolder: () => string;
  /** Called with the known command, to prepare a process that runs only this command. */
  readonly onCommand?: (parsed: ParsedArguments) => void;
}

/** Runs the command line to its end and reports a failure; returns the exit code. */
export async function runCommandLine(words: readonly string[], setup: CommandLineSetup): Promise<number> {
  const writeError = (text: string): void => setup.ports.writeError(createKnownMask(setup.environment).mask(text));
  const ports = { ...setup.ports, writeError };
  try {
    return await runWords(words, { ...setup, ports });
  } catch (error) {
    return reportFailure(error, words, ports);
  }
}

/** Reports on stderr why the program ends; returns the exit code. */
export function reportFailure(
  error: unknown,
  words: readonly string[],
  { writeError }: Pick<ProcessPorts, "writeError">,
): number {
  const known = toSheafError(error);
  const details = known.code === "INTERNAL" && error instanceof Error ? (error.stack ?? "") : known.details;
  writeError(formatFailure({ code: known.code, message: known.message, details }, words.includes("--verbose")));
  return errorTable[known.code].exitCode;
}

async function runWords(words: readonly string[], setup: CommandLineSetup): Promise<number> {
  const { ports, environment } = setup;
  const dialect = await dialects[chooseDialect(words, ports.program)]();
  const place = { environment, cwd: setup.findFolder() };
  const { parsed, ...read } = dialect.readArguments(words, place);
  setup.onCommand?.(parsed);
  const io: CommandIo = { ...ports, ...place, dialect, ...read };
  if (parsed.flags.version) {
    await io.openOutput().write(`${sheafVersion}\n`);
    return 0;
  }
  if (parsed.flags.help) {
    return (await import("./commands/help.ts")).runHelp(parsed, io);
  }
  if (parsed.flags["list-models"]) {
    return (await import("./commands/models.ts")).runModels({ ...parsed, flags: {} }, io);
  }
  if (parsed.command === "prompt" && parsed.flags["list-tools"]) {
    return (await import("./commands/list-tools.ts")).runListTools(parsed, io);
  }
  if (parsed.command === "prompt" && !isPrintMode(parsed.flags, io)) {
    return (await import("./interactive/interactive.ts")).runInteractive(parsed, io);
  }
  // An invalid prompt or answer ends as a run does (C22), so these commands check their flags themselves.
  if (parsed.command !== "prompt" && parsed.command !== "answer") {
    (await import("./command-flags.ts")).checkCommandLine(parsed, dialect);
  }
  // Listen before the command is loaded, so that each signal has its last line and its code (C22, C23).
  const control = controlledCommands.has(parsed.command) ? createRunControl(io) : undefined;
  const isTwoWay = parsed.command === "prompt" && (parsed.flags["input-format"] ?? "text") !== "text";
  const run = isTwoWay ? (await import("./dialects/two-way.ts")).runTwoWay : await commands[parsed.command]();
  try {
    return await run(parsed, io, control!);
  } finally {
    control?.close();
  }
}
