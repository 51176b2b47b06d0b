/** The published JSON Schemas, by name (C13, X10). */
import * as z from "zod";
import { chatResponseSchema } from "./documents-schema.ts";
import { streamEventSchema } from "./events-schema.ts";
import { streamJsonSchema } from "./stream-json-schema.ts";

const schemas = {
  "stream-json": streamJsonSchema,
  documents: chatResponseSchema,
  events: streamEventSchema,
} as const;

export type SchemaName = keyof typeof schemas;

export const schemaNames = Object.keys(schemas) as readonly SchemaName[];

/**
 * A JSON Schema, draft 2020-12. The published one is open: later versions add fields (C13, N1).
 * `closed: true` forbids unknown fields; the tests use it, so that a misspelt field is found.
 */
export function toJsonSchema(
  name: SchemaName,
  options: { readonly closed?: boolean } = {},
): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schemas[name], { io: options.closed ? "output" : "input", target: "draft-2020-12" });
}
