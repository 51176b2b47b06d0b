import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { toDefinitions } from "../../src/tools/registry.ts";

test("every tool has a schema that is one, with a description of each field", () => {
  for (const { name, parameters: schema } of [
    ...toDefinitions({ mode: "debug", hasPlan: false }),
    ...toDefinitions({ mode: "plan", hasPlan: false }),
  ]) {
    expect(() => new Ajv2020().compile(schema), name).not.toThrow();
    const { type, properties } = schema as { type: string; properties: Record<string, { description?: string }> };
    expect(type).toBe("object");
    for (const [field, { description }] of Object.entries(properties))
      expect(description, `${name}.${field}`).toBeTruthy();
  }
});
