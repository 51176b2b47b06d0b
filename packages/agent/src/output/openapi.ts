/** The Chat API as an OpenAPI 3.1 document (X10). */
import type { AttachmentType } from "@sheaf/protocol";
import { documentSchemaNames, schemaNames, toJsonSchema, type SchemaName } from "@sheaf/protocol/schemas";
import { attachmentTypes } from "@sheaf/models/attachments";
import { operations, type Operation } from "./operations.ts";

const fileTypes: readonly AttachmentType[] = [...attachmentTypes, "text/plain"];

/** Statuses of errors that every operation can have. */
const commonErrors = [400, 401, 403, 429, 503];

/** Statuses for a body that is too large, or of another type. */
const bodyErrors = [413, 415];

export function createOpenApiDocument(version: string): Record<string, unknown> {
  return {
    openapi: "3.1.0",
    info: {
      title: "Sheaf Chat API",
      version,
      description: "An answer is an ordered list of typed documents, as one JSON object or as Server-Sent Events.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths: Object.fromEntries(
      Object.entries(operations).map(([route, methods]) => [
        route,
        Object.fromEntries(
          Object.entries(methods).map(([method, operation]) => [method, toOperation(route, operation)]),
        ),
      ]),
    ),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: Object.fromEntries(schemaNames.map((name) => [name, nameDocuments(withoutDialect(toJsonSchema(name)))])),
    },
  };
}

/** Replaces copies of the ten document types by references, so that a generated client has a type for each. */
function nameDocuments(part: unknown): unknown {
  const name = documentSchemaNames.get(part);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  if (Array.isArray(part)) return part.map(nameDocuments);
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, nameDocuments(value)]));
}

function toOperation(route: string, operation: Operation): object {
  const { id, summary, request, answers, errors = [], secured } = operation;
  const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const inPath = names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  const parameters = [...inPath, ...(operation.parameters ?? [])];
  const statuses = Object.entries(answers).map(([status, answer]) => [status, toAnswer(answer)] as const);
  const [answer] = Object.values(answers);
  const failure = toAnswer(answer === "foreign" ? "any" : answer === "ui-stream" ? "text/plain" : "error");
  const ownErrors = [...errors, ...(request ? bodyErrors : [])];
  const failures = [...commonErrors, ...ownErrors].map((status) => [`${status}`, failure] as const);
  return {
    operationId: id,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(request && { requestBody: { required: true, content: toJsonContent(request) } }),
    ...(secured === false && { security: [] }),
    responses: Object.fromEntries([...statuses, ...failures, ["default", failure]]),
  };
}

function toAnswer(answer: Operation["answers"][string]): object {
  switch (answer) {
    case "none":
      return { description: "Nothing." };
    case "any":
      return { description: "JSON.", content: toJsonContent(answer) };
    case "foreign":
      return {
        description: "JSON, or with `stream` events.",
        content: { ...toJsonContent("any"), "text/event-stream": { schema: { type: "string" } } },
      };
    case "export":
      return {
        description: "A file, with its name in the header `Content-Disposition`.",
        content: { ...toJsonContent("conversation"), "text/markdown": { schema: { type: "string" } } },
      };
    case "file":
      return {
        description: "A file, with its name in the header `Content-Disposition`.",
        content: Object.fromEntries(fileTypes.map((type) => [type, { schema: { type: "string", format: "binary" } }])),
      };
    case "text/plain":
      return { description: "Text.", content: { [answer]: { schema: { type: "string" } } } };
    case "ui-stream":
      return { description: "Chunks.", content: { "text/event-stream": { schema: { type: "string" } } } };
    case "text/event-stream":
    case "user-event-stream":
      return {
        description: `Events as in the schema \`${answer === "user-event-stream" ? "user-events" : "events"}\`.`,
        content: { "text/event-stream": { schema: { type: "string" } } },
      };
    case "error":
      return { description: "The problem, and what to do.", content: toJsonContent(answer) };
    default:
      return { description: "The result.", content: toJsonContent(answer) };
  }
}

function toJsonContent(name: SchemaName | "any"): object {
  const schema = name === "any" ? { type: "object" } : { $ref: `#/components/schemas/${name}` };
  return { "application/json": { schema } };
}

function withoutDialect({ $schema: _dialect, ...schema }: object & { readonly $schema?: unknown }): object {
  return schema;
}
