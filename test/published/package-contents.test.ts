/** What npm gets: nothing that no user needs, and packages that work for CommonJS, TypeScript and `npm install --global`. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { publishedPackages } from "../../scripts/published-packages.ts";
import { describeDeep } from "../support/describe-where.ts";
import { packPackage, runProgram, unpackInto } from "../support/packed-packages.ts";
import { createTestFolder } from "../support/sheaf.ts";

interface Packed {
  readonly entryCount: number;
  /** Bytes, unpacked. */
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

const root = join(import.meta.dirname, "../..");
const folders = createTestFolder();

const known = new Map<string, Packed>();

function listPacked(name: string): Packed {
  const found = known.get(name);
  if (found) return found;
  const text = runProgram("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], join(root, "packages", name));
  // A list up to npm 11, an object by name later.
  const [packed] = Object.values(JSON.parse(text) as Record<string, Packed>);
  known.set(name, packed!);
  return packed!;
}

/** What nobody needs who installs the package. */
const unwanted =
  /(^|\/)(test|tests|coverage|node_modules|fixtures)\/|\.test\.|tsbuildinfo|tsconfig|\.tsx$|(^|\/)\.|(?<!\/mdream_edge_bg)\.wasm$|\.(log|tgz|node)$/;

/** Files, and megabytes unpacked: somewhat more than today. Whoever needs more says why. */
const bounds = {
  protocol: [200, 0.75],
  documents: [400, 1.2],
  client: [130, 0.36],
  conformance: [80, 0.2],
  // 2.9 of it are the library that draws diagrams in the page, 0.2 the converter of pages, 0.5 the prices of models, 0.4 the tool servers of played tests.
  cli: [280, 9.8],
} as const;

test.each(publishedPackages)("%s holds no file that a user has no use for, and not too many", (name) => {
  const { entryCount, unpackedSize, files } = listPacked(name);
  expect(files.map(({ path }) => path).filter((path) => unwanted.test(path))).toEqual([]);
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
  const [mostFiles, mostMegabytes] = bounds[name];
  expect(entryCount).toBeLessThanOrEqual(mostFiles);
  expect(unpackedSize / 1e6).toBeLessThanOrEqual(mostMegabytes);
});

test.each(publishedPackages)("the source maps of %s lead to files that the package has", (name) => {
  const cwd = join(root, "packages", name);
  const paths = new Set(listPacked(name).files.map(({ path }) => path));
  for (const path of paths) {
    if (/\.(js|d\.ts)$/.test(path)) {
      const [, map] = /^\/\/# sourceMappingURL=(\S+)$/m.exec(readFileSync(join(cwd, path), "utf8")) ?? [];
      if (map !== undefined) expect(paths, path).toContain(join(dirname(path), map));
    }
    if (!path.endsWith(".map")) continue;
    const { sources } = JSON.parse(readFileSync(join(cwd, path), "utf8")) as { readonly sources: readonly string[] };
    for (const source of sources) expect(paths, path).toContain(join(dirname(path), source));
  }
});

test.each(publishedPackages)("%s says where it comes from, as the root does", (name) => {
  const read = (path: string) =>
    JSON.parse(readFileSync(join(root, path, "package.json"), "utf8")) as Record<string, object | undefined>;
  const { license, repository } = read(".");
  const manifest = read(`packages/${name}`);
  // Without an address nobody reads one that leads nowhere.
  const links = [manifest["homepage"], manifest["bugs"]].filter((link) => link !== undefined);
  expect(links).toHaveLength(repository ? 2 : 0);
  expect(manifest["repository"]).toEqual(repository && { ...repository, directory: `packages/${name}` });
  expect(manifest).toMatchObject({
    license,
    publishConfig: { access: "public", provenance: true },
    engines: { node: expect.stringMatching(/^>=\d+$/) },
  });
});

describe("in a project of CommonJS", () => {
  const folder = folders.newFolder({ "package.json": "{}" });
  unpackInto(folder, {
    "@sheaf/protocol": "packages/protocol",
    "@sheaf/documents": "packages/documents",
    "@sheaf/client": "packages/client",
    sheaf: "packages/cli",
    "@noble/hashes": "node_modules/@noble/hashes",
  });

  test("require() gives what import gives", () => {
    const source = `
      const { createClient } = require("@sheaf/client");
      const { createConversation } = require("@sheaf/client/chat");
      const { createStreamDecoder } = require("@sheaf/protocol");
      const { createTextParser } = require("@sheaf/documents/text");
      const { createAgent } = require("sheaf");
      console.log([createClient, createConversation, createStreamDecoder, createTextParser, createAgent].map((one) => typeof one).join());`;
    writeFileSync(join(folder, "program.cjs"), source);
    expect(runProgram(process.execPath, ["program.cjs"], folder)).toBe(
      "function,function,function,function,function\n",
    );
  });

  test.each([
    ["node16", "node16", "mts"],
    ["node20", "node16", "cts"],
    ["nodenext", "nodenext", "cts"],
    ["nodenext", "nodenext", "mts"],
    ["esnext", "bundler", "ts"],
    ["preserve", "bundler", "ts"],
  ])(
    "its types are found with module %s, resolution %s, in a .%s file, without those of Node",
    (module, moduleResolution, ending) => {
      const source = `import { createClient, type SheafClient } from "@sheaf/client";
import { createConversation } from "@sheaf/client/chat";
import type { ChatResponse } from "@sheaf/protocol";
import { encodeSse } from "@sheaf/protocol/encode";
import { createAgent, type Agent } from "sheaf";
const client: SheafClient = createClient({ baseUrl: "http://127.0.0.1:9", token: "" });
// @ts-expect-error -- the types are there: any would have every field
client.nothing;
const agent: Agent = createAgent({ workspace: ".", model: "offline" });
// @ts-expect-error -- and so are those of the agent
agent.nothing;
export const closed: Promise<void> = agent[Symbol.asyncDispose]() as Promise<void>;
export const response: ChatResponse["id"] = "";
export const some = [createConversation, encodeSse] as const;
`;
      const file = `types-${module}.${ending}`;
      writeFileSync(join(folder, file), source);
      const options = {
        module,
        moduleResolution,
        target: "es2023",
        lib: ["es2023", "dom"],
        strict: true,
        noEmit: true,
      };
      const config = { compilerOptions: { ...options, types: [], skipLibCheck: false }, files: [file] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      const compiler = join(root, "node_modules/typescript/bin/tsc");
      expect(runProgram(process.execPath, [compiler, "-p", folder], folder)).toBe("");
    },
  );
});

describeDeep("npm install --global", () => {
  test("puts a program into the prefix that works", () => {
    const folder = folders.newFolder();
    // Without a registry: ripgrep and SHA-256, the only packages of others, come from here.
    const ripgrep = [`ripgrep`, `ripgrep-${process.platform}-${process.arch}`].map(
      (name) => `node_modules/@vscode/${name}`,
    );
    const sources = [
      "packages/protocol",
      "packages/documents",
      "packages/cli",
      "node_modules/@noble/hashes",
      ...ripgrep,
    ];
    const archives = sources
      .filter((source) => existsSync(join(root, source)))
      .map((source) => packPackage(source, folder));
    const args = ["install", "--global", "--prefix", folder, "--offline", "--no-audit", "--no-fund", ...archives];
    runProgram("npm", args, folder);
    const program = join(folder, "bin/sheaf");
    expect(statSync(program).mode & 0o111).not.toBe(0);
    const environment = { SHEAF_HOME: join(folder, "home"), HOME: folder };
    expect(runProgram(program, ["--version"], folder, environment)).toMatch(/^\d+\.\d+\.\d+\n$/);
    // Sheaf's own ripgrep starts only from outside of the workspace.
    const search = { call: { tool: "grep_search", arguments: { pattern: "needle" } } };
    const script = { turns: [{ events: [search] }, { events: [{ text: "Found." }] }] };
    const workspace = folders.newFolder({ "notes.txt": "one needle\n", "script.json": JSON.stringify(script) });
    const words = [
      "-p",
      "--model",
      "scripted:script.json",
      "--sandbox",
      "disabled",
      "--output-format",
      "documents",
      "Search for needle",
    ];
    expect(runProgram(program, words, workspace, environment)).toContain("1: one needle");
  });
});
