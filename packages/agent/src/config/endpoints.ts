/** Finds the model of a name, with its address and key. Never chooses another model than the named one. */
import { dirname, resolve } from "node:path";
import type { TokenPrice } from "@sheaf/protocol";
import { quoteValue, SheafError } from "@sheaf/base/errors";
import {
  defaultRequestLimits,
  type PackageEndpoint,
  type ProviderEndpoint,
  type ProviderIdentity,
  type RequestLimits,
} from "@sheaf/models/endpoint";
import { findNearest } from "@sheaf/base/nearest-names";
import { parseBaseUrl } from "./key-text.ts";
import type { FoundConfig } from "./config-file.ts";
import { findModelPrice } from "./model-prices.ts";
import { findWindowTokens } from "./model-windows.ts";
import type { UserConfig } from "./user-config.ts";
import { findKey, type FoundKey, type KeySources } from "./credentials.ts";
import { hasKeyHeader, parseHeaders } from "./key-text.ts";
import type { Environment, UserFiles } from "@sheaf/base/paths";
import { commonVariable, type ModelFamily } from "./provider-presets.ts";
import { findProxy } from "./proxy.ts";
import { toProviders, type PackageProvider, type Provider, type WireProvider } from "./providers.ts";

/** The model that a run talks to. */
export type ModelChoice =
  | { readonly kind: "offline" }
  | { readonly kind: "scripted"; readonly file: string }
  | {
      readonly kind: "endpoint";
      readonly family: ModelFamily;
      readonly endpoint: ProviderEndpoint;
      readonly limits: RequestLimits;
    }
  | { readonly kind: "package"; readonly endpoint: PackageEndpoint; readonly limits: RequestLimits };

/** Flags about the model. */
export interface ModelFlags {
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** Each `Name: value`. */
  readonly headers?: readonly string[] | undefined;
  /** Names in one list, separated by commas: `--fallback-model`. */
  readonly fallbackModel?: string | undefined;
  /** `--wait-for-quota`. */
  readonly waitsForQuota?: true | undefined;
}

export interface ModelSettings {
  readonly flags: ModelFlags;
  readonly environment: Environment;
  readonly config: FoundConfig;
  readonly files: Pick<UserFiles, "config" | "instructions" | "credentials">;
  /** Folder of relative paths; default: the process's. */
  readonly cwd?: string | undefined;
  /** Folders that the run may write; absolute. Default: none. */
  readonly writable?: readonly string[] | undefined;
}

/** A model name and its source. */
export interface NamedModel {
  readonly name: string;
  readonly source: "flag" | "env" | "config";
}

/** The name in `--model`, `SHEAF_MODEL` or the configuration, in this order, after aliases; undefined without one. */
export function findModelName({ flags, environment, config }: ModelSettings): NamedModel | undefined {
  const { model } = config.settings;
  if (flags.model !== undefined) return { name: toModelName(flags.model, config), source: "flag" };
  if (environment.SHEAF_MODEL) return { name: toModelName(environment.SHEAF_MODEL, config), source: "env" };
  return model === undefined ? undefined : { name: toModelName(model, config), source: "config" };
}

function toModelName(name: string, { settings: { modelAliases = {} } }: FoundConfig): string {
  return Object.hasOwn(modelAliases, name) ? modelAliases[name]! : name;
}

/** True if a name is of a model without a provider: it needs no key, and costs nothing. */
export function isBuiltInModel(name: string): boolean {
  return name === "offline" || name.startsWith("scripted:");
}

/**
 * The model to use.
 * @throws SheafError AUTH_REQUIRED without a name, or without the key that the model needs; MODEL_NOT_FOUND for an
 * unknown name; CONFIG_INVALID for a broken configuration (S-04); USAGE for flags that don't fit.
 */
