/** Flags, environment and the user's configuration as one checked value. A workspace has no say in it (S-01, S-06). */
import { realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Effort, Mode, Notice, TokenPrice } from "@sheaf/protocol";
import { listProblems } from "@sheaf/protocol/check-value";
import { quoteValue, SheafError } from "@sheaf/base/errors";
import { hasForeignName } from "@sheaf/base/foreign-name";
import { type HookSources, withVerify } from "./hook-settings.ts";
import type { McpServers } from "./mcp-settings.ts";
import type { FoundConfig } from "./config-file.ts";
import {
  chooseFallbacks,
  chooseModel,
  createAgentModels,
  findPrices,
  findModelName,
  type AgentModels,
  type FallbackChoice,
  type ModelChoice,
  type ModelFlags,
} from "./endpoints.ts";
import { findHome, toDataFolder, toUserFiles, type Environment } from "@sheaf/base/paths";
import { listCredentialFiles, type GitWorkspaceSettings } from "./git-workspace-settings.ts";
import { findWindowTokens } from "./model-windows.ts";
import { chooseSandbox, type SandboxChoice, sandboxChoices } from "@sheaf/sandbox/find/choose-sandbox";
import type { SandboxSetting } from "@sheaf/sandbox/sandbox";
import { isTrusted } from "./trust.ts";
import { efforts, longestSeconds, maxVerifyRounds, type UserConfig, verifyCommands } from "./user-config.ts";

/** Values of flags and environment, still text. */
export interface RawSettings extends ModelFlags {
  readonly mode?: string | undefined;
  readonly effort?: string | undefined;
  readonly webSearch?: true | undefined;
  readonly plan?: true | undefined;
  readonly agents?: true | undefined;
  readonly workspace?: string | undefined;
  readonly addDir?: readonly string[] | undefined;
  /** The other workspaces of a server; absolute. */
  readonly otherWorkspaces?: readonly string[] | undefined;
  readonly trust?: true | undefined;
  readonly timeout?: string | undefined;
  readonly contextTokens?: string | undefined;
  readonly maxTurns?: string | undefined;
  readonly maxToolCalls?: string | undefined;
  readonly maxTokens?: string | undefined;
  readonly maxCostUsd?: string | undefined;
  readonly maxCostUsdPerDay?: string | undefined;
  readonly onDenied?: string | undefined;
  readonly verify?: readonly string[] | undefined;
  readonly verifyRounds?: string | undefined;
  readonly backgroundWait?: string | undefined;
  readonly strict?: true | undefined;
  readonly sandbox?: string | undefined;
  readonly heartbeat?: string | undefined;
  readonly force?: true | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly ask?: readonly string[] | undefined;
  readonly readsCursorServers?: boolean | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly askUnlessAllowed?: readonly string[] | undefined;
  readonly programHooks?: HookSources["program"];
  /** Servers in addition to the configuration's. */
  readonly mcpServers?: McpServers | undefined;
  /** Differences from the caller's request. */
  readonly notices?: readonly Notice[] | undefined;
}

