/** Configures a run from flags, environment and the user's configuration. */
import type { Notice } from "@sheaf/protocol";
import { resolve } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { findNearest } from "@sheaf/base/nearest-names";
import { toUserFiles } from "@sheaf/base/paths";
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import type { ToolChoice } from "@sheaf/agent/tools/registry";
import { findUserConfig, readUserConfig } from "@sheaf/agent/config/config-file";
import { createConfig, type Config } from "@sheaf/agent/config/config";
import { type ModelFlags, type ModelSettings, toProvider } from "@sheaf/agent/config/endpoints";
import type { Provider } from "@sheaf/agent/config/providers";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import { checkToolNames, toAllowedRules } from "@sheaf/agent/tools/tool-choice";

export interface RunConfig extends Config, PromptTexts {
  /** The user's part of the prompt, if stdin brought another part, in which commands have no effect (C91). */
  readonly typed?: string | undefined;
  readonly toolChoice: ToolChoice;
  /** Labels of the run; undefined without any. */
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** Makes the configuration of a run. @throws SheafError USAGE or CONFIG_INVALID. */
export function toConfig(flags: FlagValues, io: CommandIo): RunConfig {
  const { config: found, flags: raw, notices } = toModelSettings(toRawSettings(flags), io);
  const allow = [...(raw.allow ?? []), ...toAllowRules(flags)];
  const settings = { ...raw, ...io.settings, allow, notices: [...(io.notices ?? []), ...notices] };
  const config = createConfig(settings, io.environment, io.cwd, found);
  return { ...config, ...readPromptTexts(flags, io.cwd), toolChoice: toToolChoice(flags), labels: toLabels(flags) };
}

/** Reads the user's configuration. @throws SheafError CONFIG_INVALID for an invalid file. */
export function readConfigFile({ environment }: Pick<CommandIo, "environment">) {
  const { config: file } = toUserFiles(environment);
  const settings = readUserConfig(file);
  return { file, settings, found: { settings, fault: undefined } };
}

/** Makes the settings for a model. In another dialect, its name is translated first (C43). */
export function toModelSettings<Raw extends ModelFlags>(
  raw: Raw,
  { environment, dialect, cwd }: Pick<CommandIo, "environment" | "dialect" | "cwd">,
): ModelSettings & { readonly flags: Raw; readonly notices: readonly Notice[] } {
  const files = toUserFiles(environment);
  const settings = { flags: raw, environment, cwd, config: findUserConfig(files.config), files, notices: [] };
  if (!dialect.toModel) return settings;
  const { model, notice } = dialect.toModel(raw.model, settings);
  return { ...settings, flags: { ...raw, model }, notices: notice === undefined ? [] : [notice] };
}

/** Converts flags to the configuration's form. */
export function toRawSettings(flags: FlagValues): Parameters<typeof createConfig>[0] {
  return {
    model: flags.model,
    apiKey: flags["api-key"],
    baseUrl: flags["base-url"],
    headers: flags.header,
    waitsForQuota: flags["wait-for-quota"],
    fallbackModel: flags["fallback-model"],
    mode: flags.mode,
    effort: flags.effort,
    webSearch: flags["web-search"],
    plan: flags.plan,
    agents: flags.agents,
    workspace: flags.workspace?.at(-1),
    addDir: flags["add-dir"],
    trust: flags.trust,
    timeout: flags.timeout,
    contextTokens: flags["context-tokens"],
    maxTurns: flags["max-turns"],
    maxToolCalls: flags["max-tool-calls"],
    maxTokens: flags["max-tokens"],
    maxCostUsd: flags["max-cost-usd"],
    maxCostUsdPerDay: flags["max-cost-usd-per-day"],
    onDenied: flags["on-denied"],
    backgroundWait: flags["background-wait"],
    verify: flags.verify,
    verifyRounds: flags["verify-rounds"],
    strict: flags.strict,
    sandbox: flags.sandbox,
    heartbeat: flags.heartbeat,
    force: flags.force,
    allow: flags.allow,
    ask: flags.ask,
    deny: flags.deny,
  };
}

/**
 * Returns the provider with this name. `repeatsWord`: false if the word may be a misplaced key (S-41).
 * @throws SheafError USAGE for an unknown one, with the known names.
 */
export function chooseProvider(
  word: string,
  providers: ReadonlyMap<string, Provider>,
  { repeatsWord = true }: { readonly repeatsWord?: boolean } = {},
): Provider {
  // Users often have a model's name such as `anthropic/…` ready.
  const provider = providers.get(word) ?? providers.get(toProvider(word));
  if (provider) return provider;
  const nearest = findNearest(word, [...providers.keys()]);
  const question = nearest.length === 0 ? "" : `did you mean ${nearest.join(" or ")}? `;
  throw new SheafError(
    "USAGE",
    `the provider ${repeatsWord ? `"${word}" ` : ""}is unknown: ${question}use one of ${[...providers.keys()].join(", ")}`,
  );
}

/** Size of the largest accepted file, in bytes. */
const MAX_BYTES = 256 * 1024;

export interface PromptTexts {
  /** Replacement for Sheaf's instructions. */
  readonly basePrompt?: string;
  /** Text at the end of the system prompt. */
  readonly systemPrompt?: string;
}

/** Reads the texts. @throws SheafError USAGE for an empty text or an unreadable file. */
export function readPromptTexts(flags: FlagValues, cwd: string): PromptTexts {
  const { "system-prompt": base, "append-system-prompt": text, "append-system-prompt-file": file } = flags;
  if (base !== undefined && base.trim() === "") {
    throw new SheafError("USAGE", "--system-prompt is empty: give the text, or leave it out");
  }
  const appended = [text, file === undefined ? undefined : readTextFile(resolve(cwd, file))]
    .filter((part) => part !== undefined && part.trim() !== "")
    .join("\n\n");
  return { ...(base !== undefined && { basePrompt: base }), ...(appended !== "" && { systemPrompt: appended }) };
}

function readTextFile(file: string): string {
  const fail = (reason: string, cause?: unknown): SheafError =>
    new SheafError("USAGE", `--append-system-prompt-file ${file} ${reason}: name a text file`, { cause });
  const read = readOrdinaryFile(file, MAX_BYTES);
  if (!read.ok) throw fail(read.problem, read.cause);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
  } catch (error) {
    throw fail("is not UTF-8", error);
  }
}

