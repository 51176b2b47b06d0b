/** All providers for the first part of a model name: Sheaf's own, then the user's. */
import { isLoopback } from "@sheaf/base/host-pattern";
import type { PackageSettings } from "@sheaf/models/endpoint";
import type { EndpointSettings, PackageProviderSettings, UserConfig } from "./user-config.ts";
import { parseBaseUrl } from "./key-text.ts";
import { familyOfProtocol, providerPresets, type ProviderFacts, type ProviderPreset } from "./provider-presets.ts";

interface NamedProvider {
  readonly name: string;
  /** Headers of the configuration, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ids of models that the configuration names. */
  readonly models: readonly string[];
}

/** A provider with a protocol that Sheaf implements. */
export interface WireProvider extends NamedProvider, ProviderPreset {
  readonly kind: "wire";
}

export interface PackageProvider extends NamedProvider, ProviderFacts {
  readonly kind: "package";
  readonly settings: PackageSettings;
}

export type Provider = WireProvider | PackageProvider;

/** Providers by name, in the order of lists. The configuration cannot use names of built-in providers. */
export function toProviders({ endpoints = {}, providers = {} }: UserConfig): ReadonlyMap<string, Provider> {
  const own: readonly Provider[] = [
    ...Object.entries(endpoints).map(([name, settings]) => toWireProvider(name, settings)),
    ...Object.entries(providers).map(([name, settings]) => toPackageProvider(name, settings)),
  ];
  const builtIn = [...providerPresets].map(([name, preset]): Provider => ({
    ...preset,
    kind: "wire",
    name,
    headers: {},
    models: [],
  }));
  return new Map([...own, ...builtIn].map((provider) => [provider.name, provider]));
}

function toWireProvider(name: string, settings: EndpointSettings): Provider {
  const { protocol, apiKeyEnv, headers = {}, models = [] } = settings;
  const parsed = parseBaseUrl(settings.baseUrl);
  const baseUrl = parsed.ok ? parsed.value : settings.baseUrl;
  return {
    kind: "wire",
    name,
    family: familyOfProtocol[protocol],
    protocol,
    baseUrl,
    ...toKeyFacts(name, apiKeyEnv),
    isLocal: isLoopback(URL.parse(baseUrl)?.hostname ?? ""),
    headers: Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value])),
    models,
  };
}

function toPackageProvider(name: string, settings: PackageProviderSettings): Provider {
  const { apiKeyEnv, models = [], ...rest } = settings;
  return {
    kind: "package",
    name,
    settings: rest,
    baseUrl: undefined,
    ...toKeyFacts(name, apiKeyEnv),
    isLocal: false,
    headers: {},
    models,
  };
}

/** Naming a variable means that a key is required. */
function toKeyFacts(
  name: string,
  apiKeyEnv: string | undefined,
): Pick<ProviderFacts, "credential" | "keyVariables" | "key"> {
  return apiKeyEnv === undefined
    ? { credential: name, keyVariables: [], key: "optional" }
    : { credential: name, keyVariables: [apiKeyEnv], key: "required" };
}
