import type { ChatResponse, CliLine, Document, StreamEvent } from "@sheaf/protocol";
import type * as z from "zod";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { chatResponseSchema, documentSchema } from "../../src/output/schemas/documents-schema.ts";
import type { streamEventSchema } from "../../src/output/schemas/events-schema.ts";
import { schemaNames, toJsonSchema } from "../../src/output/schemas/json-schemas.ts";
import type { streamJsonSchema } from "../../src/output/schemas/stream-json-schema.ts";
import { explainInvalid } from "../../../../test/support/schema-check.ts";
import { verifies } from "../../../../test/support/verifies.ts";

/** Read-only all the way down: schemas infer mutable types, the protocol's are read-only. */
type Frozen<Value> = Value extends (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

describe("schemas and types", () => {
  test(verifies(["X10", "C13"], "say the same of documents, responses, events and lines"), () => {
    expectTypeOf<Frozen<z.infer<typeof documentSchema>>>().toExtend<Document>();
    expectTypeOf<Document>().toExtend<Frozen<z.infer<typeof documentSchema>>>();
    expectTypeOf<Frozen<z.infer<typeof chatResponseSchema>>>().toExtend<ChatResponse>();
    expectTypeOf<ChatResponse>().toExtend<Frozen<z.infer<typeof chatResponseSchema>>>();
    expectTypeOf<StreamEvent>().toExtend<Frozen<z.infer<typeof streamEventSchema>>>();
    expectTypeOf<Exclude<CliLine, { type: "tool_call" }>>().toExtend<Frozen<z.infer<typeof streamJsonSchema>>>();
    expect(schemaNames.slice(0, 3)).toEqual(["stream-json", "documents", "events"]);
  });
});

describe("published schemas", () => {
  test.each(schemaNames)(verifies(["C13", "X14"], "%s is open: a later version may add fields"), (name) => {
    const open = JSON.stringify(toJsonSchema(name));
    // Only what must have exactly one key is closed.
    expect(
      JSON.stringify(toJsonSchema(name, { closed: true })).match(/"additionalProperties":false/g)!.length,
    ).toBeGreaterThan((open.match(/"additionalProperties":false/g) ?? []).length);
  });

  test(verifies("C8", "a tool call with two keys, or none, is wrong"), () => {
    const line = (tool_call: object) => ({
      type: "tool_call",
      subtype: "started",
      call_id: "call_1",
      tool_call,
      session_id: "c6b62c6f-7ead-4fd6-9922-e952131177ff",
      timestamp_ms: 1,
    });
    const read = { readToolCall: { args: { path: "a" } } };
    expect(explainInvalid("stream-json", line(read))).toBeUndefined();
    expect(explainInvalid("stream-json", line({}))).toBeDefined();
    expect(explainInvalid("stream-json", line({ ...read, lsToolCall: { args: { path: "a" } } }))).toBeDefined();
    expect(explainInvalid("stream-json", { ...line(read), call_id: "a b" })).toBeDefined();
    expect(explainInvalid("stream-json", { ...line(read), sesion_id: "typo" })).toBeDefined();
  });
});
