/** The page, and its sign-in: a person exchanges a ticket or a token for a cookie (S-51, S-62). */
import type { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { sessionRequest } from "@sheaf/protocol/schemas";
import { type Doors, findVisitor, sessionCookie } from "../authenticate.ts";
import { HttpError } from "../http-error.ts";
import { readJsonBody } from "../json-body.ts";
import type { PageFiles } from "../page-files.ts";
import type { ServerEnvironment } from "../server-context.ts";
import { sessionSeconds } from "../sessions.ts";

/** The files need no token: they are the same for all users and contain no private data. */
export function addPageRoutes(app: Hono<ServerEnvironment>, files: PageFiles): void {
  app.get("*", async (request, next) => {
    const file = files.find(request.req.path);
    if (file === undefined) return next();
    const isKnown = request.req.header("if-none-match") === file.headers["ETag"];
    return isKnown
      ? request.body(null, 304, { ...file.headers })
      : request.body(file.content, 200, { ...file.headers });
  });
}

/** `/v1/session`. Added before the check of tokens, because it checks them itself. */
export function addSessionRoutes(app: Hono<ServerEnvironment>, doors: Doors): void {
  const { sessions } = doors;
  app.post("/v1/session", async (request) => {
    const { ticket } = await readJsonBody(request.req, sessionRequest);
    const visitor = ticket === undefined ? await findVisitor(request, doors) : { owner: sessions.takeTicket(ticket) };
    const { owner } = visitor;
    if (owner === undefined) {
      throw new HttpError(
        "AUTH_REJECTED",
        "the ticket is unknown, expired or already used: open a new address from sheaf serve --open",
      );
    }
    setCookie(request, sessionCookie, sessions.openSession({ ...visitor, owner }), {
      httpOnly: true,
      sameSite: "Strict",
      path: "/",
      // After a sign-in over https, the browser never sends the cookie over http (S-118).
      secure: request.get("client").isSecure,
      maxAge: sessionSeconds,
    });
    return request.body(null, 204);
  });

  app.delete("/v1/session", (request) => {
    const session = getCookie(request, sessionCookie);
    if (session !== undefined) sessions.closeSession(session);
    deleteCookie(request, sessionCookie, { path: "/", secure: request.get("client").isSecure });
    return request.body(null, 204);
  });
}
