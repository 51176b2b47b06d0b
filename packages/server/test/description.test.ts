/** The description of the API: valid OpenAPI, and true of what the server answers (X10). */
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { AttachmentInfo, ChatResponse } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { readEvents } from "../../../test/support/server.ts";
import { openUserEvents } from "../../../test/support/user-events.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp } from "../../../test/support/open-app.ts";

interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>> }>
  >;
}

test(verifies(["X10", "R2", "N52"], "is valid OpenAPI 3.1, and every answer is as it says"), async () => {
  const events = [{ text: "I list. " }, { call: { tool: "list_dir", arguments: {} } }];
  const script = { turns: [{ events }, { events: [{ text: "Done." }, { wait_ms: 30 }] }], after: "loop" };
  const server = await openApp({ files: { "a.txt": "a\n" }, script });
  const description = await server.read<Description>("/v1/openapi.json");
  const result = await new Validator().validate(structuredClone(description) as object as Record<string, unknown>);
  expect(result).toMatchObject({ valid: true });
  expect(description.openapi).toBe("3.1.0");

  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(description, "api");
  const checked = new Set<string>();
  /** Sends a request, and checks its answer by the description. */
  const check = async (
    method: string,
    route: string,
    { query = "", ...names }: Readonly<Record<string, string>> = {},
    body?: object,
  ): Promise<unknown> => {
    const path = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name]!) + query;
    const answer = await server.send(method, path, body);
    const described = description.paths[route]![method.toLowerCase()]!.responses[`${answer.status}`];
    expect(described, `${method} ${path}: ${answer.status}`).toBeDefined();
    checked.add(`${method} ${route}`);
    const text = await answer.text();
    const type = answer.headers.get("content-type")?.split(";")[0];
    if (type === undefined || type === null) return undefined;
    expect(Object.keys(described!.content ?? {})).toContain(type);
    if (type !== "application/json") return text;
    const value: unknown = JSON.parse(text);
    const name = described!.content![type]!.schema.$ref?.split("/").at(-1);
    if (name === undefined) return value;
    const isValid = ajv.compile({ $ref: `api#/components/schemas/${name}` });
    expect(isValid(value), `${name}: ${JSON.stringify(isValid.errors)} in ${text.slice(0, 500)}`).toBe(true);
    return value;
  };

  const { id, conversationId } = (await check("POST", "/v1/chat", {}, { message: "go" })) as ChatResponse;
  const upload = { name: "a.txt", data: "YQ==" };
  const file = (await check("POST", "/v1/attachments", {}, upload)) as AttachmentInfo;
  const message = { message: "", attachments: [upload] };
  const named = (await check("POST", "/v1/chat", {}, message)) as ChatResponse;
  const response = { id };
  const conversation = { id: conversationId };
  const attachment = { id: file.id };
  const workspace = { name: "project" };
  const uiMessage = { id: "1", role: "user", parts: [{ type: "text", text: "go" }] };
  const rows: readonly (readonly [string, string, Readonly<Record<string, string>>?, object?])[] = [
    ["POST", "/v1/chat/stream", {}, { message: "go" }],
    ["GET", "/v1/responses/{id}", response],
    ["GET", "/v1/responses/{id}/events", response],
    ["POST", "/v1/responses/{id}/cancel", response],
    ["POST", "/v1/responses/{id}/approvals/{approvalId}", { id, approvalId: "x" }, { optionId: "x" }],
    ["GET", "/v1/responses/{id}/attachments/{number}", { id: named.id, number: "1" }],
    ["GET", "/v1/conversations"],
    ["GET", "/v1/conversations/{id}", conversation],
    ["PATCH", "/v1/conversations/{id}", conversation, { title: "t" }],
    ["GET", "/v1/conversations/{id}/export", { ...conversation, query: "?format=json" }],
    ["GET", "/v1/conversations/{id}/export", { ...conversation, query: "?format=markdown" }],
    ["GET", "/v1/conversations/{id}/changes", conversation],
    ["GET", "/v1/conversations/{id}/blame", { ...conversation, query: "?path=a.txt" }],
    ["GET", "/v1/conversations/{id}/diff", { ...conversation, query: `?with=${named.conversationId}` }],
    ["POST", "/v1/conversations/{id}/changes/revert", conversation, { filePath: "none" }],
    ["PUT", "/v1/conversations/{id}/waiting", conversation, { waiting: [{ responseId: id, whenBusy: "steer" }] }],
    ["POST", "/v1/conversations/{id}/branches", conversation, { responseId: id, dryRun: true }],
    ["POST", "/v1/conversations/{id}/fork", conversation, { responseId: id }],
    ["POST", "/v1/conversations/{id}/publish", conversation, { branch: "fix", message: "Fix" }],
    ["POST", "/v1/conversations/{id}/branches", conversation, { responseId: id, dryRun: true }],
    ["POST", "/v1/conversations/{id}/revert", conversation, { responseId: id }],
    ["DELETE", "/v1/conversations/{id}", conversation],
    ["GET", "/v1/conversations/{id}", conversation],
    ["GET", "/v1/attachments"],
    ["GET", "/v1/attachments/{id}", attachment],
    ["GET", "/v1/attachments/{id}/content", attachment],
    ["DELETE", "/v1/attachments/{id}", attachment],
    ["GET", "/v1/workspaces"],
    ["GET", "/v1/workspaces/{name}/files", workspace],
    ["GET", "/v1/workspaces/{name}/files/{path}", { ...workspace, path: "a.txt" }],
    ["GET", "/v1/workspaces/{name}/commands", workspace],
    ["GET", "/v1/models"],
    ["GET", "/v1/models/{id}", { id: "gpt-99" }],
    ["POST", "/v1/chat/completions", {}, { messages: [{ role: "user", content: "go" }] }],
    ["POST", "/v1/responses", {}, { input: "go" }],
    ["POST", "/v1/ui/chat", {}, { id: "chat", messages: [uiMessage] }],
    ["GET", "/v1/ui/chat/{id}/stream", { id: "chat" }],
    ["POST", "/v1/session", {}, {}],
    ["DELETE", "/v1/session"],
    ["GET", "/v1/openapi.json"],
    ["GET", "/healthz"],
    ["GET", "/readyz"],
    ["GET", "/metrics"],
  ];
  for (const row of rows) await check(...row);
  // This stream has no end.
  const userEvents = await openUserEvents(server);
  await userEvents.next(({ event }) => event === "snapshot");
  userEvents.close();
  checked.add("GET /v1/events");
  for (const name of Object.keys(description.components.schemas)) {
    const schema = (await check("GET", "/v1/schema/{name}.json", { name })) as Record<string, unknown>;
    expect(schema["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
  }
  const all = Object.entries(description.paths).flatMap(([route, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${route}`),
  );
  expect([...checked].toSorted()).toEqual(all.toSorted());

  const isEvent = ajv.compile({ $ref: "api#/components/schemas/events" });
  const isSnapshot = ajv.compile({ $ref: "api#/components/schemas/snapshot" });
  const stream = await server.chat({ message: "go", stream: true });
  for (const event of await readEvents(stream)) {
    expect(isEvent(event), `${JSON.stringify(event)}: ${JSON.stringify(isEvent.errors)}`).toBe(true);
    const snapshot: unknown = await server.read(stream.headers.get("location")!);
    expect(isSnapshot(snapshot), JSON.stringify(isSnapshot.errors)).toBe(true);
  }
});
