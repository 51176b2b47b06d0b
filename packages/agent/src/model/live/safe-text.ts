/** Text from outside that may stand in an error: without keys, without control characters, bounded (S-41). */
import type { ProviderIdentity } from "../endpoint.ts";

/** Makes text safe; at most `limit` UTF-16 units. */
export type ToSafeText = (text: string, limit: number) => string;

const mask = "[key]";
/** Shorter ones would mask words of the language. */
const shortestSecret = 4;

/** Masks the key of an endpoint, what its own headers hold, and a password in its address. */
export function createSafeText(endpoint: ProviderIdentity): ToSafeText {
  const secrets = listSecrets(endpoint).map(toPattern);
  return (text, limit) => {
    // Masked first and cut then: half a key is a secret too.
    let safe = text.replaceAll(/\s+/gu, " ").replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "");
    for (const secret of secrets) safe = safe.replace(secret, mask);
    safe = safe.trim();
    return safe.length <= limit ? safe : `${safe.slice(0, limit - 1).toWellFormed()}…`;
  };
}

/** In any case: host names and header names come back in lower case. */
function toPattern(secret: string): RegExp {
  return new RegExp(secret.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), "gi");
}

/** What must never be shown or kept, in the forms that it takes in texts; long ones first. */
export function listSecrets({ apiKey, headers, baseUrl }: ProviderIdentity): string[] {
  const values = Object.values(headers);
  const words = values.flatMap((value) => value.split(/\s+/u));
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const inUrl = [url?.password ?? "", ...(url?.searchParams.values() ?? [])];
  const plain = [apiKey ?? "", ...values, ...words, ...inUrl].map((value) => value.trim().toWellFormed());
  const all = plain.flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
  // Long ones first: one may be part of another.
  return [...new Set(all)]
    .filter(({ length }) => length >= shortestSecret)
    .toSorted((first, second) => second.length - first.length);
}
