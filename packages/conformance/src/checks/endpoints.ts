/** Checks of a server's description of itself (section 7, X5, X10). */
import { atLevel, type Check } from "../check.ts";
import type { Context } from "../context.ts";
import { demand, show, Skip } from "../violation.ts";

export const endpointChecks: readonly Check[] = [
  ...atLevel("base", [
    ["models", "§7", "GET /v1/models lists models by id",
      async ({ http }) => {
        const { json, text } = await http.expect(200, "§7", "GET", "/v1/models");
        const models = (json as { readonly models?: readonly { readonly id?: unknown }[] } | undefined)?.models;
        const isList = Array.isArray(models) && models.every(({ id }) => typeof id === "string");
        demand(isList, "§7", `GET /v1/models does not return a list of models: ${show(text)}`);
      }],
    ["health", "§7", "GET /healthz answers without a token",
      async ({ http }) => {
        await http.expect(200, "§7", "GET", "/healthz", { headers: { authorization: undefined } });
      }],
  ]),
  ...atLevel("resumable", [
    ["schemas", "X10", "OpenAPI 3.1, and the schema that response_start names, are served", checkSchemas],
  ]),
  ...atLevel("interactive", [
    ["heartbeat", "X5", "a silent stream has a comment at least every heartbeat_ms", checkHeartbeat],
  ]),
]; // prettier-ignore

async function checkSchemas(context: Context): Promise<void> {
  const { json } = await context.http.expect(200, "X10", "GET", "/v1/openapi.json");
  const { openapi, paths = {} } = (json ?? {}) as { readonly openapi?: unknown; readonly paths?: object };
  demand(typeof openapi === "string" && openapi.startsWith("3.1"), "X10", `the version of OpenAPI is ${show(openapi)}`);
  demand("/v1/chat" in paths, "X10", "the OpenAPI document does not describe /v1/chat");
  const [start] = (await context.sample("text")).events;
  const address = start?.event === "response_start" ? start.data.protocol.schema : "";
  demand(address.startsWith("/v1/schema/"), "X10", `response_start has the schema ${show(address)}`);
  const schema = await context.http.expect(200, "X10", "GET", address);
  demand(
    typeof schema.json === "object" && schema.json !== null,
    "X10",
    `GET ${address} does not return a JSON Schema`,
  );
}

/** Waits for heartbeats during an open approval, the longest silence that a client can cause. */
async function checkHeartbeat(context: Context): Promise<void> {
  const { stream, responseId } = await context.startApproval();
  const [start] = stream.events;
  const every = start?.event === "response_start" ? start.data.heartbeat_ms : 0;
  if (every > context.options.waitMs) throw new Skip(`heartbeat_ms is ${every}: longer than --wait`);
  const before = stream.comments;
  await stream.readUntil(({ comments }) => comments > before, "a heartbeat");
  stream.close();
  await context.cancel(responseId);
}