/** The settings of a run. */
export interface Config {
  /** The name that the user set; undefined without one. */
  readonly model: string | undefined;
  /**
   * The model of that name. Called when a run starts, so that the run can report a problem (C22).
   * @throws SheafError AUTH_REQUIRED, MODEL_NOT_FOUND, CONFIG_INVALID or USAGE.
   */
  readonly chooseModel: () => ModelChoice;
  /** The same configuration with this model. */
  readonly withModel: (model: string) => Config;
  /** Models to fall back on (C59). Called and failing as `chooseModel`. */
  readonly chooseFallbacks: () => readonly FallbackChoice[];
  /** Models that definitions of subagents may name (C129). */
  readonly agentModels: AgentModels;
  readonly mode: Mode;
  /** Effort of the model's thinking; undefined: the model's default (C36). */
  readonly effort: Effort | undefined;
  /** The provider may search the web for the model; `if_possible`: where it can (C48). */
  readonly webSearch: true | "if_possible" | undefined;
  /** The model may call subagents (C96). */
  readonly hasAgents: boolean;
  /** Absolute, links resolved. */
  readonly workspace: string;
  /** Folders of `--add-dir`: absolute, not checked yet. */
  readonly addedFolders: readonly string[];
  /**
   * True if the workspace is trusted (S-03). Called when a run starts, so that the run can report a problem.
   * @throws SheafError CONFIG_INVALID.
   */
  readonly findTrust: () => boolean;
  readonly dataFolder: string;
  readonly storeFile: string;
  readonly limits: {
    readonly maxTurns?: number;
    readonly maxToolCalls?: number;
    readonly maxTokens?: number;
    readonly maxCostUsd?: number;
  };
  /** The limit on the cost of a day, by label or for all runs (C170). US dollars. */
  readonly maxCostUsdPerDay: number | undefined;
  /**
   * Known prices of the model and of its fallbacks, by name. The time is in milliseconds since 1970.
   * @throws SheafError CONFIG_INVALID if the cost is limited and one of them is not known.
   */
  readonly findPrices: (time: number) => Promise<ReadonlyMap<string, TokenPrice>>;
  /** Tokens that fit into one request; undefined: not known. */
  readonly windowTokens: number | undefined;
  /** Milliseconds; undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Value of the flag (C169). Milliseconds. */
  readonly backgroundWaitMs: number | undefined;
  readonly stopsOnDenied: boolean;
  /** The first loss ends the run (C180). */
  readonly strict: boolean;
  /** Servers of the user's configuration. */
  readonly mcpServers: McpServers;
  /** The user's list of Cursor's servers; undefined: it is not read (S-108). */
  readonly cursorFile: string | undefined;
  /** Workspaces from git in the user's configuration, for a server. */
  readonly gitWorkspaces: Readonly<Record<string, GitWorkspaceSettings>>;
  /** Absolute paths of token and key files in `gitWorkspaces`, which commands do not see (S-241). */
  readonly hiddenPlaces: readonly string[];
  /** Commands of the user's configuration alone (S-96). */
  readonly afterEdit: readonly { readonly glob: string; readonly command: string }[];
  /** The user's hooks; undefined without any (C80). */
  readonly hooks: HookSources | undefined;
  /** The sandbox of commands: the system's, a container around Sheaf, or none (S-30). */
  readonly sandbox: SandboxSetting;
  /** Rules of flags and configuration together (S-06). */
  readonly permissions: {
    readonly force: boolean;
    readonly allow: readonly string[];
    readonly ask: readonly string[];
    readonly askUnlessAllowed: readonly string[] | undefined;
    readonly deny: readonly string[];
  };
  /** Milliseconds between heartbeats (C26); undefined: none. */
  readonly heartbeatMs: number | undefined;
  /** Differences from the caller's request (C43). */
  readonly notices: readonly Notice[];
}

export function isEffort(value: string): value is Effort {
  return (efforts as readonly string[]).includes(value);
}

/** Seconds for which a run waits for its background commands, at most (C169). */
export const longestBackgroundWait = 600;

export const modes: readonly Mode[] = ["agent", "plan", "ask", "debug"];

