/** Names of models that `--model` takes: those of the configuration, and those that the providers in reach list. */
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

/** Time that a provider may take. Milliseconds. */
const TIMEOUT_MS = 5000;

/** What is known of a provider's models. */
export interface ProviderModels {
  readonly provider: string;
  /** Names for `--model`. */
  readonly models: readonly string[];
  /** The reason why the provider itself was not asked, or what went wrong, in one line; undefined: it answered. */
  readonly problem: string | undefined;
}

/**
 * All providers with a key, and local servers, are asked; those that don't answer are listed with the others. A key for any
 * model goes to the provider of the chosen one alone: it belongs to one of them.
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

/** @throws SheafError for a provider that does not answer; USAGE, CONFIG_INVALID. */
export async function askProvider(provider: Provider, settings: ModelSettings): Promise<ProviderModels> {
  const { name } = provider;
  // A package has no list that could be asked for.
  if (provider.kind === "package") {
    return { provider: name, models: toNames(provider, provider.models), problem: undefined };
  }
  const endpoint = findProviderEndpoint(provider, "ID", `${name}/ID`, settings);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const listed = await listModels(endpoint, signal);
    const models = toNames(provider, [...provider.models, ...listed.map(({ id }) => toVisibleLine(id))]);
    // A list from another address than the provider's own says nothing of the provider's models.
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
