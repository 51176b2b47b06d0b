/** `/v1/openapi.json`, `/v1/schema/{name}.json`: what the API is (X10). */
import { schemaNames, toJsonSchema } from "@sheaf/protocol/schemas";
import type { Hono } from "hono";
import { sheafVersion } from "../../base/version.ts";
import { createOpenApiDocument } from "../../output/openapi.ts";
import { HttpError } from "../http-error.ts";
import type { ServerEnvironment } from "../server-context.ts";

export function addDescriptionRoutes(app: Hono<ServerEnvironment>): void {
  app.get("/v1/openapi.json", (request) => request.json(createOpenApiDocument(sheafVersion)));

  app.get("/v1/schema/:name", (request) => {
    const name = schemaNames.find((known) => `${known}.json` === request.req.param("name"));
    if (name !== undefined) return request.json(toJsonSchema(name));
    const names = schemaNames.map((known) => `${known}.json`).join(", ");
    throw new HttpError("NOT_FOUND", `there is no such schema: use one of ${names}`);
  });
}
