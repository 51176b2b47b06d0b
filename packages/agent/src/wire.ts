/** The composition root: the only file that names concrete models and stores. Each is loaded when it is asked for. */
import { setTimeout } from "node:timers/promises";
import type { ModelChoice } from "./config/endpoints.ts";
import type { ModelFamily } from "./config/provider-presets.ts";
import type { ProviderEndpoint, RequestLimits } from "./providers/endpoint.ts";
import type { CreateLanguageModel } from "./providers/live/language-model.ts";
import type { Model } from "./providers/provider.ts";
import type { AnswerCheck } from "./run/final-answer.ts";
import type { Store } from "./storage/store.ts";

/** The model that was chosen; never another one. @throws SheafError CONFIG_INVALID for a script that is none. */
export async function createModel(choice: ModelChoice): Promise<Model> {
  switch (choice.kind) {
    case "offline":
      return (await import("./providers/offline/offline.ts")).createOfflineModel();
    case "scripted":
      return (await import("./providers/scripted.ts")).createScriptedModel(choice.file);
    case "endpoint":
      return createEndpointModel(choice.family, choice.endpoint, choice.limits);
  }
}

/** Only the adapter of the family that is used is loaded. */
async function createEndpointModel(
  family: ModelFamily,
  endpoint: ProviderEndpoint,
  limits: RequestLimits,
): Promise<Model> {
  const [{ createLiveModel }, createLanguageModel] = await Promise.all([
    import("./providers/live/live-model.ts"),
    loadLanguageModel(family),
  ]);
  return createLiveModel(endpoint, createLanguageModel, limits, {
    now: Date.now,
    random: Math.random,
    sleep: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }),
  });
}

async function loadLanguageModel(family: ModelFamily): Promise<CreateLanguageModel> {
  switch (family) {
    case "openai":
      return (await import("./providers/live/openai.ts")).createOpenAiLanguageModel;
    case "anthropic":
      return (await import("./providers/live/anthropic.ts")).createAnthropicLanguageModel;
    case "google":
      return (await import("./providers/live/google.ts")).createGoogleLanguageModel;
    case "openai-compatible":
      return (await import("./providers/live/openai-compatible.ts")).createOpenAiCompatibleLanguageModel;
  }
}

/** The store of a file; undefined: in memory. */
export async function createStore(file: string | undefined): Promise<Store> {
  if (file === undefined) {
    const { createMemoryStore } = await import("./storage/memory.ts");
    return createMemoryStore();
  }
  const { createSqliteStore } = await import("./storage/sqlite.ts");
  return createSqliteStore(file);
}

/** The check of a final answer against a schema file; undefined without one. @throws SheafError CONFIG_INVALID. */
export async function createAnswerCheck(file: string | undefined): Promise<AnswerCheck | undefined> {
  if (file === undefined) return undefined;
  return (await import("./answers/answer-schema.ts")).createAnswerCheck(file);
}
