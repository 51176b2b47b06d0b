/** Names of models for `--model`: from the configuration, and from the lists of reachable providers. */
import { toDataFolder } from "@sheaf/base/paths";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import {
  findModelName,
  findProviderEndpoint,
  type ModelSettings,
  toProvider,
  withoutCommonKey,
} from "@sheaf/agent/config/endpoints";
import { keepListedWindows } from "@sheaf/agent/config/model-windows";
import { toProviders, type Provider } from "@sheaf/agent/config/providers";
import { listModels } from "@sheaf/models/model-list";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";

/** Milliseconds within which a provider must answer. */
const TIMEOUT_MS = 5000;

/** The known models of a provider. */
export interface ProviderModels {
  readonly provider: string;
  /** Names for `--model`. */
  readonly models: readonly string[];
  /** The reason for a list without the provider's answer, in one line; undefined: it answered. */
  readonly problem: string | undefined;
}

/**
 * Lists the models of all providers with a key, of local servers, and the configured ones of all others. A key for any
 * model goes only to the provider of the chosen one: it belongs to one of them.
 */
export function askAllProviders(settings: ModelSettings): Promise<ProviderModels[]> {
  const providers = toProviders(settings.config.settings);
  const chosen = toProvider(findModelName(settings)?.name ?? "");
  const others = { ...settings, environment: withoutCommonKey(settings.environment) };
  return Promise.all(
    [...providers.values()].map((provider) => tryProvider(provider, provider.name === chosen ? settings : others)),
  );
}

async function tryProvider(provider: Provider, settings: ModelSettings): Promise<ProviderModels> {
  try {
    return await askProvider(provider, settings);
  } catch (error) {
    return {
      provider: provider.name,
      models: toNames(provider, provider.models),
      problem: toSheafError(error).message,
    };
  }
}

/** Lists a provider's models. @throws SheafError if the provider doesn't answer; USAGE, CONFIG_INVALID. */
export async function askProvider(provider: Provider, settings: ModelSettings): Promise<ProviderModels> {
  const { name } = provider;
  // A package can't be asked for a list.
  if (provider.kind === "package") {
    return { provider: name, models: toNames(provider, provider.models), problem: undefined };
  }
  const endpoint = findProviderEndpoint(provider, "ID", `${name}/ID`, settings);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const listed = await listModels(endpoint, signal);
    const models = toNames(provider, [...provider.models, ...listed.map(({ id }) => toVisibleLine(id))]);
    // A list from another address isn't the provider's.
    if (settings.flags.baseUrl === undefined) {
      const windows = listed.map(({ id, windowTokens = 0 }) => [`${name}/${id}`, windowTokens] as const);
      keepListedWindows(toDataFolder(settings.environment), name, new Map(windows));
    }
    return { provider: name, models, problem: undefined };
  } catch (error) {
    if (!signal.aborted) throw error;
    const message = `${name} (${endpoint.baseUrl}) did not answer within ${TIMEOUT_MS / 1000} s: check the server`;
    throw new SheafError("NETWORK", message, { cause: error, source: "provider" });
  }
}

function toNames({ name }: Provider, ids: readonly string[]): string[] {
  return [...new Set(ids)].map((id) => `${name}/${id}`);
}
