/** The model of a program's agent: a name, or an object that the program brings. */
import { resolve } from "node:path";
import { toDataFolder, toUserFiles, type Environment } from "@sheaf/base/paths";
import { findUserConfig } from "../config/config-file.ts";
import {
  type AgentModels,
  chooseFallbacks,
  chooseModel,
  createAgentModels,
  findPrices,
  type ModelSettings,
} from "../config/endpoints.ts";
import { findWindowTokens } from "../config/model-windows.ts";
import type { LanguageModel } from "@sheaf/models/language-model";
import type { Model } from "@sheaf/models/provider";
import { createUsageError } from "./custom-tool.ts";
import type { RunRequest } from "./run-request.ts";
import { createLanguageModelAdapter, createModels } from "./wire-models.ts";
import { now } from "./wire.ts";

export interface ModelOptions {
  /** A name (`"offline"`, `"anthropic/ID"`, `"scripted:FILE"`), a model of the AI SDK, or your own `Model`. */
  readonly model: string | LanguageModel | Model;
  /** Key for a model by name. Default: from `environment`. */
  readonly apiKey?: string;
  /** Server address for a model by name, if it is not the provider's own. */
  readonly baseUrl?: string;
  /** Models that answer, in this order, when a model by name is not available (C59). Default: none. */
  readonly fallbackModels?: readonly string[];
  /**
   * Environment variables with the keys of models and proxies, of which commands get a part. With it, Sheaf finds the
   * user's own files (providers, keys of `sheaf login`, AGENTS.md) as the command line does. Pass `process.env` to run
   * as the user would. Default: a PATH of the system's folders, without the user's files.
   */
  readonly environment?: Environment;
}

/** Variables of commands, unless the program sets others. */
export const defaultEnvironment: Environment = { PATH: "/usr/local/bin:/usr/bin:/bin" };

/** The options, with the folders that a run may write. */
interface PlacedOptions extends ModelOptions {
  readonly workspace: string;
  readonly addedFolders?: readonly string[];
}

/** The settings of a model that the program names. */
function toModelSettings({
  model,
  apiKey,
  baseUrl,
  fallbackModels,
  environment,
  workspace,
  addedFolders = [],
}: PlacedOptions & { readonly model: string }): ModelSettings {
  const files = environment ? toUserFiles(environment) : { config: "", instructions: "", credentials: "" };
  const config = environment ? findUserConfig(files.config) : { settings: {}, fault: undefined };
  const writable = [workspace, ...addedFolders].map((folder) => resolve(folder));
  const flags = { model, apiKey, baseUrl, fallbackModel: fallbackModels?.join(",") };
  return { flags, environment: environment ?? defaultEnvironment, config, files, writable };
}

interface FoundModel extends Pick<RunRequest, "price" | "windowTokens"> {
  readonly model: Model;
}

/** Throws at once for a wrong name; the model itself loads with the first run. */
export function toModelOpener(options: PlacedOptions): () => Promise<FoundModel> {
  const { model, baseUrl, environment } = options;
  if (typeof model === "string") {
    const modelSettings = toModelSettings({ ...options, model });
    const { config } = modelSettings;
    const choice = chooseModel(modelSettings);
    const fallbacks = chooseFallbacks(modelSettings);
    const { settings } = config;
    const dataFolder = environment && toDataFolder(environment);
    const windowTokens = findWindowTokens(model, { settings, dataFolder, baseUrl });
    return async () => {
      const prices = await findPrices(modelSettings, undefined, now());
      return { model: await createModels(choice, fallbacks, prices), price: prices.get(model), windowTokens };
    };
  }
  if (typeof model === "object" && model !== null) {
    if ("stream" in model) return async () => ({ model });
    if ("doStream" in model) return async () => ({ model: await createLanguageModelAdapter(model) });
  }
  const form = 'a name such as "anthropic/ID", a model of the AI SDK, or an object with a function "stream"';
  throw createUsageError(`model is ${JSON.stringify(model) ?? typeof model}: give ${form}`);
}

/** Models that definitions of subagents may name; undefined if the program's model is an object. */
export function toAgentModels(options: PlacedOptions): AgentModels | undefined {
  const { model, environment } = options;
  if (typeof model !== "string") return undefined;
  return createAgentModels(toModelSettings({ ...options, model }), environment && toDataFolder(environment));
}
