/** `GET /v1/models`: what the field `model` of a request takes. */
import type { Hono } from "hono";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";

export function addModelRoute(app: Hono<ServerEnvironment>, { models }: ServerContext): void {
  app.get("/v1/models", (request) => request.json({ models: models.names.map((id) => ({ id })) }));
}
