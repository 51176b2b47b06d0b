/** Opens models. Each loads with its first use. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TokenPrice } from "@sheaf/protocol";
import type { FallbackChoice, ModelChoice } from "../config/endpoints.ts";
import type { ModelFamily } from "../config/provider-presets.ts";
import { SheafError } from "@sheaf/base/errors";
import {
  defaultRequestLimits,
  type PackageEndpoint,
  type LivePorts,
  type ProviderEndpoint,
  type RequestLimits,
} from "@sheaf/models/endpoint";
import type { LanguageModel } from "@sheaf/models/language-model";
import type { Model } from "@sheaf/models/provider";

/**
 * The chosen model, and never another one. The signal ends the wait for a script from a pipe.
 * @throws SheafError CONFIG_INVALID for a file that is not a script.
 */
export async function createModel(choice: ModelChoice, signal?: AbortSignal): Promise<Model> {
  switch (choice.kind) {
    case "offline":
      return (await import("@sheaf/models/offline/offline")).createOfflineModel();
    case "scripted":
      return (await import("@sheaf/models/scripted")).createScriptedModel(choice.file, signal);
    case "endpoint":
      return createEndpointModel(choice.family, choice.endpoint, choice.limits);
    case "package":
      return createPackageModel(choice.endpoint, choice.limits);
  }
}

/** The chosen model, and the models that the user named to replace it (C59). */
export async function createModels(
  choice: ModelChoice,
  fallbacks: readonly FallbackChoice[],
  prices: ReadonlyMap<string, TokenPrice>,
  signal?: AbortSignal,
): Promise<Model> {
  const model = await createModel(choice, signal);
  if (fallbacks.length === 0) return model;
  const { createFallbackModel } = await import("@sheaf/models/fallback");
  const open = fallbacks.map(async (one) => ({
    model: await createModel(one.choice, signal),
    price: prices.get(one.name),
  }));
  return createFallbackModel(model, await Promise.all(open));
}

/** Keeps the answers of a model in files (C164), unless `file` is undefined. @throws SheafError USAGE, STORAGE_FULL. */
export async function recordBodies(
  model: Model,
  { kind }: ModelChoice,
  { file, abort }: { readonly file: string | undefined; readonly abort: (reason: SheafError) => void },
): Promise<Model> {
  if (file === undefined) return model;
  if (kind === "endpoint") return (await import("@sheaf/models/record-bodies")).recordBodies(model, file, abort);
  const message = `--record-body needs a provider, and Sheaf reads no bytes from ${model.name}: choose another --model`;
  throw new SheafError("USAGE", message);
}

export const livePorts: LivePorts = {
  now: Date.now,
  random: Math.random,
  startTimer(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
};

/** A package of the user's is code that the user installed; a workspace cannot name one (S-06). */
async function createPackageModel(endpoint: PackageEndpoint, limits: RequestLimits): Promise<Model> {
  const [packages, { findPackage }] = await Promise.all([
    import("@sheaf/models/packages/package-model"),
    import("@sheaf/models/packages/create-language-model"),
  ]);
  const exported = await loadPackage(findPackage(endpoint), endpoint);
  return packages.createPackageModel(endpoint, exported, limits, livePorts);
}

/**
 * A model that a program made with a package of the AI SDK.
 * @throws SheafError USAGE for a version of the interface that is not understood.
 */
export async function createLanguageModelAdapter(languageModel: LanguageModel): Promise<Model> {
  const [{ createSdkModel }, { isLanguageModel }] = await Promise.all([
    import("@sheaf/models/packages/package-model"),
    import("@sheaf/models/packages/create-language-model"),
  ]);
  if (isLanguageModel(languageModel)) return createSdkModel(languageModel, defaultRequestLimits, livePorts);
  const { specificationVersion, modelId } = languageModel;
  const message = `the model "${modelId}" has version ${specificationVersion} of the AI SDK's interface: use v2, v3 or v4`;
  throw new SheafError("USAGE", message);
}

/** Loads the adapter of one family only. */
async function createEndpointModel(
  family: ModelFamily,
  endpoint: ProviderEndpoint,
  limits: RequestLimits,
): Promise<Model> {
  const [{ createLiveModel }, { languageModels }] = await Promise.all([
    import("@sheaf/models/live/live-model"),
    import("@sheaf/models/live/language-models"),
  ]);
  const model = createLiveModel(endpoint, await languageModels[family](), limits, livePorts);
  if (endpoint.provider !== "ollama") return model;
  const findWindow = async (signal: AbortSignal): Promise<number | undefined> =>
    (await import("@sheaf/models/ollama-window")).readOllamaWindow(endpoint, signal);
  return { ...model, findWindow };
}

async function loadPackage(
  address: string,
  { provider, settings }: PackageEndpoint,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(address)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `the package "${settings.package}" of the provider ${provider} cannot be loaded (${reason}): install it again`;
    throw new SheafError("CONFIG_INVALID", message, { cause });
  }
}