/** @throws SheafError USAGE or CONFIG_INVALID, with the value and advice in the message. */
export function createConfig(
  raw: RawSettings,
  environment: Environment,
  cwd: string,
  found: FoundConfig = { settings: {}, fault: undefined },
): Config {
  const workspace = toWorkspace(raw.workspace, cwd);
  const addedFolders = (raw.addDir ?? []).map((folder) => resolve(cwd, folder));
  const writable = [workspace, ...addedFolders, ...(raw.otherWorkspaces ?? [])];
  const modelSettings = { flags: raw, environment, config: found, files: toUserFiles(environment), writable, cwd };
  const { budgets = {}, permissions: rules = {}, gitWorkspaces = {} } = found.settings;
  const dataFolder = toDataFolder(environment);
  const timeout = toSeconds("--timeout", raw.timeout) ?? budgets.timeout;
  const heartbeat = toSeconds("--heartbeat", raw.heartbeat);
  const maxTurns = toPositive("--max-turns", raw.maxTurns, toInteger) ?? budgets.maxTurns;
  const maxToolCalls = toPositive("--max-tool-calls", raw.maxToolCalls, toInteger) ?? budgets.maxToolCalls;
  const maxTokens = toPositive("--max-tokens", raw.maxTokens, toInteger) ?? budgets.maxTokens;
  const maxCostUsd = toPositive("--max-cost-usd", raw.maxCostUsd, Number) ?? budgets.maxCostUsd;
  const maxCostUsdPerDay = toPositive("--max-cost-usd-per-day", raw.maxCostUsdPerDay, Number);
  const backgroundWait = toAtMost("--background-wait", raw.backgroundWait, longestBackgroundWait);
  const model = findModelName(modelSettings)?.name;
  const contextTokens = toPositive("--context-tokens", raw.contextTokens, toInteger);
  if (contextTokens !== undefined && contextTokens < 1000) {
    throw new SheafError("USAGE", `--context-tokens "${raw.contextTokens}" is too small: give at least 1000`);
  }
  const { settings } = found;
  const windowTokens = contextTokens ?? findWindowTokens(model ?? "", { settings, dataFolder, baseUrl: raw.baseUrl });
  return {
    model,
    findPrices: (time) => findPrices(modelSettings, maxCostUsd ?? maxCostUsdPerDay, time),
    maxCostUsdPerDay,
    windowTokens,
    chooseModel: () => chooseModel(modelSettings),
    withModel: (name) => createConfig({ ...raw, model: name }, environment, cwd, found),
    chooseFallbacks: () => chooseFallbacks(modelSettings),
    agentModels: createAgentModels(modelSettings, dataFolder),
    mode: toMode(raw),
    effort: toChoice("--effort", raw.effort, efforts, found.settings.effort),
    hasAgents: raw.agents ?? found.settings.agents ?? false,
    webSearch: raw.webSearch ?? (found.settings.webSearch ? "if_possible" : undefined),
    workspace,
    addedFolders,
    findTrust: () => isTrusted(workspace, { flag: raw.trust ?? false, environment, dataFolder }),
    dataFolder,
    storeFile: join(dataFolder, "sheaf.db"),
    limits: {
      ...(maxTurns !== undefined && { maxTurns }),
      ...(maxToolCalls !== undefined && { maxToolCalls }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(maxCostUsd !== undefined && { maxCostUsd }),
    },
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    backgroundWaitMs: backgroundWait === undefined ? undefined : backgroundWait * 1000,
    stopsOnDenied: toChoice("--on-denied", raw.onDenied, ["continue", "stop"], "continue") === "stop",
    strict: raw.strict ?? false,
    mcpServers: { ...found.settings.mcpServers, ...raw.mcpServers },
    cursorFile:
      raw.readsCursorServers || found.settings.cursorServers
        ? join(findHome(environment), ".cursor/mcp.json")
        : undefined,
    gitWorkspaces,
    hiddenPlaces: listCredentialFiles(gitWorkspaces).map(({ path }) => path),
    afterEdit: found.settings.afterEdit ?? [],
    hooks: toHookSources(found.settings, raw, environment),
    sandbox: chooseSandbox(toSandboxChoice(raw, environment, settings)),
    permissions: {
      force: raw.force ?? false,
      allow: [...(raw.allow ?? []), ...(rules.allow ?? [])],
      ask: [...(raw.ask ?? []), ...(rules.ask ?? [])],
      deny: [...(raw.deny ?? []), ...(rules.deny ?? [])],
      askUnlessAllowed: raw.askUnlessAllowed,
    },
    heartbeatMs: heartbeat === undefined ? undefined : heartbeat * 1000,
    notices: raw.notices ?? [],
  };
}

function toHookSources(
  { hooks = {}, hooksFile, hooksSandbox = true, verify = [], ...config }: UserConfig,
  flags: Pick<RawSettings, "verify" | "verifyRounds" | "programHooks">,
  environment: Environment,
): HookSources | undefined {
  // An empty variable must not leave a run unverified.
  const [problem] = listProblems(verifyCommands, flags.verify ?? []);
  if (problem) {
    const shown = problem.value === "" ? quoteValue("") : JSON.stringify(problem.value).slice(0, 80);
    const advice = 'write --verify "npm test", with up to 4000 characters and at most 10 times';
    throw new SheafError("USAGE", `--verify ${shown} cannot run: ${advice}`);
  }
  const own = withVerify(hooks, [...verify, ...(flags.verify ?? [])]);
  const verifyRounds = toAtMost("--verify-rounds", flags.verifyRounds, maxVerifyRounds) ?? config.verifyRounds;
  const { programHooks: program } = flags;
  if (!program && hooksFile === undefined && verifyRounds === undefined && Object.keys(own).length === 0)
    return undefined;
  const file = hooksFile?.replace(/^~(?=\/)/, () => findHome(environment));
  return { own, file, isSandboxed: hooksSandbox, verifyRounds, program };
}

function toAtMost(flag: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined || toInteger(text) <= most) return text === undefined ? undefined : Number(text);
  throw new SheafError("USAGE", `${flag} ${quoteValue(text)} is not a whole number from 0 to ${most}`);
}

