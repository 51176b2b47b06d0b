/** Every exported name means one thing in its package, or in the rooms of the program: a search finds one definition. */
import { expect, test } from "vitest";
import { privateRooms } from "../scripts/published-packages.ts";
import { removeComments, type SourceFile } from "./support/import-rules.ts";
import { readSources } from "./support/repository-files.ts";

const sources = readSources();

const definition =
  /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm;

/** What the program `sheaf` is made of. */
const programRooms = new Set<string>([...privateRooms, "cli"]);

/** Names that two files of one package define. What only loads the other one on demand is the same thing. */
function findDoubleNames(files: readonly SourceFile[]): string[] {
  const places = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const code = removeComments(text);
    for (const [, name] of code.matchAll(definition)) {
      if (code.includes('import("') && code.includes(`.${name}(`)) continue;
      const [, room = ""] = path.split("/");
      const key = `${programRooms.has(room) ? "program" : room}: ${name}`;
      places.set(key, (places.get(key) ?? new Set()).add(path));
    }
  }
  return [...places].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(", ")}`);
}

test("no two files of a package export one name", () => {
  expect(sources.length).toBeGreaterThan(60);
  expect(findDoubleNames(sources)).toEqual([]);
});

// A gate that cannot fail proves nothing.
test.each([
  ["export const findSandbox = 1;", 1],
  ["export interface Store {}", 1],
  ["export async function* decodeOpenAiChat() {}", 0],
  ["// export const findSandbox = 1;", 0],
  ['export const findSandbox = async () => (await import("./x.ts")).findSandbox();', 0],
  ['export { findSandbox } from "./x.ts";', 0],
])("a planted %s is found %d times", (text, count) => {
  const planted = { path: "packages/base/src/planted.ts", text };
  const found = findDoubleNames([...sources, planted]);
  expect(found.filter((line) => line.includes("planted.ts"))).toHaveLength(count);
});
