/** Keeps secrets out of errors (S-41) and recordings (S-42). */
import { maskKeys } from "@sheaf/base/key-shapes";
import type { ProviderIdentity } from "../endpoint.ts";

/** Makes text of others safe for an error: without keys and control characters, at most `limit` UTF-16 units (S-41). */
export type ToSafeText = (text: string, limit: number) => string;

/** The place where the secrets of a connection are. */
type SecretHolder = Pick<ProviderIdentity, "apiKey" | "headers" | "baseUrl">;

const shownSecret = "[key]";
/** A mask for shorter ones would hide ordinary words. */
const shortestSecret = 4;

/** Masks the key of an endpoint, the values of its headers, a password in its address, and what looks like another key. */
export function createSafeText(endpoint: SecretHolder): ToSafeText {
  const secrets = listSecrets(endpoint).map(toPattern);
  return (text, limit) => {
    // Masked first, then cut: half a key is a secret too.
    let safe = text.replaceAll(/\s+/gu, " ").replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "");
    for (const secret of secrets) safe = safe.replace(secret, shownSecret);
    // A provider or a proxy may quote a key that is not the endpoint's.
    safe = maskKeys(safe).trim();
    return safe.length <= limit ? safe : `${safe.slice(0, limit - 1).toWellFormed()}…`;
  };
}

/** Ignores case: host names and header names come back in lower case. */
function toPattern(secret: string): RegExp {
  return new RegExp(secret.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), "gi");
}

/** What must never be shown or kept, in the forms in which it occurs in texts; long ones first. */
export function listSecrets({ apiKey, headers, baseUrl }: SecretHolder): string[] {
  const values = Object.values(headers);
  const words = values.flatMap((value) => value.split(/\s+/u));
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const inUrl = [url?.password ?? "", ...(url?.searchParams.values() ?? [])];
  const plain = [apiKey ?? "", ...values, ...words, ...inUrl].map((value) => value.trim().toWellFormed());
  const all = plain.flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
  // One may be part of another.
  return [...new Set(all)]
    .filter(({ length }) => length >= shortestSecret)
    .toSorted((first, second) => second.length - first.length);
}

/** Gives the same number of bytes, with `x` for secrets. */
export type SecretMask = (chunk: Uint8Array) => Uint8Array;

/** Bytes of a secret at the end of a chunk that are hidden before the rest arrives. */
const hiddenBeginning = 8;

/** A mask for the bytes of one body, in order. Ignores case. */
export function createSecretMask(secrets: readonly string[]): SecretMask {
  const masks = secrets.map((secret) => createMask(toComparedText(Buffer.from(secret))));
  return (chunk) => masks.reduce((bytes, mask) => mask(bytes), chunk);
}

/** One byte is one character, so that places in the text are places in the bytes. */
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

/** The longest end of the text with which the secret begins, without the whole secret. */
function findBeginning(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1) {
    if (secret.startsWith(text.slice(-length))) return secret.slice(0, length);
  }
  return "";
}
