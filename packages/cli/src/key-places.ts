/** Places of the providers' keys, never a key itself (S-41). */
import { findKey } from "@sheaf/agent/config/credentials";
import { toKeySources, type ModelSettings } from "@sheaf/agent/config/endpoints";
import { hasKeyHeader } from "@sheaf/agent/config/key-text";
import { toProviders } from "@sheaf/agent/config/providers";

/** Lists providers that have a key without `--api-key`, each with its place. @throws SheafError CONFIG_INVALID. */
export function listKeyPlaces(settings: ModelSettings): { readonly provider: string; readonly place: string }[] {
  const { config } = settings;
  if (config.fault) throw config.fault;
  return [...toProviders(config.settings).values()].flatMap((provider) => {
    const key = findKey(provider, toKeySources(settings));
    const { name, headers } = provider;
    if (key.source === "env") return [{ provider: name, place: key.variable }];
    if (key.source === "login") return [{ provider: name, place: "sheaf login" }];
    return hasKeyHeader(headers) ? [{ provider: name, place: "a header of your configuration" }] : [];
  });
}
