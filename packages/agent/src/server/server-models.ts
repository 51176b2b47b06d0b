/** The models that requests may name. */
import type { TokenPrice } from "@sheaf/protocol";
import { SheafError, toSheafError } from "../base/errors.ts";
import type { Model } from "../model/provider.ts";

/** A model, and what the operator says that it costs. */
export interface OfferedModel {
  readonly model: Model;
  readonly price: TokenPrice | undefined;
  /** What it takes in one request. Tokens. */
  readonly windowTokens?: number | undefined;
}

export interface ServerModels {
  /** The default one first. */
  readonly names: readonly string[];
  /**
   * The model of a request. One that cannot be used is a model too, which tells why in its answer.
   * @throws SheafError MODEL_NOT_FOUND for a name that is not offered.
   */
  open(name: string | undefined): Promise<OfferedModel>;
}

/** Opens each model once. `create` may fail: a key can be missing. `onUnusable` is then called. */
export function createServerModels(
  names: readonly string[],
  create: (name: string) => Promise<OfferedModel>,
  onUnusable: (name: string, error: SheafError) => void,
): ServerModels {
  const opened = new Map<string, OfferedModel>();
  return {
    names,
    async open(name = names[0] ?? "") {
      if (!names.includes(name)) {
        const message = `the model ${JSON.stringify(name)} is not offered here: use one of ${names.join(", ")}`;
        throw new SheafError("MODEL_NOT_FOUND", message, { source: "server" });
      }
      const known = opened.get(name);
      if (known) return known;
      try {
        const model = await create(name);
        opened.set(name, model);
        return model;
      } catch (error) {
        // Not kept: the next request may find the key.
        const failure = toSheafError(error);
        onUnusable(name, failure);
        return { model: createUnusableModel(name, failure), price: undefined };
      }
    },
  };
}

/** The reason becomes the answer's error document, as every failure of a provider (N52). */
function createUnusableModel(name: string, error: SheafError): Model {
  const failure = new SheafError(error.code, error.message, {
    cause: error,
    source: "provider",
    details: error.details,
  });
  return {
    id: name,
    name,
    apiKeySource: "none",
    stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(failure) }) }),
  };
}
