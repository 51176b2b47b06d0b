import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { toDefinitions } from "../../src/tools/registry.ts";

test("every tool has a schema that is one, whose bounds only the check of a call knows", () => {
  for (const { name, parameters: schema } of [
    ...toDefinitions({ mode: "debug", hasPlan: false }),
    ...toDefinitions({ mode: "plan", hasPlan: false }),
  ]) {
    expect(() => new Ajv2020().compile(schema), name).not.toThrow();
    expect(schema).toMatchObject({ type: "object" });
    expect(JSON.stringify(schema)).not.toMatch(/"(?:min|max)\w+":\d|"required":\[\]/);
  }
});
