/** The description of the API: valid OpenAPI, and true of what the server answers (X10). */
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { AttachmentInfo, ChatResponse } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { readEvents } from "../../../test/support/server.ts";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp } from "./open-app.ts";

const folders = createTestFolder();

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
  const cwd = folders.newFolder({ "a.txt": "a\n" });
  const events = [{ text: "I list. " }, { call: { tool: "list_dir", arguments: {} } }];
  const script = { turns: [{ events }, { events: [{ text: "Done." }, { wait_ms: 30 }] }], after: "loop" };
  const server = await openApp({ cwd, home: `${cwd}-home`, script });
  const description = (await (await server.fetch("/v1/openapi.json")).json()) as Description;
  const result = await new Validator().validate(structuredClone(description) as object as Record<string, unknown>);
  expect(result).toMatchObject({ valid: true });
  expect(description.openapi).toBe("3.1.0");

  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(description, "api");
  const checked = new Set<string>();
  /** Sends a request, and checks its answer by the description. */
  const check = async (method: string, route: string, path = route, body?: object): Promise<unknown> => {
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

  const response = (await check("POST", "/v1/chat", "/v1/chat", { message: "go" })) as ChatResponse;
  const { id, conversationId } = response;
  await check("POST", "/v1/chat/stream", "/v1/chat/stream", { message: "go" });
  await check("GET", "/v1/responses/{id}", `/v1/responses/${id}`);
  await check("GET", "/v1/responses/{id}/events", `/v1/responses/${id}/events`);
  await check("POST", "/v1/responses/{id}/cancel", `/v1/responses/${id}/cancel`);
  await check("POST", "/v1/responses/{id}/approvals/{approvalId}", `/v1/responses/${id}/approvals/x`, {
    optionId: "x",
  });
  await check("GET", "/v1/conversations");
  await check("GET", "/v1/conversations/{id}", `/v1/conversations/${conversationId}`);
  await check("PATCH", "/v1/conversations/{id}", `/v1/conversations/${conversationId}`, { title: "t" });
  for (const format of ["json", "markdown"]) {
    const file = `/v1/conversations/${conversationId}/export?format=${format}`;
    await check("GET", "/v1/conversations/{id}/export", file);
  }
  await check("GET", "/v1/conversations/{id}/changes", `/v1/conversations/${conversationId}/changes`);
  await check("POST", "/v1/conversations/{id}/changes/revert", `/v1/conversations/${conversationId}/changes/revert`, {
    filePath: "none",
  });
  await check("POST", "/v1/conversations/{id}/fork", `/v1/conversations/${conversationId}/fork`, { responseId: id });
  await check("POST", "/v1/conversations/{id}/publish", `/v1/conversations/${conversationId}/publish`, {
    branch: "fix",
    message: "Fix",
  });
  await check("POST", "/v1/conversations/{id}/revert", `/v1/conversations/${conversationId}/revert`, {
    responseId: id,
  });
  const upload = { name: "a.txt", data: "YQ==" };
  const file = (await check("POST", "/v1/attachments", "/v1/attachments", upload)) as AttachmentInfo;
  await check("GET", "/v1/attachments", "/v1/attachments");
  await check("GET", "/v1/attachments/{id}", `/v1/attachments/${file.id}`);
  await check("GET", "/v1/attachments/{id}/content", `/v1/attachments/${file.id}/content`);
  await check("DELETE", "/v1/attachments/{id}", `/v1/attachments/${file.id}`);
  const named = (await check("POST", "/v1/chat", "/v1/chat", { message: "", attachments: [upload] })) as ChatResponse;
  await check("GET", "/v1/responses/{id}/attachments/{number}", `/v1/responses/${named.id}/attachments/1`);
  await check("DELETE", "/v1/conversations/{id}", `/v1/conversations/${conversationId}`);
  await check("GET", "/v1/conversations/{id}", `/v1/conversations/${conversationId}`);
  await check("GET", "/v1/workspaces");
  const { workspaces } = (await check("GET", "/v1/workspaces")) as { readonly workspaces: { readonly name: string }[] };
  const files = `/v1/workspaces/${workspaces[0]!.name}/files`;
  await check("GET", "/v1/workspaces/{name}/files", files);
  await check("GET", "/v1/workspaces/{name}/files/{path}", `${files}/a.txt`);
  await check("GET", "/v1/workspaces/{name}/commands", `/v1/workspaces/${workspaces[0]!.name}/commands`);
  await check("GET", "/v1/models");
  await check("GET", "/v1/models/{id}", "/v1/models/gpt-99");
  await check("POST", "/v1/chat/completions", "/v1/chat/completions", { messages: [{ role: "user", content: "go" }] });
  await check("POST", "/v1/responses", "/v1/responses", { input: "go" });
  const uiMessage = { id: "1", role: "user", parts: [{ type: "text", text: "go" }] };
  await check("POST", "/v1/ui/chat", "/v1/ui/chat", { id: "chat", messages: [uiMessage] });
  await check("GET", "/v1/ui/chat/{id}/stream", "/v1/ui/chat/chat/stream");
  await check("POST", "/v1/session", "/v1/session", {});
  await check("DELETE", "/v1/session");
  await check("GET", "/v1/openapi.json");
  await check("GET", "/healthz");
  await check("GET", "/readyz");
  await check("GET", "/metrics");
  for (const name of Object.keys(description.components.schemas)) {
    const schema = (await check("GET", "/v1/schema/{name}.json", `/v1/schema/${name}.json`)) as Record<string, unknown>;
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
    const snapshot: unknown = await (await server.fetch(stream.headers.get("location")!)).json();
    expect(isSnapshot(snapshot), JSON.stringify(isSnapshot.errors)).toBe(true);
  }
});
