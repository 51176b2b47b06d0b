/** Each setting of a run, with its source. */
import type { UserConfig } from "./user-config.ts";
import type { RawSettings } from "./config.ts";
import type { Environment } from "@sheaf/base/paths";

export interface ExplainedSetting {
  readonly name: string;
  /** The given value; null: not set, and without a default. */
  readonly value: string | number | boolean | null;
  /** `default`, `config`, the name of a variable, or a flag. */
  readonly source: string;
}

type Value = string | number | boolean | undefined;

/** Every place that may name a value, strongest first. */
interface Places {
  readonly flag?: readonly [name: string, value: Value];
  readonly variable?: readonly [name: string, value: Value];
  readonly config?: Value;
  readonly fallback?: Value;
}

/** Flags win over the environment, the environment over the configuration. Keys and headers are never shown. */
export function explainSettings(
  raw: RawSettings,
  environment: Environment,
  config: UserConfig,
  found: { readonly configFile: string; readonly storeFile: string; readonly workspace: string },
): ExplainedSetting[] {
  const { budgets = {}, limits = {} } = config;
  const inHome = (file: string): readonly [string, Value] => ["SHEAF_HOME", environment.SHEAF_HOME ? file : undefined];
  const mode: NonNullable<Places["flag"]> = raw.plan ? ["--plan", "plan"] : ["--mode", raw.mode];
  return [
    explain("model", {
      flag: ["--model", raw.model],
      variable: ["SHEAF_MODEL", environment.SHEAF_MODEL || undefined],
      config: config.model,
    }),
    explain("fallback models", {
      flag: ["--fallback-model", raw.fallbackModel],
      config: toList(config.fallbackModels),
    }),
    explain("base URL", { flag: ["--base-url", raw.baseUrl] }),
    explain("mode", { flag: mode, fallback: "agent" }),
    explain("effort", { flag: ["--effort", raw.effort], config: config.effort }),
    explain("subagents", { flag: ["--agents", raw.agents], config: config.agents, fallback: "off" }),
    explain("web search", { flag: ["--web-search", raw.webSearch], config: config.webSearch, fallback: "off" }),
    explain("workspace", {
      flag: ["--workspace", raw.workspace === undefined ? undefined : found.workspace],
      fallback: found.workspace,
    }),
    explain("added folders", { flag: ["--add-dir", toList(raw.addDir)] }),
    explain("trust", {
      flag: ["--trust", raw.trust],
      variable: ["SHEAF_TRUST", environment.SHEAF_TRUST || undefined],
      fallback: "as listed by sheaf trust --list",
    }),
    explain("on denied", { flag: ["--on-denied", raw.onDenied], fallback: "continue" }),
    explain("strict", { flag: ["--strict", raw.strict], fallback: "off" }),
    explain("sandbox", {
      flag: ["--sandbox", raw.sandbox],
      variable: ["SHEAF_SANDBOX", environment.SHEAF_SANDBOX || undefined],
      config: config.sandbox,
      fallback: "enabled",
    }),
    explain("force", { flag: ["--force", raw.force], fallback: "off" }),
    explainRules("allow", raw.allow, config.permissions?.allow),
    explainRules("ask", raw.ask, config.permissions?.ask),
    explainRules("deny", raw.deny, config.permissions?.deny),
    explain("timeout (s)", { flag: ["--timeout", raw.timeout], config: budgets.timeout }),
    explain("max turns", { flag: ["--max-turns", raw.maxTurns], config: budgets.maxTurns }),
    explain("max tool calls", { flag: ["--max-tool-calls", raw.maxToolCalls], config: budgets.maxToolCalls }),
    explain("max tokens", { flag: ["--max-tokens", raw.maxTokens], config: budgets.maxTokens }),
    explain("max cost (USD)", { flag: ["--max-cost-usd", raw.maxCostUsd], config: budgets.maxCostUsd }),
    explain("heartbeat (s)", { flag: ["--heartbeat", raw.heartbeat] }),
    explain("silence limit (s)", { config: limits.silenceSeconds, fallback: 120 }),
    explain("tries", { config: limits.maxTries, fallback: 10 }),
    explain("endpoints", { config: toNames(config.endpoints) }),
    explain("providers", { config: toNames(config.providers) }),
    explain("MCP servers", { config: toNames(config.mcpServers) }),
    explain("after edits of", { config: toList(config.afterEdit?.map(({ glob }) => glob)) }),
    explain("verify", { flag: ["--verify", toList(raw.verify)], config: toList(config.verify) }),
    explain("hooks at", { config: toNames(config.hooks) }),
    explain("hooks file", { config: config.hooksFile }),
    explain("prices for", { config: toNames(config.prices) }),
    explain("context tokens", { flag: ["--context-tokens", raw.contextTokens] }),
    explain("context tokens for", { config: toNames(config.contextTokens) }),
    explain("configuration", { variable: inHome(found.configFile), fallback: found.configFile }),
    explain("store", { variable: inHome(found.storeFile), fallback: found.storeFile }),
  ];
}

function toList(values: readonly string[] = []): string | undefined {
  return values.length === 0 ? undefined : values.join(", ");
}

function toNames(record: object = {}): string | undefined {
  return toList(Object.keys(record));
}

function explain(name: string, { flag, variable, config, fallback }: Places): ExplainedSetting {
  if (flag?.[1] !== undefined) return { name, value: flag[1], source: flag[0] };
  if (variable?.[1] !== undefined) return { name, value: variable[1], source: variable[0] };
  if (config !== undefined) return { name, value: config, source: "config" };
  return { name, value: fallback ?? null, source: "default" };
}

/** Rules of all sources apply together. */
function explainRules(
  name: "allow" | "ask" | "deny",
  fromFlags: readonly string[] = [],
  fromConfig: readonly string[] = [],
): ExplainedSetting {
  const sources = [...(fromFlags.length > 0 ? [`--${name}`] : []), ...(fromConfig.length > 0 ? ["config"] : [])];
  const rules = [...fromFlags, ...fromConfig];
  return { name, value: rules.length === 0 ? null : rules.join(", "), source: sources.join(", ") || "default" };
}
