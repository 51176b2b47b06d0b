/** Hides what must not be kept in bytes on their way, whatever they are cut into (S-42). */

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
