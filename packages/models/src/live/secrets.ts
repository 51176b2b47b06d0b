/** Removes secrets from errors (S-41) and recordings (S-42). */
import { maskKeys } from "@sheaf/base/key-shapes";
import type { ProviderIdentity } from "../endpoint.ts";

/** Makes outside text safe for an error: without keys and control characters, at most `limit` UTF-16 units (S-41). */
export type ToSafeText = (text: string, limit: number) => string;

/** The part of an endpoint that contains secrets. */
type SecretHolder = Pick<ProviderIdentity, "apiKey" | "headers" | "baseUrl">;

const shownSecret = "[key]";
/** Shortest secret to mask: a shorter one would hide ordinary words. */
const shortestSecret = 4;

/**
 * Masks the key of an endpoint, the values of its headers, a password in its address, and text that looks like a key.
 */
export function createSafeText(endpoint: SecretHolder): ToSafeText {
  const secrets = listSecrets(endpoint).map(toPattern);
  return (text, limit) => {
    // Masking precedes cutting, since half a key is a secret as well.
    let safe = text.replaceAll(/\s+/gu, " ").replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "");
    for (const secret of secrets) safe = safe.replace(secret, shownSecret);
    // A provider or a proxy may quote another key than the endpoint's.
    safe = maskKeys(safe).trim();
    return safe.length <= limit ? safe : `${safe.slice(0, limit - 1).toWellFormed()}…`;
  };
}

/** Returns a pattern that ignores case, because servers repeat host names and header names in lower case. */
function toPattern(secret: string): RegExp {
  return new RegExp(secret.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), "gi");
}

/** Lists the secrets to hide, in the forms in which texts contain them; long ones first. */
export function listSecrets({ apiKey, headers, baseUrl }: SecretHolder): string[] {
  const values = Object.values(headers);
  const words = values.flatMap((value) => value.split(/\s+/u));
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const inUrl = [url?.password ?? "", ...(url?.searchParams.values() ?? [])];
  const plain = [apiKey ?? "", ...values, ...words, ...inUrl].map((value) => value.trim().toWellFormed());
  const all = plain.flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
  // One secret may be part of another.
  return [...new Set(all)]
    .filter(({ length }) => length >= shortestSecret)
    .toSorted((first, second) => second.length - first.length);
}

/** Returns the same number of bytes, with `x` for secrets. */
export type SecretMask = (chunk: Uint8Array) => Uint8Array;

/** Bytes of a secret at the end of a chunk that are hidden before the rest arrives. */
const hiddenBeginning = 8;

/** Creates a mask for the bytes of one body, in order. It ignores case. */
export function createSecretMask(secrets: readonly string[]): SecretMask {
  const masks = secrets.map((secret) => createMask(toComparedText(Buffer.from(secret))));
  return (chunk) => masks.reduce((bytes, mask) => mask(bytes), chunk);
}

/** Converts bytes to text: one byte is one character, so that places in the text are places in the bytes. */
function toComparedText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1").toLowerCase();
}

function createMask(secret: string): SecretMask {
  /** The part of the secret at the end of the bytes so far. */
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

/** Returns the longest end of the text that starts the secret, but is not all of it. */
function findBeginning(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1) {
    if (secret.startsWith(text.slice(-length))) return secret.slice(0, length);
  }
  return "";
}
