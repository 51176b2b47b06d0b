/** `sheaf doctor` checks this machine, and prints how to mend it. */
import { accessSync, constants, existsSync } from "node:fs";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printJson, printText } from "../standard-output.ts";
import { toSheafError } from "@sheaf/base/errors";
import { toDataFolder, toUserFiles } from "@sheaf/base/paths";
import { sheafVersion } from "@sheaf/base/version";
import type { FlagValues } from "../flags.ts";
import { toModelSettings, toRawSettings } from "../run-config.ts";
import { withSessionStore } from "../session-store.ts";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import { createConfig } from "@sheaf/agent/config/config";
import { listLeftTrees, readTreeRecord } from "@sheaf/agent/workspace/trees/named-trees";
import { toRealPlace } from "@sheaf/base/files/repository";
import { chooseModel, findModelName, type NamedModel } from "@sheaf/agent/config/endpoints";
import { withoutInnerFolders } from "@sheaf/sandbox/environment";
import { createSearchProgram } from "@sheaf/sandbox/launch/search-program";
import { adviseOnContainer } from "@sheaf/sandbox/find/choose-sandbox";
import { findSandbox } from "@sheaf/sandbox/find/find-sandbox";
import { finishKilledRuns } from "@sheaf/sandbox/hold/journal";
import { findRefuges } from "@sheaf/sandbox/hold/own-folders";
import { hasSeccompFilter } from "@sheaf/sandbox/hold/seccomp-filter";
import { findProgram } from "@sheaf/sandbox/programs";
import { listModels } from "@sheaf/models/model-list";
import { listSizes, sumSizes, toUndoFolder } from "@sheaf/agent/workspace/conversation-folders";
import { listKeyPlaces } from "../key-places.ts";
import { quote } from "./install-alias.ts";

/** Prints every check; exit code 1 when one of them failed. @throws SheafError USAGE. */
export async function runDoctor(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const isJson = toCommandFormat(parsed) === "json";
  const results = await runChecks(io, parsed.flags);
  const ok = results.every(({ status }) => status !== "fail");
  const code = await (isJson
    ? printJson(io, { ok, checks: results })
    : printText(io, results.map(formatCheck).join("")));
  return code === 0 && !ok ? 1 : code;
}

function formatCheck({ name, status, found, advice }: CheckResult): string {
  const head = `${status.padEnd(4)}  ${name.padEnd(13)}  ${toVisibleLine(found)}\n`;
  return advice === undefined ? head : `${head}${" ".repeat(21)}${toVisibleLine(advice)}\n`;
}

/** Result of one check. `warn`: Sheaf works with restrictions. */
export interface CheckResult {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  /** One line about the findings. */
  readonly found: string;
  /** Advice to the user; undefined if all is well. */
  readonly advice?: string;
}

/** Milliseconds within which a provider must answer. */
const NETWORK_TIMEOUT_MS = 5000;

type Answer = Omit<CheckResult, "name">;
type Check = (io: CommandIo, flags: FlagValues) => Promise<Answer> | Answer;

/** Runs all checks, in the order of the output. A check that throws is a failed one. */
export async function runChecks(io: CommandIo, flags: FlagValues): Promise<CheckResult[]> {
  const checks: Readonly<Record<string, Check>> = {
    node: checkNode,
    configuration: checkConfiguration,
    storage: checkStorage,
    undo: checkUndo,
    workspace: checkWorkspace,
    worktrees: checkWorktrees,
    search: checkSearch,
    sandbox: checkSandbox,
    refused: checkRefused,
    model: checkModel,
    keys: checkKeys,
    network: checkNetwork,
  };
  return Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        return { name, ...(await check(io, flags)) };
      } catch (error) {
        return { name, status: "fail" as const, found: toSheafError(error).message };
      }
    }),
  );
}

function checkNode(): Answer {
  const found = `Node ${process.versions.node}, ${process.platform} ${process.arch}, Sheaf ${sheafVersion}`;
  return { status: "ok", found };
}