/** Reads the choice of tools. @throws SheafError USAGE for a name that no tool has. */
export function toToolChoice({ tools, "exclude-tools": excluded }: FlagValues): ToolChoice {
  return {
    ...(tools !== undefined && { only: toNames("--tools", tools) }),
    ...(excluded !== undefined && { excluded: toNames("--exclude-tools", excluded) }),
  };
}

/** Reads labels. @throws SheafError USAGE for a label without a key or a value. */
function toLabels({ label }: FlagValues): RunConfig["labels"] {
  const labels = label?.map((word) => {
    const [, key, value] = /^([A-Za-z0-9][\w.-]{0,62})=([^\p{Cc}]{1,200})$/u.exec(word) ?? [];
    if (key !== undefined && value !== undefined) return [key, value] as const;
    const rule = "a key has letters, digits, points, dashes and underscores, a value up to 200 characters";
    throw new SheafError("USAGE", `--label "${word}" is not KEY=VALUE: ${rule}`);
  });
  return labels && Object.fromEntries(labels);
}

/** Returns the list's rules in the form of `--allow`; commas within brackets belong to a rule. */
export function toAllowRules({ "allowed-tools": list = "" }: FlagValues): readonly string[] {
  return toAllowedRules("--allowed-tools", list.match(/\w+\([^)]*\)|[^\s,]+/g) ?? []);
}

function toNames(flag: string, list: string): readonly string[] {
  return checkToolNames(
    flag,
    list.split(/[\s,]+/).filter((name) => name !== ""),
  );
}