export function chooseModel(settings: ModelSettings): ModelChoice {
  const { config, flags } = settings;
  if (config.fault) throw config.fault;
  const named = findModelName(settings);
  if (!named) throw createNoModelError();
  const { name } = named;
  if (isBuiltInModel(name)) {
    if (flags.baseUrl !== undefined) {
      throw new SheafError("USAGE", `--base-url has no effect on the model "${name}": leave it out`);
    }
    // These models send no headers, but a mistake in one is still an error.
    parseHeaders(flags.headers ?? []);
    if (name === "offline") return { kind: "offline" };
    const file = name.slice("scripted:".length);
    return { kind: "scripted", file: settings.cwd === undefined ? file : resolve(settings.cwd, file) };
  }
  const providers = toProviders(config.settings);
  const slash = name.indexOf("/");
  const provider = slash === -1 ? undefined : providers.get(name.slice(0, slash));
  const modelId = name.slice(slash + 1);
  if (!provider || !/^[^\s\p{Cc}]+$/u.test(modelId)) throw createUnknownModelError(name, [...providers.values()]);
  const limits = toRequestLimits(config.settings, flags);
  if (provider.kind === "package") {
    return { kind: "package", endpoint: findPackageEndpoint(provider, modelId, name, settings), limits };
  }
  const endpoint = findProviderEndpoint(provider, modelId, name, settings);
  return { kind: "endpoint", family: provider.family, endpoint, limits };
}

/** A model to fall back on (C59). */
export interface FallbackChoice {
  readonly name: string;
  readonly choice: ModelChoice;
}

/** The names of `--fallback-model` or of the configuration, after aliases, without the model of the run. */
function findFallbackNames(settings: ModelSettings): readonly string[] {
  const { flags, config } = settings;
  const { fallbackModels = [] } = config.settings;
  const given = flags.fallbackModel?.split(",").map((name) => name.trim()) ?? fallbackModels;
  const names = given.filter((name) => name !== "").map((name) => toModelName(name, config));
  const first = findModelName(settings)?.name;
  return [...new Set(names)].filter((name) => name !== first);
}

/** The models to fall back on. Key and address of the run's model go to no other provider. @throws as `chooseModel`. */
export function chooseFallbacks(settings: ModelSettings): readonly FallbackChoice[] {
  return findFallbackNames(settings).map((name) => ({ name, choice: chooseModel(toFurtherSettings(settings, name)) }));
}

/**
 * Prices by name, at a time in milliseconds since 1970: of the run's model and of the models to fall back on.
 * @throws SheafError CONFIG_INVALID if the cost is limited and one of them is not known.
 */
export async function findPrices(
  settings: ModelSettings,
  maxCostUsd: number | undefined,
  time: number,
): Promise<ReadonlyMap<string, TokenPrice>> {
  const prices = new Map<string, TokenPrice>();
  const { name: ofRun } = findModelName(settings) ?? {};
  for (const name of ofRun === undefined ? [] : [ofRun, ...findFallbackNames(settings)]) {
    const price = await findPrice(settings, name, maxCostUsd, time);
    if (price) prices.set(name, price);
  }
  return prices;
}

/** Undefined if the price is not known and the cost is not limited. @throws as `findPrices`. */
async function findPrice(
  settings: ModelSettings,
  name: string,
  maxCostUsd: number | undefined,
  time: number,
): Promise<TokenPrice | undefined> {
  const price = await findModelPrice(name, toFurtherSettings(settings, name), time);
  if (price || maxCostUsd === undefined) return price;
  const example = JSON.stringify({ prices: { [name]: { input: 3, output: 15 } } });
  throw new SheafError(
    "CONFIG_INVALID",
    `a limit on the cost needs the price of "${name}", which Sheaf does not know: add it to ` +
      `${settings.files.config || "your config.json"}, in US dollars for a million tokens, for instance ${example}`,
  );
}

/** The settings of a model by its whole name. The key and the address of the run's model go to no other provider. */
function toFurtherSettings(settings: ModelSettings, model: string): ModelSettings {
  const { flags } = settings;
  const { waitsForQuota } = flags;
  return toProvider(model) === toProvider(findModelName(settings)?.name ?? "")
    ? { ...settings, flags: { ...flags, model } }
    : { ...settings, flags: { model, waitsForQuota }, environment: withoutCommonKey(settings.environment) };
}

