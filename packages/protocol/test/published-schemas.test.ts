import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { explainInvalid } from "../../../test/support/schema-check.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { payloadFields } from "../src/payload-fields.ts";
import { schemaNames, toJsonSchema } from "../src/published-schemas.ts";
import { payloadSchemas } from "../src/stream-events.ts";

test(verifies("N1", "the reducer knows the fields of each payload"), () => {
  const fields = Object.entries(payloadSchemas).map(([event, { properties = {} }]) => [event, Object.keys(properties)]);
  expect(Object.fromEntries(fields)).toEqual(payloadFields);
});

describe("published schemas", () => {
  test.each(schemaNames)(verifies("X10", "%s is a JSON Schema"), (name) => {
    expect(new Ajv2020().validateSchema(toJsonSchema(name))).toBe(true);
    expect(toJsonSchema(name)).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema" });
  });

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
