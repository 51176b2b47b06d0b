/** Access to the server: tokens of owners; for the page, a ticket that works once, then a cookie (S-51). */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { ServerToken } from "@sheaf/agent/config/server-tokens";

/** Time that a ticket works. Milliseconds. */
const TICKET_MS = 60_000;

/** Most tickets, and most ended sessions, that are remembered; a new one replaces the oldest. */
const MAX_ENTRIES = 1000;

/** Time that the page stays signed in. */
export const sessionSeconds = 12 * 60 * 60;

/** The authenticated sender of a request. */
export interface Visitor {
  readonly owner: string;
  /** The time when the authentication ends, in milliseconds since 1970; undefined: never. */
  readonly endsAt?: number | undefined;
}

interface Entry {
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** `now` in milliseconds, never falling. A change of a token ends every session. */
export function createSessionTable(now: () => number, tokens: readonly ServerToken[]) {
  let key = toKey(tokens);
  // Lookup by hash, so that its time can't reveal a ticket.
  const tickets = new Map<string, Entry>();
  const ended = new Map<string, Entry>();
  const sign = (text: string): Buffer => createHmac("sha256", key).update(text).digest();

  const keep = (table: Map<string, Entry>, name: string, entry: Entry): void => {
    for (const [other, { expiresAt }] of table) if (expiresAt <= now()) table.delete(other);
    const [oldest] = table.keys();
    if (table.size >= MAX_ENTRIES && oldest !== undefined) table.delete(oldest);
    table.set(name, entry);
  };

  const readSession = (session: string): Entry | undefined => {
    const [, text, signature] = /^([\w-]{1,2000})\.([\w-]{43})$/.exec(session) ?? [];
    if (text === undefined || signature === undefined) return undefined;
    if (!timingSafeEqual(Buffer.from(signature, "base64url"), sign(text))) return undefined;
    const entry = JSON.parse(Buffer.from(text, "base64url").toString()) as Entry;
    return entry.expiresAt > now() && !ended.has(toHashText(session)) ? entry : undefined;
  };

  return {
    /** A ticket for an owner; 256 bits. */
    createTicket(owner: string): string {
      const ticket = randomBytes(32).toString("base64url");
      keep(tickets, toHashText(ticket), { owner, expiresAt: now() + TICKET_MS });
      return ticket;
    },
    /** Uses up a ticket, and returns its owner. Returns undefined if the ticket is used, expired or unknown. */
    takeTicket(ticket: string): string | undefined {
      const entry = tickets.get(toHashText(ticket));
      tickets.delete(toHashText(ticket));
      return entry && entry.expiresAt > now() ? entry.owner : undefined;
    },
    /** Returns the cookie: owner and end, signed. It survives a restart with the same tokens, but not its JWT. */
    openSession({ owner, endsAt = Infinity }: Visitor): string {
      const expiresAt = Math.min(now() + sessionSeconds * 1000, endsAt);
      const fields = { owner, expiresAt, nonce: randomBytes(16).toString("base64url") };
      const text = Buffer.from(JSON.stringify(fields)).toString("base64url");
      return `${text}.${sign(text).toString("base64url")}`;
    },
    /** Ends a session early. */
    closeSession(session: string): void {
      const entry = readSession(session);
      if (entry) keep(ended, toHashText(session), entry);
    },
    findOwner: (session: string): string | undefined => readSession(session)?.owner,
    /** Ends every session and ticket, as a restart would, because the tokens changed. */
    replaceTokens(others: readonly ServerToken[]): void {
      key = toKey(others);
      tickets.clear();
    },
  };
}

export type SessionTable = ReturnType<typeof createSessionTable>;

function toKey(tokens: readonly ServerToken[]): Buffer {
  return createHash("sha256")
    .update(`sheaf session ${JSON.stringify(tokens)}`)
    .digest();
}

function toHashText(name: string): string {
  return toHash(name).toString("base64");
}

/** The table holds hashes, never the tokens themselves. */
export function createTokenTable(tokens: readonly ServerToken[]) {
  let rows = toRows(tokens);
  return {
    /** Replaces all tokens. */
    replace(others: readonly ServerToken[]): void {
      rows = toRows(others);
    },
    /** Returns the owner of a token, or undefined for an unknown token. Takes the same time for every token. */
    findOwner(token: string): string | undefined {
      const hash = toHash(token);
      let found: string | undefined;
      // The loop compares every row, even after a match.
      for (const row of rows) if (timingSafeEqual(row.hash, hash)) found = row.owner;
      return found;
    },
  };
}

export type TokenTable = ReturnType<typeof createTokenTable>;

function toRows(tokens: readonly ServerToken[]) {
  return tokens.map(({ token, owner }) => ({ hash: toHash(token), owner }));
}

function toHash(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
