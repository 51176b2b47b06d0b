/** Who sends a request, and from which page (S-51, S-52). */
import type { Context, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import { HttpError } from "./http-error.ts";
import type { ServerEnvironment } from "./server-context.ts";
import type { SessionTable, TokenTable } from "./sessions.ts";

/** Cookie of the page; only the server can read it. */
export const sessionCookie = "sheaf_session";

export interface Doors {
  readonly tokens: TokenTable;
  readonly sessions: SessionTable;
}

/** Finds the owner of a request, or refuses it. @throws HttpError AUTH_REQUIRED, AUTH_REJECTED. */
export function createAuthentication(doors: Doors): MiddlewareHandler<ServerEnvironment> {
  return async (context, next) => {
    context.set("owner", findOwner(context, doors));
    await next();
  };
}

/** The owner whose token or cookie a request carries. @throws HttpError AUTH_REQUIRED, AUTH_REJECTED. */
export function findOwner(context: Context<ServerEnvironment>, { tokens, sessions }: Doors): string {
  const header = context.req.header("authorization");
  if (header !== undefined) {
    const [, token] = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(header) ?? [];
    if (token === undefined) {
      throw new HttpError(
        "AUTH_REJECTED",
        'the header Authorization is not a token: send "Authorization: Bearer TOKEN"',
      );
    }
    const owner = tokens.findOwner(token);
    if (owner !== undefined) return owner;
    throw new HttpError("AUTH_REJECTED", "this server does not know the token: check the Authorization header");
  }
  // A browser may add the cookie to requests of other pages (X24).
  const session = context.get("foreignOrigin") === undefined ? getCookie(context, sessionCookie) : undefined;
  const owner = session === undefined ? undefined : sessions.findOwner(session);
  if (owner !== undefined) return owner;
  throw new HttpError("AUTH_REQUIRED", "the request needs a token: send the header Authorization: Bearer TOKEN");
}
