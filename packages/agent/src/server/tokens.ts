/** Who may talk to the server: tokens, each of an owner (S-51). */
import { createHash, timingSafeEqual } from "node:crypto";

/** A token and whose it is. */
export interface Token {
  readonly token: string;
  /** Name of the owner in the store. */
  readonly owner: string;
}

export interface TokenTable {
  /** The owner; undefined: not a token of ours. The time it takes does not depend on the token. */
  findOwner(token: string): string | undefined;
  /** From now on only these count. */
  replace(tokens: readonly Token[]): void;
}

/** Only hashes are kept. */
export function createTokenTable(tokens: readonly Token[]): TokenTable {
  let rows = toRows(tokens);
  return {
    replace(others) {
      rows = toRows(others);
    },
    findOwner(token) {
      const hash = toHash(token);
      let found: string | undefined;
      // Every row is compared, found or not.
      for (const row of rows) if (timingSafeEqual(row.hash, hash)) found = row.owner;
      return found;
    },
  };
}

function toRows(tokens: readonly Token[]) {
  return tokens.map(({ token, owner }) => ({ hash: toHash(token), owner }));
}

function toHash(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
