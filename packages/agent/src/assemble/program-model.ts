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
  /** A name (`"offline"`, `"anthropic/ID"`, `"scripted:FILE"`), a model of the AI SDK, or a `Model` of your own. */
  readonly model: string | LanguageModel | Model;
  /** For a model by name: its key. Default: from `environment`. */
  readonly apiKey?: string;
  /** For a model by name: the address of its server, where that is not the provider's own. */
  readonly baseUrl?: string;
  /** For a model by name: models that answer, in this order, when it is not available (C59). Default: none. */
  readonly fallbackModels?: readonly string[];
  /**
   * Environment variables: keys of models, proxies, and what commands get a part of. With it, the user's own files
   * (providers, keys of `sheaf login`, AGENTS.md) are found as the command line finds them. Pass `process.env` to run
   * as the user would. Default: a PATH of the system's folders, and none of the user's files.
   */
  readonly environment?: Environment;
}

/** What commands get where the program says nothing. */
export const defaultEnvironment: Environment = { PATH: "/usr/local/bin:/usr/bin:/bin" };

/** With the folders that a run may write. */
interface PlacedOptions extends ModelOptions {
  readonly workspace: string;
  readonly addedFolders?: readonly string[];
}

/** What a name of a model means for the program. */
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

/** What is wrong with a name is thrown at once; the model itself is loaded with the first run. */
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

/** Models that definitions of subagents may name; undefined: no name leads to a model. */
export function toAgentModels(options: PlacedOptions): AgentModels | undefined {
  const { model, environment } = options;
  if (typeof model !== "string") return undefined;
  return createAgentModels(toModelSettings({ ...options, model }), environment && toDataFolder(environment));
}
