/** `sheaf status`, `sheaf whoami`: which model a run would take, and where the keys are. Never a key (S-41). */
import { findKey, type FoundKey } from "../../config/credentials.ts";
import {
  chooseModel,
  findModelName,
  toKeySources,
  type ModelSettings,
  type NamedModel,
} from "../../config/endpoints.ts";
import { hasKeyHeader } from "../../config/key-text.ts";
import { toProviders, type Provider } from "../../config/providers.ts";
import { toSheafError } from "../../base/errors.ts";
import { toVisibleLine } from "../../output/visible-text.ts";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { toModelSettings } from "../run-config.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints the state; a missing key is not a failure. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runStatus(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const format = toCommandFormat(parsed);
  const settings = toModelSettings({ model: parsed.flags.model }, io);
  const { files } = settings;
  const states = listStates(settings);
  const named = findModelName(settings);
  const login = findLogin(settings);
  if (format === "json") return printJson(toFacts(login, named, states, files));
  return printText(io.profile === "cursor-2026" ? formatLogin(login) : formatText(named, states, files));
}

function listStates(settings: ModelSettings): ProviderState[] {
  const { config } = settings;
  if (config.fault) throw config.fault;
  return [...toProviders(config.settings).values()].map((provider) =>
    toState(provider, findKey(provider, toKeySources(settings))),
  );
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

function toFacts(
  login: Login,
  named: NamedModel | undefined,
  states: readonly ProviderState[],
  files: ModelSettings["files"],
) {
  return {
    isAuthenticated: login.isReady,
    status: login.isReady ? "authenticated" : "unauthenticated",
    model: named?.name ?? null,
    modelSource: named?.source ?? null,
    providers: states,
    configFile: files.config,
    credentialsFile: files.credentials,
  };
}

/** Whether a run would find its model and key; without a named model, whether there is any key. */
interface Login {
  readonly isReady: boolean;
  /** Whom a run would ask, or why it would not. */
  readonly text: string;
}

/** @throws SheafError CONFIG_INVALID. */
export function findLogin(settings: ModelSettings): Login {
  const withKeys = listStates(settings)
    .filter(({ apiKeySource }) => apiKeySource !== "none")
    .map(({ provider }) => provider);
  if (!findModelName(settings) && withKeys.length > 0) return { isReady: true, text: withKeys.join(", ") };
  try {
    const choice = chooseModel(settings);
    const text =
      choice.kind === "endpoint" ? `${choice.endpoint.provider} (${choice.endpoint.displayName})` : choice.kind;
    return { isReady: true, text };
  } catch (error) {
    return { isReady: false, text: toVisibleLine(toSheafError(error).message) };
  }
}

/** The one line that clients of `cursor-agent` look for (C30). */
function formatLogin({ isReady, text }: Login): string {
  return isReady ? `Logged in as ${text}\n` : `Not logged in: ${text}\n`;
}

function formatText(
  named: NamedModel | undefined,
  states: readonly ProviderState[],
  files: ModelSettings["files"],
): string {
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

function formatModelSource(source: NamedModel["source"], files: ModelSettings["files"]): string {
  switch (source) {
    case "flag":
      return "--model";
    case "env":
      return "SHEAF_MODEL";
    case "config":
      return files.config;
  }
}
