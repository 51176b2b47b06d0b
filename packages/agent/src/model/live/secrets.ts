/** Keeps secrets out of errors (S-41) and recordings (S-42). */
import type { ProviderIdentity } from "../endpoint.ts";

/** Makes text safe; at most `limit` UTF-16 units. */
export type ToSafeText = (text: string, limit: number) => string;

const shownSecret = "[key]";
/** Shorter ones would mask words of the language. */
const shortestSecret = 4;

/** Masks the key of an endpoint, what its own headers hold, and a password in its address. */
export function createSafeText(endpoint: ProviderIdentity): ToSafeText {
  const secrets = listSecrets(endpoint).map(toPattern);
  return (text, limit) => {
    // Masked first and cut then: half a key is a secret too.
    let safe = text.replaceAll(/\s+/gu, " ").replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "");
    for (const secret of secrets) safe = safe.replace(secret, shownSecret);
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

/** The same number of bytes, secrets as `x`. */
export type SecretMask = (chunk: Uint8Array) => Uint8Array;

/** So many bytes of a secret are hidden before the rest of it has come. */
const hiddenBeginning = 8;

/** A mask for the bytes of one body, in order. Letters count in both cases. */
export function createSecretMask(secrets: readonly string[]): SecretMask {
  const masks = secrets.map((secret) => createMask(toComparedText(Buffer.from(secret))));
  return (chunk) => masks.reduce((bytes, mask) => mask(bytes), chunk);
}

/** One byte is one character, so that places in the text are places in the bytes. */
function toComparedText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1").toLowerCase();
}

function createMask(secret: string): SecretMask {
  /** What has come of it at the end of the bytes before. */
  let begun = "";
  return (chunk) => {
    const text = begun + toComparedText(chunk);
    const rest = findBeginning(text, secret);
    const places = [...findAll(text, secret), ...(rest.length < hiddenBeginning ? [] : [text.length - rest.length])];
    const offsets = places.map((place) => place - begun.length);
    begun = rest;
    if (offsets.length === 0) return chunk;
    const masked = Buffer.from(chunk);
    for (const offset of offsets) masked.subarray(Math.max(0, offset), offset + secret.length).fill("x");
    return masked;
  };
}

function findAll(text: string, secret: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length)) places.push(at);
  return places;
}

/** The longest end of the text that the secret begins with, short of the whole. */
function findBeginning(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1) {
    if (secret.startsWith(text.slice(-length))) return secret.slice(0, length);
  }
  return "";
}