/** The part before the first slash: the whole name of a model that is built in. */
export function toProvider(model: string): string {
  return model.split("/", 1)[0]!;
}

type ChosenModel = FallbackChoice & { readonly windowTokens: number | undefined };

/** The models that definitions of subagents may name (C129). */
export interface AgentModels {
  /** The model of the run, unless its order sets another one. */
  readonly ofRun: string | undefined;
  /** The whole name of a model, by the user's aliases. */
  readonly toName: (name: string) => string | Promise<string>;
  /** @throws as `chooseModel`. */
  readonly choose: (name: string) => ChosenModel | Promise<ChosenModel>;
  /** Undefined if not known, without a limit on the cost. `time`: milliseconds since 1970. @throws as `findPrices`. */
  readonly findPrice: (name: string, maxCostUsd: number | undefined, time: number) => Promise<TokenPrice | undefined>;
}

/** Chooses models by the settings of a run. `dataFolder` has the providers' lists. */
export function createAgentModels(settings: ModelSettings, dataFolder: string | undefined): AgentModels {
  const { flags, config } = settings;
  return {
    ofRun: findModelName(settings)?.name,
    toName: (name) => toModelName(name, config),
    choose: (name) => ({
      name,
      choice: chooseModel(toFurtherSettings(settings, name)),
      windowTokens: findWindowTokens(name, { settings: config.settings, dataFolder, baseUrl: flags.baseUrl }),
    }),
    findPrice: (name, maxCostUsd, time) => findPrice(settings, name, maxCostUsd, time),
  };
}

export function withoutCommonKey(environment: Environment): Environment {
  return { ...environment, [commonVariable]: undefined };
}

/**
 * The address and key of a provider, by flags, environment and the keys of `sheaf login`.
 * @throws SheafError AUTH_REQUIRED without a key that it needs; USAGE, CONFIG_INVALID.
 */
export function findProviderEndpoint(
  provider: WireProvider,
  modelId: string,
  displayName: string,
  settings: ModelSettings,
): ProviderEndpoint {
  const baseUrl = toBaseUrl(provider, settings.flags.baseUrl);
  return { ...toIdentity(provider, baseUrl, modelId, displayName, settings), protocol: provider.protocol };
}

/** The package knows its address, unless a flag gives another one. */
function findPackageEndpoint(
  provider: PackageProvider,
  modelId: string,
  displayName: string,
  settings: ModelSettings,
): PackageEndpoint {
  const { flags, files, writable } = settings;
  const baseUrl = flags.baseUrl === undefined ? "" : toBaseUrl(provider, flags.baseUrl);
  const identity = toIdentity(provider, baseUrl, modelId, displayName, settings);
  return { ...identity, settings: provider.settings, folder: dirname(files.config), writable };
}

function toIdentity(
  provider: Provider,
  baseUrl: string,
  modelId: string,
  displayName: string,
  settings: ModelSettings,
): ProviderIdentity {
  const { flags } = settings;
  const flagHeaders = parseHeaders(flags.headers ?? []);
  const key = findKey(provider, toKeySources(settings));
  const isHeaderKey = hasKeyHeader(flagHeaders) || hasKeyHeader(provider.headers);
  // At an address other than the provider's own, the server decides whether it needs a key.
  if (key.source === "none" && provider.key === "required" && flags.baseUrl === undefined && !isHeaderKey) {
    throw createNoKeyError(provider, displayName);
  }
  const proxy = findProxy(settings.environment);
  return {
    provider: provider.name,
    baseUrl,
    modelId,
    displayName,
    apiKey: key.value,
    apiKeySource: toKeySource(key, flagHeaders, provider.headers),
    headers: { ...provider.headers, ...flagHeaders },
    takesImages: settings.config.settings.images?.[displayName],
    ...(proxy && { proxy }),
  };
}

