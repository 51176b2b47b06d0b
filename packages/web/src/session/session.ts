/** The way the page signs in: with a ticket from its own address, or with a token that the user enters (S-51). */
import { SheafApiError } from "@sheaf/client";

export interface SessionPort {
  /** Opens a session with a ticket that works once. */
  readonly openWithTicket: (ticket: string) => Promise<boolean>;
  /** Opens a session with a token, which is sent once and not kept. */
  readonly openWithToken: (token: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

const path = "/v1/session";

/** `onOpen`: with the ticket or the token of each session. */
export function createSessionPort(onOpen: (secret: string) => Promise<void>): SessionPort {
  const open = async (secret: string, body: object, headers: Readonly<Record<string, string>>): Promise<boolean> => {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    if (answer.ok) await onOpen(secret);
    return answer.ok;
  };
  return {
    openWithTicket: (ticket) => open(ticket, { ticket }, {}),
    // What does not fit a header is not a token.
    openWithToken: async (token) =>
      /^[\x21-\x7E]+$/.test(token) && open(token, {}, { authorization: `Bearer ${token}` }),
    async close() {
      await fetch(path, { method: "DELETE" });
    },
  };
}

/** The server requires a new sign-in. Not to be confused with a provider that requires a key. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof SheafApiError && error.status === 401 && error.source === "server";
}

/** Removes the ticket from the address, so that it is not in the history. Nothing else is ever read from there (S-63). */
export function takeTicket(): string | undefined {
  const ticket = /^#ticket=([\w-]{20,200})$/.exec(location.hash)?.[1];
  if (location.hash.startsWith("#ticket=")) history.replaceState(undefined, "", "/");
  return ticket;
}
