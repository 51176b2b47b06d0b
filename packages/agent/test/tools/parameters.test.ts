import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  choice,
  flag,
  list,
  nonEmptyString,
  object,
  optional,
  positiveInteger,
  string,
  type Problem,
} from "../../src/tools/parameters.ts";
import { toDefinitions } from "../../src/tools/registry.ts";

const parameters = object({
  name: nonEmptyString("a name"),
  text: string("a text"),
  count: positiveInteger("a number", 10),
  lines: optional(positiveInteger("lines")),
  mode: choice(["fast", "slow"], "a word"),
  tags: optional(list(object({ tag: string("a tag"), on: optional(flag("on")) }), 1, 3, "some tags")),
});

const good = { name: "n", text: "", count: 10, mode: "fast" };

function check(value: unknown): { value: unknown; problems: readonly string[] } {
  const problems: Problem[] = [];
  const checked = parameters.check(value, "", problems);
  return { value: checked, problems: problems.map(({ place, message }) => `${place}: ${message}`) };
}

describe("parameters", () => {
  test("take what fits, without fields that nobody asked for", () => {
    const tags = [{ tag: "a", on: true, more: 1 }, { tag: "b" }];
    expect(check({ ...good, tags, lines: null, more: 1 })).toEqual({
      value: { ...good, tags: [{ tag: "a", on: true }, { tag: "b" }] },
      problems: [],
    });
  });

  test.each([
    [{ ...good, name: "" }, 'name: expected a text of at least one character, got ""'],
    [{ ...good, name: undefined }, "name: expected a text, got nothing"],
    [{ ...good, text: ["a"] }, "text: expected a text, got a list of 1 items"],
    [{ ...good, count: 0 }, "count: expected a whole number from 1 to 10, got 0"],
    [{ ...good, count: 1.5 }, "count: expected a whole number from 1 to 10, got 1.5"],
    [{ ...good, lines: "3" }, 'lines: expected a whole number from 1 on, got "3"'],
    [{ ...good, mode: "Fast" }, 'mode: expected one of "fast", "slow", got "Fast"'],
    [{ ...good, tags: [] }, "tags: expected a list of 1 to 3 items, got a list of 0 items"],
    [{ ...good, tags: [{ tag: "a" }, { tag: 1, on: 2 }] }, "tags[1].tag: expected a text, got 1"],
    [[good], ": expected an object, got a list of 1 items"],
    [null, ": expected an object, got null"],
  ])("name the place, what was expected and what came: %j", (value, problem) => {
    expect(check(value).problems[0]).toBe(problem);
  });

  test(verifies("S-71", "take nothing that is inherited"), () => {
    const hostile = JSON.parse('{"__proto__":{"name":"n","text":"","count":1,"mode":"fast"}}') as object;
    expect(check(hostile).problems).toHaveLength(4);
    expect(check(Object.create(good)).problems).toHaveLength(4);
  });

  test("accept and refuse what their JSON Schema does", () => {
    const validate = new Ajv2020().compile(parameters.schema);
    const any = fc.oneof(
      fc.constantFrom<unknown>("", "n", "fast", 0, 1, 10, 11, 1.5, true, {}, [], [{ tag: "t" }], [{ tag: 1 }], [1, 2]),
      fc.array(fc.record({ tag: fc.string(), on: fc.boolean() }, { requiredKeys: ["tag"] }), { maxLength: 4 }),
    );
    const value = fc.record(
      { name: any, text: any, count: any, lines: any, mode: any, tags: any, more: any },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          value,
          value.map((changes) => ({ ...good, ...changes })),
        ),
        (given) => {
          expect(check(given).problems.length === 0).toBe(validate(given));
        },
      ),
    );
  });
});

test("every tool has a schema that is one, with a description of each field", () => {
  for (const { name, parameters: schema } of toDefinitions("debug")) {
    expect(() => new Ajv2020().compile(schema), name).not.toThrow();
    const { type, properties } = schema as { type: string; properties: Record<string, { description?: string }> };
    expect(type).toBe("object");
    for (const [field, { description }] of Object.entries(properties))
      expect(description, `${name}.${field}`).toBeTruthy();
  }
});