function checkConfiguration({ environment }: CommandIo): Answer {
  const file = toUserFiles(environment).config;
  const { fault } = findUserConfig(file);
  if (fault) return { status: "fail", found: fault.message };
  const found = existsSync(file) ? file : `no file at ${file}, which is fine`;
  return { status: "ok", found };
}

function checkStorage(io: CommandIo): Promise<Answer> {
  return withSessionStore(io, undefined, async (store, { storeFile }) => {
    await store.listConversations({ limit: 1 });
    return { status: "ok", found: `${storeFile} can be read and written` };
  });
}

function checkUndo({ environment }: CommandIo): Answer {
  const folder = toUndoFolder(toDataFolder(environment));
  const mebibytes = Math.ceil(sumSizes(listSizes(folder)) / 1024 ** 2);
  const found = `${mebibytes} MiB of states in ${folder}, for sheaf revert`;
  if (findProgram("git", environment) !== undefined) return { status: "ok", found };
  return { status: "warn", found: "git is not installed, so sheaf revert cannot undo runs", advice: "install git" };
}

function checkWorkspace({ environment, cwd }: CommandIo, flags: FlagValues): Answer {
  const { workspace } = createConfig({ workspace: flags.workspace?.at(-1) }, environment, cwd);
  try {
    accessSync(workspace, constants.R_OK | constants.W_OK);
    return { status: "ok", found: `${workspace} can be read and written` };
  } catch {
    const advice = "give yourself the right to write, or work in --mode ask or plan";
    return { status: "warn", found: `${workspace} cannot be written`, advice };
  }
}

function checkWorktrees({ environment, cwd }: CommandIo): Answer {
  const [tree, ...others] = listLeftTrees(toRealPlace(createConfig({}, environment, cwd).dataFolder));
  if (!tree) return { status: "ok", found: "every run with --worktree has removed its tree" };
  const folders = [tree, ...others].map(({ folder }) => folder);
  const keep = `cd ${quote(readTreeRecord(tree)?.source ?? ".")} && sheaf -p --worktree ${tree.name} "Continue"`;
  const advice = `${keep} makes the branch sheaf/${tree.name}; rm -r ${quote(tree.folder)} drops the changes`;
  return { status: "warn", found: `trees of runs that never ended: ${folders.join(", ")}`, advice };
}

async function checkSearch(io: CommandIo, flags: FlagValues): Promise<Answer> {
  const place = await findSandboxHere(io, flags);
  const { workspace } = place;
  const runSearch = createSearchProgram({ ...place, writable: [workspace] });
  let version = "";
  const outcome = await runSearch({
    folder: workspace,
    args: ["--version"],
    signal: AbortSignal.timeout(NETWORK_TIMEOUT_MS),
    maxStderrBytes: 1000,
    onStdout(chunk) {
      version += Buffer.from(chunk).toString();
      return true;
    },
  });
  if (outcome.exitCode === 0) return { status: "ok", found: version.split("\n", 1)[0] ?? "" };
  const found = `ripgrep does not run (${outcome.startError || outcome.stderr.trim()})`;
  return { status: "fail", found };
}

function checkModel(io: CommandIo, flags: FlagValues): Answer {
  const settings = toModelSettings(toRawSettings(flags), io);
  const named = findModelName(settings);
  if (!named) {
    const advice = "name one with --model or SHEAF_MODEL, or in the configuration (--model offline needs no key)";
    return { status: "warn", found: "no model is chosen", advice };
  }
  const choice = chooseModel(settings);
  const key = choice.kind === "endpoint" ? `, key: ${choice.endpoint.apiKeySource}` : "";
  return { status: "ok", found: `${named.name} (from ${modelSources[named.source]})${key}` };
}

const modelSources: Readonly<Record<NamedModel["source"], string>> = {
  flag: "--model",
  env: "SHEAF_MODEL",
  config: "your configuration",
};

