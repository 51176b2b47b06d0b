/** The packages as npm gives them out: their entries are there, and they work without the repository. */
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { describe, expect, test } from "vitest";
import { publishedPackages } from "../../scripts/published-packages.ts";
import { runProgram, unpackInto } from "../support/packed-packages.ts";
import { createTestFolder } from "../support/sheaf.ts";

const root = join(import.meta.dirname, "../..");
const folders = createTestFolder();

/** A folder with these packages in `node_modules`, unpacked from what npm would publish, and the one package that they need. */
function install(names: Readonly<Record<string, string>>): string {
  const folder = folders.newFolder({ "package.json": '{"type":"module"}' });
  unpackInto(folder, { ...names, "@noble/hashes": "node_modules/@noble/hashes" });
  return folder;
}

test.each(publishedPackages)("%s has what its package.json names", async (name) => {
  const { messages, pkg } = await publint({ pkgDir: join(root, "packages", name), pack: "npm" });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test.each(publishedPackages)("%s brings README and licence", (name) => {
  // npm packs both whatever `files` says.
  expect(readdirSync(join(root, "packages", name))).toEqual(expect.arrayContaining(["LICENSE", "README.md"]));
});

test("the program names the packages whose code it holds, each with its licence", () => {
  const notices = readFileSync(join(root, "packages/cli/dist/THIRD-PARTY-NOTICES.txt"), "utf8");
  const sections = notices.split(/^(\S+ \d+\.\d+\.\d\S*)\n-+\n/m).slice(1);
  const texts = new Map(sections.filter((_, at) => at % 2 === 0).map((title, at) => [title, sections[2 * at + 1]!]));
  const names = [...texts.keys()].map((title) => title.split(" ")[0]);
  // Of the program, of an adapter, of the page.
  const some = ["zod", "hono", "@ai-sdk/anthropic", "preact", "highlight.js"];
  expect(names).toEqual(expect.arrayContaining(some));
  for (const [title, text] of texts) expect(text.trim(), title).toMatch(/licen[cs]e|permission/i);
  // A name alone is enough only for the licence that Sheaf itself comes with.
  for (const [title, text] of texts) expect(text.trim(), title).not.toMatch(/^Licence: (?!Apache-2\.0$)\S+$/);
});

describe("without the repository", () => {
  const folder = install({
    "@sheaf/protocol": "packages/protocol",
    "@sheaf/documents": "packages/documents",
    "@sheaf/client": "packages/client",
    "sheaf-conformance": "packages/conformance",
  });

  test("the conformance kit runs, with nothing but the protocol and SHA-256", () => {
    const program = join("node_modules/sheaf-conformance/bin/sheaf-conformance.js");
    expect(runProgram(process.execPath, [program, "--list"], folder)).toMatch(/^base +models /);
    expect(readdirSync(join(folder, "node_modules"))).toEqual(["@noble", "@sheaf", "sheaf-conformance"]);
  });

  test("the client can be imported, by all its entries", () => {
    const entries = ["@sheaf/client", "@sheaf/client/chat", "@sheaf/client/verify"];
    const source = `${entries.map((entry, at) => `import * as m${at} from "${entry}";`).join("")}
      console.log(m0.createClient({ baseUrl: "http://127.0.0.1:9" }) && m1.createConversation && m2.verifyUpdates ? "ok" : "");`;
    expect(runProgram(process.execPath, ["--input-type=module", "--eval", source], folder)).toBe("ok\n");
  });

  test.each(["protocol", "documents", "client"])("the source maps of %s lead to files that are there", (name) => {
    const cwd = join(folder, "node_modules/@sheaf", name);
    const maps = globSync("dist/**/*.map", { cwd });
    expect(maps.length).toBeGreaterThan(0);
    const sources = maps.flatMap((map) => {
      const content = JSON.parse(readFileSync(join(cwd, map), "utf8")) as { readonly sources: readonly string[] };
      return content.sources.map((source) => join(cwd, dirname(map), source));
    });
    expect(sources.filter((source) => !existsSync(source))).toEqual([]);
  });
});

describe("the library of sheaf, in an empty strict project", () => {
  const program = `import { createAgent, type AgentRun, type CustomTool } from "sheaf";
import type { ChatResponse } from "@sheaf/protocol";

const add: CustomTool<{ a: number; b: number }> = {
  name: "add",
  description: "Adds two numbers.",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  run: ({ a, b }) => "sum " + (a + b),
};
const agent = createAgent({ workspace: ".", model: "scripted:script.json", tools: [add], sandbox: "disabled" });
const run: AgentRun = agent.run("Add 1 and 2");
for await (const { event } of run) if (event === "done") console.log(event);
const response: ChatResponse = await run.result;
for (const { type, content } of response.documents) console.log(type + ": " + content);
let last = "";
for await (const line of run.format("stream-json")) last = line;
console.log((JSON.parse(last) as { type: string }).type);
`;
  const script = {
    turns: [
      { events: [{ call: { tool: "add", arguments: { a: 1, b: 2 } } }] },
      { events: [{ text: "The sum is 3." }] },
    ],
  };
  const options = { module: "nodenext", target: "es2024", lib: ["esnext"], strict: true, types: ["node"] };
  const folder = install({
    "@sheaf/protocol": "packages/protocol",
    "@sheaf/documents": "packages/documents",
    sheaf: "packages/cli",
  });
  // What a registry would give: the packages that these depend on.
  const modules = join(root, "node_modules");
  for (const name of [
    ...readdirSync(modules),
    ...readdirSync(join(modules, "@types")).map((type) => `@types/${type}`),
  ]) {
    const target = join(folder, "node_modules", name);
    if (/^(\.|@noble$|@sheaf$|@types$)/.test(name) || existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(modules, name), target);
  }
  writeFileSync(join(folder, "program.ts"), program);
  writeFileSync(join(folder, "script.json"), JSON.stringify(script));
  const compilerOptions = { ...options, exactOptionalPropertyTypes: true };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));

  test("its types are checked, and a custom tool runs with a scripted model", () => {
    runProgram(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", folder], folder);
    const output = runProgram(process.execPath, ["program.js"], folder);
    expect(output).toMatch(/^done\ntool_call: [^]*\ntext: The sum is 3\.\nresult\n$/);
  });
});
