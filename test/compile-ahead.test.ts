import { Script } from "node:vm";
import { describe, expect, test } from "vitest";
import { findCircle, toEagerFunctions } from "../scripts/compile-ahead.ts";

const source = `
const before = add(1, 2);
function add(a, b) { return a + b; }
async function wait(value) { return value; }
function* count(limit) { for (let index = 0; index < limit; index += 1) yield index; }
function replaced() { replaced = () => "second"; return "first"; }
export { add, before, count, replaced, wait };
export const results = [replaced(), replaced(), add.name, count.name];
`;

interface Loaded {
  readonly before: number;
  readonly results: readonly string[];
  readonly count: (limit: number) => Iterable<number>;
  readonly wait: (value: string) => Promise<string>;
}

async function load(text: string): Promise<Loaded> {
  return (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as Loaded;
}

/** Every range of a text: as if all that may be a function had been called. */
function findFunctions(text: string): ReadonlySet<string> {
  const places = Array.from({ length: text.length + 1 }, (_, place) => place);
  return new Set(places.flatMap((start) => places.slice(start).map((end) => `${start}:${end}`)));
}

describe("functions compiled with their module", () => {
  test("do what they did: called before their place, replaced by themselves, with their names", async () => {
    const module = await load(toEagerFunctions(source));
    expect(module.before).toBe(3);
    expect(module.results).toEqual(["first", "second", "add", "count"]);
    expect([...module.count(3)]).toEqual([0, 1, 2]);
    expect(await module.wait("done")).toBe("done");
    expect(module.results).toEqual((await load(source)).results);
  });

  test("are in the code that V8 caches before anything ran", () => {
    const body = `function work(a) { ${"a = a * 3 + 1;".repeat(200)} return a; }\nvar other = 1;\n`;
    const toCachedBytes = (text: string): number => new Script(text).createCachedData().length;
    expect(toCachedBytes(toEagerFunctions(body))).toBeGreaterThan(toCachedBytes(body) + 1000);
  });

  test("inside of others too, where they were called: arrow functions, methods of objects", async () => {
    const inner = `
const arrow = (a) => (b) => a + b;
const asked = async (a) => a;
const made = function (a) { return a; };
const parent = { greet() { return "parent"; } };
export const object = {
  __proto__: parent,
  plain(a, b = (c) => c * 2) { return this.base + b(a); },
  async later(a) { return a; },
  *count() { yield 1; yield 2; },
  async *stream() { yield "s"; },
  greet() { return "child of " + super.greet(); },
  get half() { return 0.5; },
  ["computed"](a) { return a; },
  "with-dash"() { return 3; },
  base: 10,
};
class Row { #cells = [1]; map(work) { return this.#cells.map((cell) => work(cell)); } }
export const results = [
  arrow(1)(2), await asked(3), made(4), object.plain(5), await object.later(6), [...object.count()].join(),
  (await object.stream().next()).value, object.greet(), object.half, object.computed(7), object["with-dash"](),
  new Row().map((cell) => cell + 1).join(), arrow.name, made.name, object.plain.name, object.count.name,
];
`;
    const eager = toEagerFunctions(inner, findFunctions(inner));
    expect((await load(eager)).results).toEqual((await load(inner)).results);
    for (const piece of ["((a) => ((b) => a + b))", "(function (a) {", "plain:(function(a, b = ((c) => c * 2))"]) {
      expect(eager).toContain(piece);
    }
    for (const piece of ["later:(async function(", "count:(function*(", "stream:(async function*("]) {
      expect(eager).toContain(piece);
    }
    for (const kept of ['greet() { return "child', "get half() {", '["computed"](a) {', "= async (a) => a"]) {
      expect(eager).toContain(kept);
    }
  });

  test("where it is known which were called, the others are left", () => {
    const text = "function used() { return () => 1; }\nfunction unused() { return () => 2; }\n";
    const called = new Set([`0:${text.indexOf("\n")}`]);
    expect(toEagerFunctions(text, called)).toBe(
      "var used=(function () { return () => 1; });\n;\nfunction unused() { return () => 2; }\n",
    );
    expect(toEagerFunctions(text, new Set())).toBe(text);
  });

  test("a module without functions stays as it is", () => {
    expect(toEagerFunctions("export const one = 1;\n")).toBe("export const one = 1;\n");
  });
});

test("bundles that import each other in a circle are found; one that is loaded later makes none", () => {
  const toOutputs = (kind: string) => ({
    "a.js": { imports: [{ path: "b.js", kind: "import-statement" }] },
    "b.js": { imports: [{ path: "c.js", kind: "import-statement" }] },
    "c.js": { imports: [{ path: "b.js", kind }] },
  });
  expect(findCircle(toOutputs("import-statement"))).toEqual(["b.js", "c.js"]);
  expect(findCircle(toOutputs("dynamic-import"))).toBeUndefined();
});