function toBaseUrl({ name, baseUrl }: Provider, flag: string | undefined): string {
  if (flag !== undefined) {
    const parsed = parseBaseUrl(flag);
    if (!parsed.ok) throw new SheafError("USAGE", `--base-url is not valid: ${parsed.expected}`);
    return parsed.value;
  }
  if (baseUrl === undefined) {
    throw new SheafError("USAGE", `${name}/… needs the address of its server: add --base-url http://HOST:PORT/v1`);
  }
  return baseUrl;
}

function toKeySource(
  key: FoundKey,
  flagHeaders: Readonly<Record<string, string>>,
  ownHeaders: Readonly<Record<string, string>>,
): ProviderEndpoint["apiKeySource"] {
  if (key.source !== "none") return key.source;
  if (hasKeyHeader(flagHeaders)) return "flag";
  // A header of the configuration is on disk, as a login is.
  return hasKeyHeader(ownHeaders) ? "login" : "none";
}

/** Patience of requests, by configuration and flags. */
function toRequestLimits({ limits = {} }: UserConfig, { waitsForQuota }: ModelFlags): RequestLimits {
  const { silenceSeconds, maxTries } = limits;
  return {
    ...defaultRequestLimits,
    waitsForQuota: waitsForQuota ?? false,
    ...(silenceSeconds !== undefined && { silenceMs: silenceSeconds * 1000 }),
    ...(maxTries !== undefined && { maxTries }),
  };
}

function createNoModelError(): SheafError {
  return new SheafError(
    "AUTH_REQUIRED",
    "no model is chosen: set ANTHROPIC_API_KEY and add --model anthropic/claude-sonnet-4-5, or add --model offline, " +
      "which needs no key (sheaf help flags lists all models)",
  );
}

function createNoKeyError({ name, credential, keyVariables }: Provider, model: string): SheafError {
  const [variable = ""] = keyVariables;
  return new SheafError(
    "AUTH_REQUIRED",
    `the model "${model}" needs a key of ${name}: set ${variable}, or run sheaf login ${credential}`,
  );
}

const idBeginnings: readonly (readonly [RegExp, string])[] = [
  [/^claude-/i, "anthropic"],
  [/^(gpt-|o\d|chatgpt-|codex-)/i, "openai"],
  [/^gemini-/i, "google"],
];

function createUnknownModelError(name: string, providers: readonly Provider[]): SheafError {
  const suggestions = suggestNames(name, providers).filter((suggestion) => suggestion !== name);
  const blank = /\s/.test(name) ? "it contains a space or a line end, which no id does; " : "";
  const forms = ["offline", "scripted:FILE", ...providers.map((provider) => `${provider.name}/ID`)];
  const advice =
    suggestions.length > 0 ? `did you mean ${suggestions.join(" or ")}?` : `use one of ${forms.join(", ")}`;
  const message = `the model ${quoteValue(name)} is unknown: ${blank}${advice} (sheaf models lists all names)`;
  return new SheafError("MODEL_NOT_FOUND", message);
}

function suggestNames(name: string, providers: readonly Provider[]): string[] {
  const names = providers.map((provider) => provider.name);
  const slash = name.indexOf("/");
  if (slash !== -1) {
    const id = name.slice(slash + 1) || "ID";
    return findNearest(name.slice(0, slash), names).map((nearest) => `${nearest}/${id}`);
  }
  const configured = providers.flatMap((provider) => provider.models.map((model) => [provider.name, model] as const));
  const sameModel = configured.filter(([, model]) => model === name).map((parts) => parts.join("/"));
  const byBeginning = idBeginnings.filter(([pattern]) => pattern.test(name)).map(([, owner]) => `${owner}/${name}`);
  if (sameModel.length + byBeginning.length > 0) return [...sameModel, ...byBeginning].slice(0, 3);
  return findNearest(name, ["offline", ...names]).map((nearest) => (nearest === "offline" ? nearest : `${nearest}/ID`));
}

/** Places to look for keys, by the settings of a run. */
export function toKeySources({ flags, environment, files }: ModelSettings): KeySources {
  return { flag: flags.apiKey, environment, credentialsFile: files.credentials };
}
