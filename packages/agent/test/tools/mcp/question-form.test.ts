import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { findFormProblem, parseForm } from "../../../src/tools/mcp/question-form.ts";

const toSchema = (properties: object, required: readonly string[] = []) => ({ type: "object", properties, required });

/** The fields, or why the question cannot be asked. */
function parse(properties: object, required: readonly string[] = []) {
  const form = parseForm(toSchema(properties, required));
  if (!form.ok) throw new Error(form.problem);
  return form;
}

describe("a form", () => {
  test(verifies(["X59", "S-176"], "has the fields of the protocol's types, with their defaults"), () => {
    const { fields, defaults } = parse(
      {
        name: { type: "string", title: "Name", minLength: 1, maxLength: 5, format: "email" },
        age: { type: "integer", minimum: 1, default: 3 },
        ok: { type: "boolean", default: false },
        one: { type: "string", oneOf: [{ const: "a", title: "A" }] },
        old: { type: "string", enum: ["b"], enumNames: ["B"] },
        many: { type: "array", items: { type: "string", enum: ["c", "d"] }, maxItems: 1, default: ["c"] },
      },
      ["name"],
    );
    expect(fields).toEqual([
      { name: "name", title: "Name", type: "string", required: true, format: "email", minimum: 1, maximum: 5 },
      { name: "age", title: "age", type: "integer", required: false, minimum: 1 },
      { name: "ok", title: "ok", type: "boolean", required: false },
      { name: "one", title: "one", type: "choice", required: false, options: [{ value: "a", label: "A" }] },
      { name: "old", title: "old", type: "choice", required: false, options: [{ value: "b", label: "B" }] },
      {
        name: "many",
        title: "many",
        type: "choices",
        required: false,
        options: ["c", "d"].map((value) => ({ value, label: value })),
        maximum: 1,
      },
    ]);
    expect(defaults).toEqual({ age: 3, ok: false, many: ["c"] });
  });

  const unknown = [
    { a: { type: "object", properties: {} } },
    { a: { type: "array", items: { type: "string" } } },
    { a: { type: "null" } },
    { a: true },
    { a: { type: "string", enum: [] } },
    { a: { type: "string", enum: [1] } },
    { "a\u202e": { type: "string" } },
    Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`f${index}`, { type: "string" }])),
    { a: { type: "string", enum: Array.from({ length: 101 }, (_, index) => `${index}`) } },
  ];
  test.each(unknown)(verifies("S-176", "of no known kind is not asked: %j"), (properties) => {
    expect(parseForm(toSchema(properties))).toMatchObject({ ok: false });
  });

  test(
    verifies(["S-176", "S-71"], "hides nothing: titles are visible, and a default that hides something is left out"),
    () => {
      const properties = JSON.parse(
        '{"__proto__":{"type":"string","title":"a\\u202eb","default":"x\\u200by"},"n":{"type":"integer","default":"7"}}',
      ) as object;
      const { fields, defaults } = parse(properties);
      expect(fields.map(({ name, title }) => [name, title])).toEqual([
        ["__proto__", "a<U+202E>b"],
        ["n", "n"],
      ]);
      expect(Object.keys(defaults)).toEqual([]);
    },
  );
});

describe("values", () => {
  const cases: readonly [schema: object, good: readonly unknown[], bad: readonly unknown[]][] = [
    [{ type: "string", minLength: 2, maxLength: 3 }, ["ab", "😀😀😀"], ["a", "abcd", 1, null]],
    [{ type: "string", format: "email" }, ["a@b.c"], ["a", "a b@c", "@b"]],
    [{ type: "string", format: "uri" }, ["https://a.b/c", "mailto:a@b"], ["a/b", "//x"]],
    [{ type: "string", format: "date" }, ["2026-02-28"], ["2026-02-30", "28.2.2026", "2026-2-1"]],
    [{ type: "string", format: "date-time" }, ["2026-02-28T10:00:00Z"], ["2026-02-28", "2026-02-28T25:00:00Z"]],
    [{ type: "number", minimum: 0, maximum: 1 }, [0, 0.5], [-1, 2, "1", Number.NaN]],
    [{ type: "integer" }, [3], [1.5, 2 ** 60]],
    [{ type: "boolean" }, [true, false], ["true", 1]],
    [{ type: "string", enum: ["a"] }, ["a"], ["b", ["a"]]],
    [
      { type: "array", minItems: 1, items: { anyOf: [{ const: "a", title: "A" }] } },
      [["a"]],
      [[], ["b"], ["a", "a"], "a"],
    ],
  ];
  test.each(cases)(verifies("S-176", "of %j are checked"), (schema, good, bad) => {
    const { fields } = parse({ v: schema }, ["v"]);
    for (const value of good) expect(findFormProblem(fields, { v: value }), String(value)).toBeUndefined();
    for (const value of bad) expect(findFormProblem(fields, { v: value }), String(value)).toMatch(/^"v": /);
    expect(findFormProblem(fields, {})).toBe('"v": it needs a value');
    expect(findFormProblem(fields, { v: good[0], w: 1 })).toBe('the form has no field "w"');
  });
});