function toSandboxChoice({ sandbox }: RawSettings, { SHEAF_SANDBOX }: Environment, config: UserConfig): SandboxChoice {
  const otherwise = config.sandbox ?? "enabled";
  return sandbox === undefined
    ? toChoice("SHEAF_SANDBOX", SHEAF_SANDBOX || undefined, sandboxChoices, otherwise)
    : toChoice("--sandbox", sandbox, sandboxChoices, otherwise);
}

function toMode({ mode, plan }: RawSettings): Mode {
  if (plan && mode !== undefined && mode !== "plan") {
    throw new SheafError("USAGE", `--plan and --mode ${mode} exclude each other: give one of them`);
  }
  return plan ? "plan" : toChoice("--mode", mode, modes, "agent");
}

function toChoice<Choice extends string, Default>(
  flag: string,
  value: string | undefined,
  choices: readonly Choice[],
  otherwise: Default,
): Choice | Default {
  if (value === undefined) return otherwise;
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  const known = choices.length === 2 ? choices.join(" or ") : `one of ${choices.join(", ")}`;
  throw new SheafError("USAGE", `${flag} ${quoteValue(value)} is unknown: use ${known}`);
}

function toWorkspace(given: string | undefined, cwd: string): string {
  if (given === "") throw new SheafError("USAGE", "--workspace is empty: name a folder, or leave it out");
  const folder = resolve(cwd, given ?? ".");
  try {
    const real = realpathSync(folder);
    if (!statSync(real).isDirectory())
      throw new SheafError("USAGE", `the workspace ${folder} is not a folder: name a folder`);
    return real;
  } catch (error) {
    if (error instanceof SheafError) throw error;
    if (hasForeignName(folder)) {
      const message = `the workspace ${folder} cannot be opened, because its name is not UTF-8: rename the folder`;
      throw new SheafError("USAGE", message, { cause: error });
    }
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new SheafError("USAGE", `the workspace ${folder} cannot be opened (${reason}): name a folder that exists`, {
      cause: error,
    });
  }
}

function toInteger(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function toPositive(flag: string, text: string | undefined, convert: (text: string) => number): number | undefined {
  if (text === undefined) return undefined;
  const value = convert(text);
  if (!Number.isFinite(value) || value <= 0) {
    throw new SheafError(
      "USAGE",
      `${flag} ${quoteValue(text)} is not a ${convert === toInteger ? "whole " : ""}number above 0`,
    );
  }
  return value;
}

function toSeconds(flag: string, text: string | undefined): number | undefined {
  const value = toPositive(flag, text, Number);
  if (value === undefined || value <= longestSeconds) return value;
  throw new SheafError("USAGE", `${flag} "${text}" is more than ${longestSeconds} seconds: give less, or leave it out`);
}
