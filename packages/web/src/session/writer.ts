/** Who writes at this browser, so that drafts are shown to nobody else (S-222). */

const storageName = "sheaf-writer";

/** "": nobody has signed in here since the last sign-out. */
export function findWriter(storage: Storage | undefined): string {
  return storage?.getItem(storageName) ?? "";
}

/** Whoever signs in with the same token is the same writer. 32 bits of its hash tell, and nothing of the token itself. */
export async function setWriter(storage: Storage | undefined, secret: string): Promise<void> {
  const bytes = await toMark(secret);
  try {
    storage?.setItem(storageName, Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  } catch {
    // Storage is full: the last writer must not be taken for this one.
    forgetWriter(storage);
  }
}

export function forgetWriter(storage: Storage | undefined): void {
  storage?.removeItem(storageName);
}

/** The place where the browser makes no hashes (plain http), each sign-in is of another writer. */
async function toMark(secret: string): Promise<Uint8Array> {
  const { subtle } = crypto as Partial<Crypto>;
  if (!subtle) return crypto.getRandomValues(new Uint8Array(4));
  return new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(secret))).slice(0, 4);
}
