/** The user at this browser, so that no other user sees the drafts (S-222). */

const storageName = "sheaf-writer";

/** Returns the user's mark; "" before the first sign-in after a sign-out. */
export function findWriter(storage: Storage | undefined): string {
  return storage?.getItem(storageName) ?? "";
}

/** Sets the user's mark: 32 bits of the token's hash, so that the same token makes the same user and stays secret. */
export async function setWriter(storage: Storage | undefined, secret: string): Promise<void> {
  const bytes = await toMark(secret);
  try {
    storage?.setItem(storageName, Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  } catch {
    // Storage is full: the page must not take this user for the last one.
    forgetWriter(storage);
  }
}

export function forgetWriter(storage: Storage | undefined): void {
  storage?.removeItem(storageName);
}

/** Returns the mark of a secret. Browsers don't make hashes over plain http, so there each sign-in is another user. */
async function toMark(secret: string): Promise<Uint8Array> {
  const { subtle } = crypto as Partial<Crypto>;
  if (!subtle) return crypto.getRandomValues(new Uint8Array(4));
  return new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(secret))).slice(0, 4);
}
