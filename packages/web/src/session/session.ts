/** Signs in to the server: with a ticket from the page's address, or with a token that the user enters (S-51). */
import { SheafApiError } from "@sheaf/client";

export interface SessionPort {
  /** Opens a session with a ticket that works once. */
  readonly openWithTicket: (ticket: string) => Promise<boolean>;
  /** Opens a session with a token, which the page sends once and doesn't store. */
  readonly openWithToken: (token: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

const path = "/v1/session";

/** Creates the port. `onOpen` gets the ticket or the token of each session. */
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
    // A token must fit into a header.
    openWithToken: async (token) =>
      /^[\x21-\x7E]+$/.test(token) && open(token, {}, { authorization: `Bearer ${token}` }),
    async close() {
      await fetch(path, { method: "DELETE" });
    },
  };
}

/** True if the server requires a new sign-in. A provider that requires a key is another case. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof SheafApiError && error.status === 401 && error.source === "server";
}

/** Takes the ticket out of the address and its history. The page reads only the route from there otherwise (S-63). */
export function takeTicket(): string | undefined {
  const [, ticket, route = ""] = /^#ticket=([\w-]{20,200})(\/[\w-]{1,200})?$/.exec(location.hash) ?? [];
  if (location.hash.startsWith("#ticket=")) history.replaceState(undefined, "", `/${route && `#${route}`}`);
  return ticket;
}
