/** All providers that a model name may begin with: those that Sheaf knows, then the user's own. */
import type { EndpointSettings, UserConfig } from "./config-file.ts";
import { familyOfProtocol, providerPresets, type ProviderPreset } from "./provider-presets.ts";

/** A provider by its name. */
export interface Provider extends ProviderPreset {
  readonly name: string;
  /** Headers of the configuration, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ids of models that the configuration names. */
  readonly models: readonly string[];
  readonly isBuiltIn: boolean;
}

/** By name, in the order in which they are listed. Names of built-in providers cannot be taken by the configuration. */
export function toProviders({ endpoints = {} }: UserConfig): ReadonlyMap<string, Provider> {
  const own = Object.entries(endpoints).map(([name, settings]) => toProvider(name, settings));
  const builtIn = [...providerPresets].map(([name, preset]): Provider => ({
    ...preset,
    name,
    headers: {},
    models: [],
    isBuiltIn: true,
  }));
  return new Map([...own, ...builtIn].map((provider) => [provider.name, provider]));
}

function toProvider(name: string, settings: EndpointSettings): Provider {
  const { protocol, baseUrl, apiKeyEnv, headers = {}, models = [] } = settings;
  return {
    name,
    family: familyOfProtocol[protocol],
    protocol,
    baseUrl,
    credential: name,
    keyVariables: apiKeyEnv === undefined ? [] : [apiKeyEnv],
    // Whoever names a variable means that a key is needed.
    key: apiKeyEnv === undefined ? "optional" : "required",
    isLocal: isLoopback(baseUrl),
    headers: Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value])),
    models,
    isBuiltIn: false,
  };
}

function isLoopback(baseUrl: string): boolean {
  const host = URL.parse(baseUrl)?.hostname ?? "";
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
