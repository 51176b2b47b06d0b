/** The models that requests may name. */
import { basename } from "node:path";
import type { TokenPrice } from "@sheaf/protocol";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import type { Model } from "@sheaf/models/provider";

/** A model and its price. */
interface OfferedModel {
  readonly model: Model;
  readonly price: TokenPrice | undefined;
  /** Size of the context window. Tokens. */
  readonly windowTokens?: number | undefined;
}

export interface ServerModels {
  /** Names that clients see (S-136), with the default model first. */
  readonly names: readonly string[];
  /** Returns the context window of an offered model; undefined: unknown. Tokens. */
  readonly findWindow: (name: string) => number | undefined;
  /**
   * Opens the model of a request. If it can't be used, returns a model whose answer is the reason.
   * @throws SheafError MODEL_NOT_FOUND for a name that isn't offered.
   */
  open(name: string | undefined): Promise<OfferedModel>;
}

/** Shortens `scripted:/srv/demo.json` to `scripted:demo.json`, to hide the server's folders (S-136). */
export function toShownModel(name: string): string {
  return name.startsWith("scripted:") ? `scripted:${basename(name.slice("scripted:".length))}` : name;
}

interface ModelPorts {
  /** May fail: a key can be missing. */
  readonly create: (name: string) => Promise<OfferedModel>;
  readonly findWindow: ServerModels["findWindow"];
  /** Called when `create` fails. */
  readonly onUnusable: (name: string, error: SheafError) => void;
}

/** Opens each model once. @throws SheafError USAGE when two look the same to clients. */
export function createServerModels(
  given: readonly string[],
  { create, findWindow, onUnusable }: ModelPorts,
): ServerModels {
  const ownNames = new Map<string, string>();
  for (const own of given) {
    const shown = toShownModel(own);
    const other = ownNames.get(shown);
    const message = `the models ${other} and ${own} are both named ${shown} to clients: rename one of the files`;
    if (other !== undefined) throw new SheafError("USAGE", message);
    ownNames.set(shown, own);
  }
  const names = [...ownNames.keys()];
  const opened = new Map<string, OfferedModel>();
  return {
    names,
    findWindow: (name) => findWindow(ownNames.get(name) ?? name),
    async open(name = names[0] ?? "") {
      const own = ownNames.get(name);
      if (own === undefined) {
        const message = `the model ${JSON.stringify(name)} is not offered here: use one of ${names.join(", ")}`;
        throw new SheafError("MODEL_NOT_FOUND", message, { source: "server" });
      }
      const known = opened.get(name);
      if (known) return known;
      try {
        const model = await create(own);
        opened.set(name, model);
        return model;
      } catch (error) {
        // The failure isn't cached: the next request may find the key.
        const failure = toSheafError(error);
        onUnusable(own, failure);
        return { model: createUnusableModel(name, failure), price: undefined };
      }
    },
  };
}

/** The reason becomes the answer's error document, as every failure of a provider (N52). */
function createUnusableModel(name: string, error: SheafError): Model {
  // The reason would show the folder of the file.
  const isFile = name.startsWith("scripted:");
  const message = isFile ? `the model ${name} cannot be used: see the server's log` : error.message;
  const failure = new SheafError(error.code, message, {
    cause: error,
    source: "provider",
    details: isFile ? "" : error.details,
  });
  return {
    id: name,
    name,
    apiKeySource: "none",
    stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(failure) }) }),
  };
}
