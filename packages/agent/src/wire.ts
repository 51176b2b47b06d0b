/** The composition root: the only file that names concrete models and stores. Each is loaded when it is asked for. */
import { SheafError } from "./errors.ts";
import type { Model } from "./providers/provider.ts";
import type { AnswerCheck } from "./run/final-answer.ts";
import type { Store } from "./storage/store.ts";

const waysOut =
  "use --model offline (built in, needs no key) or --model scripted:FILE, or set SHEAF_MODEL to one of them";

/**
 * The model that a name means; never another one.
 * @throws SheafError AUTH_REQUIRED without a name, MODEL_NOT_FOUND for an unknown one.
 */
export async function createModel(name: string | undefined): Promise<Model> {
  if (name === undefined) throw new SheafError("AUTH_REQUIRED", `no model is named: ${waysOut}`);
  if (name === "offline") {
    const { createOfflineModel } = await import("./providers/offline/offline.ts");
    return createOfflineModel();
  }
  if (name.startsWith("scripted:")) {
    const { createScriptedModel } = await import("./providers/scripted.ts");
    return createScriptedModel(name.slice("scripted:".length));
  }
  throw new SheafError("MODEL_NOT_FOUND", `the model "${name}" is unknown: ${waysOut}`);
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
