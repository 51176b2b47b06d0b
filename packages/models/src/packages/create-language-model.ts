/** Finds a package of the user's configuration, and creates its model. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { toJsonObject } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import type { PackageEndpoint } from "../endpoint.ts";
import { createProxiedFetch } from "../live/proxied-fetch.ts";
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";

/** Versions of the interface whose stream parts are the same. */
const versions: ReadonlySet<unknown> = new Set(["v2", "v3", "v4"]);

/** Follows no redirect, so that keys reach no other host (S-42). Packages with their own client ignore it. */
const fetchWithoutRedirect: typeof globalThis.fetch = (input, init) =>
  globalThis.fetch(input, { ...init, redirect: "manual" });

/**
 * Calls the package's `create…` with key, base URL, headers and the options of the configuration.
 * @throws SheafError CONFIG_INVALID if it exports no such function, or if the result is not a language model.
 */
export function createPackageLanguageModel(
  exported: Readonly<Record<string, unknown>>,
  endpoint: PackageEndpoint,
): LanguageModelV4 {
  const { apiKey, baseUrl, headers, modelId, proxy, settings } = endpoint;
  const create = findCreate(exported, endpoint);
  const provider = create({
    ...settings.options,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== "" && { baseURL: baseUrl }),
    ...(Object.keys(headers).length > 0 && { headers: { ...toJsonObject(settings.options?.["headers"]), ...headers } }),
    fetch: proxy ? createProxiedFetch(proxy) : fetchWithoutRedirect,
  });
  const model = toModel(provider, modelId);
  if (isLanguageModel(model)) return model;
  throw createError(endpoint, "makes no language model of the versions v2 to v4: use another version of it");
}

type Create = (options: Readonly<Record<string, unknown>>) => unknown;

function findCreate(exported: Readonly<Record<string, unknown>>, endpoint: PackageEndpoint): Create {
  const { create } = endpoint.settings;
  const names = Object.keys(exported).filter(
    (name) => /^create[A-Z]/.test(name) && typeof exported[name] === "function",
  );
  const name = create ?? (names.length === 1 ? names[0] : undefined);
  const found = name === undefined ? undefined : exported[name];
  if (typeof found === "function") return found as Create;
  const offer = names.length === 0 ? "none was found" : `it has ${names.join(", ")}`;
  throw createError(
    endpoint,
    `has no export ${create === undefined ? "to choose by itself" : `"${create}"`}: name one in "create" (${offer})`,
  );
}

function toModel(provider: unknown, modelId: string): unknown {
  const methods = provider as { readonly languageModel?: unknown } | null | undefined;
  if (typeof methods?.languageModel === "function")
    return (provider as { languageModel: (id: string) => unknown }).languageModel(modelId);
  return typeof provider === "function" ? (provider as (id: string) => unknown)(modelId) : undefined;
}

/** True if a value is a model of a supported version of the interface. */
export function isLanguageModel(value: unknown): value is LanguageModelV4 {
  const model = value as { readonly specificationVersion?: unknown; readonly doStream?: unknown } | null | undefined;
  return versions.has(model?.specificationVersion) && typeof model?.doStream === "function";
}

function createError({ provider, settings }: PackageEndpoint, problem: string): SheafError {
  return new SheafError("CONFIG_INVALID", `the package "${settings.package}" of the provider ${provider} ${problem}`);
}

/** Replaces the package's name, while the system resolves it from another folder. */
const placeholder = "sheaf-package:";

/**
 * Returns the address for `import()`.
 * @throws SheafError CONFIG_INVALID for a missing package, with the command that installs it, and for a package that
 * commands could change.
 */
export function findPackage(endpoint: PackageEndpoint): string {
  const address = findAddress(endpoint);
  const { provider, settings, folder, writable = [] } = endpoint;
  if (!address.startsWith("file:")) return address;
  const place = toRealPlace(fileURLToPath(address));
  // A run can't change the folder of the configuration.
  const isKept = isBelow(place, toRealPlace(folder));
  const top = isKept ? undefined : writable.find((one) => isBelow(place, toRealPlace(one)));
  if (top === undefined) return address;
  const advice = `a command could change it there, so copy it to ${folder} and name it from there in "package"`;
  const message = `the package "${settings.package}" of the provider ${provider} is ${place}, in the workspace: ${advice}`;
  throw new SheafError("CONFIG_INVALID", message);
}

function findAddress({ provider, settings, folder }: PackageEndpoint): string {
  const { package: name } = settings;
  if (/^\.{0,2}\//.test(name)) return findFile(resolve(folder, name), provider);
  const installed = join(folder, "node_modules", toPackageName(name));
  if (!existsSync(installed)) throw createMissingError(provider, name, folder);
  const parentURL = pathToFileURL(join(folder, "config.json")).href;
  const hooks = registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === placeholder ? nextResolve(name, { ...context, parentURL }) : nextResolve(specifier, context),
  });
  try {
    return import.meta.resolve(placeholder);
  } catch (cause) {
    const message = `the package "${name}" of the provider ${provider} in ${folder} cannot be loaded: install it again`;
    throw new SheafError("CONFIG_INVALID", message, { cause });
  } finally {
    hooks.deregister();
  }
}

function findFile(file: string, provider: string): string {
  if (existsSync(file)) return pathToFileURL(file).href;
  throw new SheafError(
    "CONFIG_INVALID",
    `the file ${file} of the provider ${provider} does not exist: correct "package"`,
  );
}

/** Returns `@scope/name` of `@scope/name/part`. */
function toPackageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function createMissingError(provider: string, name: string, folder: string): SheafError {
  return new SheafError(
    "CONFIG_INVALID",
    `the package "${name}" of the provider ${provider} is not installed: run npm install --prefix ${folder} ${toPackageName(name)}`,
  );
}
