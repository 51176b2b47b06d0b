/** How the page gets in without a token in its hands: a ticket that works once, then a cookie (S-51). */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Token } from "./tokens.ts";

/** How long a ticket works. Milliseconds. */
const TICKET_MS = 60_000;

/** Tickets and ended sessions that are kept; the oldest one makes room. */
const MAX_ENTRIES = 1000;

/** How long the page stays signed in. */
export const sessionSeconds = 12 * 60 * 60;

export interface SessionTable {
  /** A ticket for an owner; 256 bits. */
  createTicket(owner: string): string;
  /** Takes a ticket and gives its owner; undefined: used already, too old, or none of ours. */
  takeTicket(ticket: string): string | undefined;
  /** Value of the cookie: owner and end, signed. It holds beyond a restart, as long as the tokens are the same. */
  openSession(owner: string): string;
  /** Ends one before its time. */
  closeSession(session: string): void;
  findOwner(session: string): string | undefined;
  /** Tokens were changed: every session and ticket ends, as with a restart. */
  replaceTokens(tokens: readonly Token[]): void;
}

interface Entry {
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** `now` in milliseconds, never falling. Who changes a token ends every session. */
export function createSessionTable(now: () => number, tokens: readonly Token[]): SessionTable {
  let key = toKey(tokens);
  // Looked up by hash, so that the time it takes tells nothing about a ticket.
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
    return entry.expiresAt > now() && !ended.has(toHash(session)) ? entry : undefined;
  };

  return {
    createTicket(owner) {
      const ticket = randomBytes(32).toString("base64url");
      keep(tickets, toHash(ticket), { owner, expiresAt: now() + TICKET_MS });
      return ticket;
    },
    takeTicket(ticket) {
      const entry = tickets.get(toHash(ticket));
      tickets.delete(toHash(ticket));
      return entry && entry.expiresAt > now() ? entry.owner : undefined;
    },
    openSession(owner) {
      const expiresAt = now() + sessionSeconds * 1000;
      const fields = { owner, expiresAt, nonce: randomBytes(16).toString("base64url") };
      const text = Buffer.from(JSON.stringify(fields)).toString("base64url");
      return `${text}.${sign(text).toString("base64url")}`;
    },
    closeSession(session) {
      const entry = readSession(session);
      if (entry) keep(ended, toHash(session), entry);
    },
    findOwner: (session) => readSession(session)?.owner,
    replaceTokens(others) {
      key = toKey(others);
      tickets.clear();
    },
  };
}

function toKey(tokens: readonly Token[]): Buffer {
  return createHash("sha256")
    .update(`sheaf session ${JSON.stringify(tokens)}`)
    .digest();
}

function toHash(name: string): string {
  return createHash("sha256").update(name).digest("base64");
}
