/** The model that a package of the user's makes, checked as far as its interface can be. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { SheafError } from "../../base/errors.ts";
import type { PackageEndpoint } from "../endpoint.ts";
import { createProxiedFetch } from "../live/proxied-fetch.ts";

/** Versions of the interface whose streams have the same parts. */
const versions: ReadonlySet<unknown> = new Set(["v2", "v3", "v4"]);

/** Redirects are not followed, so that keys go to no other host (S-42). Packages that bring a client of their own ignore it. */
const fetchWithoutRedirect: typeof globalThis.fetch = (input, init) =>
  globalThis.fetch(input, { ...init, redirect: "manual" });

/**
 * Calls the package's `create…` with key, base URL, headers and the options of the configuration.
 * @throws SheafError CONFIG_INVALID when it exports none, or what it makes is no language model.
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
    ...(Object.keys(headers).length > 0 && { headers: { ...toHeaders(settings.options), ...headers } }),
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

function toHeaders(options: PackageEndpoint["settings"]["options"]): Readonly<Record<string, unknown>> {
  const headers = options?.["headers"];
  return typeof headers === "object" && headers !== null ? { ...headers } : {};
}

/** `provider.languageModel(id)`, or `provider(id)`. */
function toModel(provider: unknown, modelId: string): unknown {
  const methods = provider as { readonly languageModel?: unknown } | null | undefined;
  if (typeof methods?.languageModel === "function")
    return (provider as { languageModel: (id: string) => unknown }).languageModel(modelId);
  return typeof provider === "function" ? (provider as (id: string) => unknown)(modelId) : undefined;
}

/** Whether a value is a model of the interface, of a version whose parts are understood. */
export function isLanguageModel(value: unknown): value is LanguageModelV4 {
  const model = value as { readonly specificationVersion?: unknown; readonly doStream?: unknown } | null | undefined;
  return versions.has(model?.specificationVersion) && typeof model?.doStream === "function";
}

function createError({ provider, settings }: PackageEndpoint, problem: string): SheafError {
  return new SheafError("CONFIG_INVALID", `the package "${settings.package}" of the provider ${provider} ${problem}`);
}
