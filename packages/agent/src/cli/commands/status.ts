/** `sheaf status`, `sheaf whoami`: which model a run would take, and where the keys are. Never a key (S-41). */
import { findUserConfig } from "../../config/config-file.ts";
import { findKey, type FoundKey } from "../../config/credentials.ts";
import {
  chooseModel,
  findModelName,
  toKeySources,
  type ModelSettings,
  type NamedModel,
} from "../../config/endpoints.ts";
import { hasKeyHeader } from "../../config/key-text.ts";
import { toUserFiles, type UserFiles } from "../../base/paths.ts";
import { toProviders, type Provider } from "../../config/providers.ts";
import { toSheafError } from "../../base/errors.ts";
import { toVisibleLine } from "../../output/visible-text.ts";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints the state; a missing key is not a failure. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runStatus(parsed: ParsedArguments, { environment, profile }: CommandIo): Promise<number> {
  const format = toCommandFormat(parsed);
  const files = toUserFiles(environment);
  const config = findUserConfig(files.config);
  if (config.fault) throw config.fault;
  const settings = { flags: { model: parsed.flags.model }, environment, config, files };
  const states = [...toProviders(config.settings).values()].map((provider) =>
    toState(provider, findKey(provider, toKeySources(settings))),
  );
  const named = findModelName(settings);
  if (format === "json") return printJson(toFacts(named, states, files));
  return printText(profile === "cursor-2026" ? formatLogin(settings) : formatText(named, states, files));
}

interface ProviderState {
  readonly provider: string;
  readonly baseUrl: string | undefined;
  readonly needsKey: boolean;
  readonly apiKeySource: "env" | "login" | "none";
  /** The variable of a key from the environment. */
  readonly variable: string | undefined;
}

function toState(provider: Provider, key: FoundKey): ProviderState {
  const { name, baseUrl, headers } = provider;
  const isHeaderKey = key.source === "none" && hasKeyHeader(headers);
  return {
    provider: name,
    baseUrl,
    needsKey: provider.key === "required" && !isHeaderKey,
    // Status takes no --api-key, so that no key comes from there.
    apiKeySource: isHeaderKey ? "login" : key.source === "flag" ? "none" : key.source,
    variable: key.source === "env" ? key.variable : undefined,
  };
}

function toFacts(named: NamedModel | undefined, states: readonly ProviderState[], files: UserFiles) {
  return {
    isAuthenticated: states.some(({ apiKeySource }) => apiKeySource !== "none"),
    model: named?.name ?? null,
    modelSource: named?.source ?? null,
    providers: states,
    configFile: files.config,
    credentialsFile: files.credentials,
  };
}

/** The one line that clients of `cursor-agent` look for (C30): whether a run would find its model and key. */
function formatLogin(settings: ModelSettings): string {
  try {
    const choice = chooseModel(settings);
    const user =
      choice.kind === "endpoint" ? `${choice.endpoint.provider} (${choice.endpoint.displayName})` : choice.kind;
    return `Logged in as ${user}\n`;
  } catch (error) {
    return `Not logged in: ${toVisibleLine(toSheafError(error).message)}\n`;
  }
}

function formatText(named: NamedModel | undefined, states: readonly ProviderState[], files: UserFiles): string {
  const width = Math.max(...states.map(({ provider }) => provider.length));
  const rows = states.map((state) => `  ${state.provider.padEnd(width)}  ${formatKey(state)}\n`);
  const model = named
    ? `${named.name} (from ${formatModelSource(named.source, files)})`
    : "none; name one with --model";
  return `Model: ${model}\nKeys:\n${rows.join("")}Configuration: ${files.config}\nKept keys: ${files.credentials}\n`;
}

function formatKey({ apiKeySource, variable, needsKey }: ProviderState): string {
  switch (apiKeySource) {
    case "env":
      return `key from the variable ${variable ?? ""}`;
    case "login":
      return "key from sheaf login";
    case "none":
      return needsKey ? "no key" : "no key, works without one";
  }
}

function formatModelSource(source: NamedModel["source"], files: UserFiles): string {
  switch (source) {
    case "flag":
      return "--model";
    case "env":
      return "SHEAF_MODEL";
    case "config":
      return files.config;
  }
}