function checkKeys(io: CommandIo, flags: FlagValues): Answer {
  const settings = toModelSettings({ model: flags.model }, io);
  const places = listKeyPlaces(settings).map(({ provider, place }) => `${provider} (${place})`);
  const { credentials } = settings.files;
  const found = `${places.join(", ") || "none"}; sheaf login keeps them in ${credentials}`;
  return { status: "ok", found };
}

/** Requests the list of models from the chosen model's provider, and sends data to no other one. */
async function checkNetwork(io: CommandIo, flags: FlagValues): Promise<Answer> {
  const settings = toModelSettings(toRawSettings(flags), io);
  const choice = findModelName(settings) && chooseModel(settings);
  if (choice?.kind !== "endpoint") return { status: "ok", found: "not needed" };
  const { baseUrl } = choice.endpoint;
  const signal = AbortSignal.timeout(NETWORK_TIMEOUT_MS);
  try {
    const models = await listModels(choice.endpoint, signal);
    return { status: "ok", found: `${baseUrl} answers, ${models.length} models` };
  } catch (error) {
    const reason = signal.aborted ? `no answer within ${NETWORK_TIMEOUT_MS / 1000} s` : toSheafError(error).message;
    const advice = "check the address, the key and the proxy settings";
    return { status: "fail", found: `${baseUrl}: ${reason}`, advice };
  }
}

async function findSandboxHere({ environment, cwd }: CommandIo, flags: FlagValues) {
  const { workspace, sandbox: setting } = createConfig(
    { workspace: flags.workspace?.at(-1), sandbox: flags.sandbox },
    environment,
    cwd,
    findUserConfig(toUserFiles(environment).config),
  );
  const variables = withoutInnerFolders(environment, workspace);
  const sandbox = await findSandbox({ setting, workspace, environment: variables, memory: undefined, now: Date.now });
  return { workspace, environment: variables, sandbox };
}

async function checkSandbox(io: CommandIo, flags: FlagValues): Promise<Answer> {
  const { sandbox, environment: variables } = await findSandboxHere(io, flags);
  switch (sandbox.state) {
    case "disabled": {
      const advice = "commands run as you do, by a rule or --force only; leave --sandbox disabled out to hold them";
      return { status: "warn", found: "switched off", advice };
    }
    case "container": {
      const found = "none, as chosen: commands run with your rights in this container";
      return { status: "ok", found };
    }
    case "unavailable": {
      const advice = `${sandbox.advice}, or ${adviseOnContainer()}; until then every command is refused`;
      return { status: "fail", found: `no sandbox works here (${sandbox.problem})`, advice };
    }
    case "enabled": {
      const found = `${sandbox.kind} (${sandbox.file}) holds commands`;
      const lack = sandbox.kind === "bubblewrap" ? findLack(variables) : undefined;
      return lack ? { status: "warn", found: `${found}; ${lack.found}`, advice: lack.advice } : { status: "ok", found };
    }
  }
}

/** Reports files of commands that Sheaf moved away (S-251). */
function checkRefused({ environment }: CommandIo): Answer {
  finishKilledRuns({ stateFolder: toDataFolder(environment), environment });
  const [newest, ...older] = findRefuges(toDataFolder(environment));
  if (newest === undefined) return { status: "ok", found: "no command left a place that Sheaf had to move away" };
  const found = `Sheaf moved files of commands to ${older.length + 1} folders, last to ${newest}`;
  return { status: "ok", found, advice: "look at them before you use them, since they may start programs" };
}

/** Returns a missing part of this system that makes Sheaf less safe or slower; undefined without any. */
function findLack(
  environment: CommandIo["environment"],
): { readonly found: string; readonly advice: string } | undefined {
  if (!hasSeccompFilter(process.arch)) {
    const advice = "use a machine of x64 or arm64 where commands must not reach sockets of its programs";
    return { found: `on ${process.arch} sockets of this machine's programs are not closed to them`, advice };
  }
  if (findProgram("nsenter", environment) === undefined) {
    const advice = "install util-linux: rules Network(…) and commands in the background need it";
    return { found: "nsenter is not installed", advice };
  }
  return undefined;
}
