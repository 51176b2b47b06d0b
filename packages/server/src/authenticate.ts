/** Authenticates requests by token, JWT or cookie (S-51, S-52, S-270). */
import type { Context, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import { HttpError } from "./http-error.ts";
import type { JwtUsers } from "./jwt-users.ts";
import type { ServerEnvironment } from "./server-context.ts";
import type { SessionTable, TokenTable, Visitor } from "./sessions.ts";

/** Cookie of the page; only the server can read it. */
export const sessionCookie = "sheaf_session";

export interface Doors {
  readonly tokens: TokenTable;
  readonly sessions: SessionTable;
  /** The users of the identity provider, if the server has one. */
  readonly jwtUsers: JwtUsers | undefined;
}

/** Finds the owner of a request, or refuses it. @throws HttpError AUTH_REQUIRED, AUTH_REJECTED, OVERLOADED. */
export function createAuthentication(doors: Doors): MiddlewareHandler<ServerEnvironment> {
  return async (context, next) => {
    context.set("owner", (await findVisitor(context, doors)).owner);
    await next();
  };
}

/** The owner whose token or cookie a request carries. @throws HttpError AUTH_REQUIRED, AUTH_REJECTED, OVERLOADED. */
export async function findVisitor(context: Context<ServerEnvironment>, doors: Doors): Promise<Visitor> {
  const { tokens, sessions, jwtUsers } = doors;
  const header = context.req.header("authorization");
  if (header !== undefined) {
    const [, token] = /^Bearer ([\x21-\x7e]{1,8192})$/i.exec(header) ?? [];
    if (token === undefined) {
      throw new HttpError(
        "AUTH_REJECTED",
        'the header Authorization is not a token: send "Authorization: Bearer TOKEN"',
      );
    }
    const owner = tokens.findOwner(token);
    if (owner !== undefined) return { owner };
    if (jwtUsers) return jwtUsers.findVisitor(token);
    throw new HttpError("AUTH_REJECTED", "this server does not know the token: send one of its token file");
  }
  // A browser may add the cookie to requests of other pages (X24).
  const session = context.get("foreignOrigin") === undefined ? getCookie(context, sessionCookie) : undefined;
  const owner = session === undefined ? undefined : sessions.findOwner(session);
  if (owner !== undefined) return { owner };
  throw new HttpError("AUTH_REQUIRED", "the request needs a token: send the header Authorization: Bearer TOKEN");
}
