import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { formatProblem, listProblems, parseValue } from "../src/check-value.ts";
import * as s from "../src/schema.ts";

const schema = s.object({
  name: s.string({ minLength: 1, maxLength: 3 }),
  code: s.string({ pattern: "^[a-z]+$" }),
  count: s.integer({ minimum: 1, maximum: 10 }),
  share: s.number({ exclusiveMinimum: 0, maximum: 1 }),
  step: s.number({ multipleOf: 2 }),
  mode: s.choice(["fast", "slow"]),
  kind: s.literal("a"),
  only: s.literal(true),
  gap: s.nullable(s.object({ on: s.boolean() })),
  form: s.either([s.strict(s.object({ one: s.string() })), s.strict(s.object({ two: s.integer() }))]),
  tags: s.optional(s.list(s.object({ tag: s.string(), on: s.optional(s.boolean()) }), { minItems: 1, maxItems: 3 })),
  pair: s.single(s.string()),
  rates: s.optional(s.record(s.number({ minimum: 0 }), s.string({ pattern: "^[a-z]" }))),
  any: s.anything(),
});

const good = {
  name: "n",
  code: "abc",
  count: 10,
  share: 0.5,
  step: 4,
  mode: "fast",
  kind: "a",
  only: true,
  gap: null,
  form: { one: "" },
  pair: ["x"],
  any: undefined,
};

const explain = (value: unknown): string[] => listProblems(schema, value).map((each) => formatProblem(each, true));

describe("a checked value", () => {
  test.each([
    [{ name: "" }, 'name: expected a string of 1 to 3 characters, got ""'],
    [{ name: ["a"] }, "name: expected a string of 1 to 3 characters, got an array of 1 items"],
    [{ count: 1.5 }, "count: expected an integer from 1 to 10, got 1.5"],
    [{ share: 0 }, "share: expected a number above 0 and at most 1, got 0"],
    [{ mode: "Fast" }, 'mode: expected one of fast, slow, got "Fast"'],
    [{ only: false }, "only: expected true, got false"],
    [{ gap: 1 }, "gap: expected an object, or null, got 1"],
    [{ gap: {} }, "gap.on: is missing"],
    [{ form: { one: 1 } }, "form.one: expected a string, got 1"],
    [{ form: { two: 1, extra: 1 } }, "form.extra: is not a known field"],
    [{ tags: [] }, "tags: expected an array of 1 to 3 items, got an array of 0 items"],
    [{ tags: [{ tag: "a" }, { tag: 1 }] }, "tags[1].tag: expected a string, got 1"],
    [{ rates: { a: -1 } }, "rates.a: expected a number of at least 0, got -1"],
  ])("names the place, what was expected and what came: %j", (changes, problem) => {
    expect(explain({ ...good, ...changes })).toEqual([problem]);
  });

  test("names what is missing first, and all of it", () => {
    const { name: _, mode: __, ...rest } = good;
    expect(explain({ ...rest, code: 1 }).slice(0, 2)).toEqual(["name: is missing", "mode: is missing"]);
    expect(explain([good])).toEqual(["expected an object, got an array of 1 items"]);
  });

  test("accepts and refuses what ajv does", () => {
    const validate = new Ajv2020({ strictTypes: false }).compile(schema);
    const any = fc.oneof(
      fc.constantFrom<unknown>("", "n", "abcd", "A1", "fast", "a", 0, 1, 10, 11, 0.5, 1.5, 2, true, false, null),
      fc.constantFrom<unknown>(
        {},
        [],
        ["x"],
        [1, 2],
        { on: true },
        { one: "" },
        { two: 1 },
        { two: "" },
        { one: "", two: 1 },
      ),
      fc.constantFrom<unknown>([{ tag: "t" }], [{ tag: 1 }], { a: 1 }, { a: -1 }, { A: 1 }),
    );
    const names = Object.keys(good);
    const changes = fc.dictionary(fc.constantFrom(...names, "tags", "rates", "more"), any, { maxKeys: 3 });
    fc.assert(
      fc.property(changes, fc.subarray(names, { maxLength: 1 }), (changed, left) => {
        const value = Object.fromEntries(
          Object.entries({ ...good, any: 1, ...changed }).filter(([name]) => !left.includes(name)),
        );
        expect(listProblems(schema, value).length === 0, JSON.stringify(value)).toBe(validate(value));
      }),
      { numRuns: chooseRuns(2000) },
    );
  });

  test(verifies("S-71", "takes nothing that is inherited"), () => {
    const hostile = JSON.parse(`{"__proto__":${JSON.stringify(good)}}`) as object;
    expect(listProblems(schema, hostile).map(({ reason }) => reason)).not.toContain("wrong");
    expect(listProblems(schema, hostile)).toHaveLength(listProblems(schema, {}).length);
    expect(listProblems(schema, Object.create(good))).toHaveLength(listProblems(schema, {}).length);
    expect(parseValue(schema, Object.create(good)).ok).toBe(false);
  });
});

test(verifies("S-71", "a list with many faults is not checked to its end"), () => {
  const list = s.object({ items: s.list(s.object({ texts: s.list(s.string()) })) });
  const inner = { texts: Array.from({ length: 200_000 }, () => 1) };
  expect(listProblems(list, { items: [inner, inner] })).toHaveLength(100);
});

describe("a parsed value", () => {
  const request = s.object({
    text: s.string(),
    lines: s.optional(s.integer()),
    args: s.optional(s.record(s.anything())),
  });

  test("has only the fields that the schema knows; free objects stay whole", () => {
    const args = { constructor: 1, deep: { more: [null] } };
    expect(parseValue(request, { text: "", more: 1, args })).toEqual({ ok: true, value: { text: "", args } });
  });

  test("null stands for a field left out only where it may", () => {
    expect(parseValue(request, { text: "", lines: null }).ok).toBe(false);
    expect(parseValue(request, { text: "", lines: null }, { dropsNull: true })).toEqual({
      ok: true,
      value: { text: "" },
    });
    expect(parseValue(request, { text: null }, { dropsNull: true }).ok).toBe(false);
  });

  test("a rule beyond the keywords names its field", () => {
    const rule = s.refine(request, "some text", ({ text }) => text !== "", "text");
    const parsed = parseValue(rule, { text: "" });
    expect(parsed.ok ? [] : parsed.problems.map((each) => formatProblem(each, true))).toEqual([
      'text: expected some text, got ""',
    ]);
  });
});

test(verifies(["N13", "X14"], "a tolerant reader looks at structure alone"), () => {
  const values = s.object({ code: s.string({ pattern: "^a" }), mode: s.choice(["b"]), kind: s.growingChoice(["c"]) });
  expect(listProblems(values, { code: "x", mode: "_own", kind: "new" }, true)).toEqual([]);
  expect(listProblems(values, { code: "x", mode: "_own", kind: "new" })).toHaveLength(3);
  expect(listProblems(values, { code: 1, mode: "own", kind: 1 }, true)).toHaveLength(3);
});
