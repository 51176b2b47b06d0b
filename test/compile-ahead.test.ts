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
