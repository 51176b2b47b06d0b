/** `/v1/events`: events about the caller's conversations (C230). */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Hono } from "hono";
import { reserveStream } from "../open-stream.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";

export function addEventRoute(app: Hono<ServerEnvironment>, context: ServerContext): void {
  app.get("/v1/events", async (request) => {
    const feed = await context.feeds.open(request.get("owner"));
    // An id without a position in the feed is valid: its reader gets a snapshot.
    const lastEventId = request.req.header("last-event-id") ?? request.req.query("after") ?? "";
    await feed.send(reserveStream(request, context).open({}), lastEventId);
    return RESPONSE_ALREADY_SENT;
  });
}
