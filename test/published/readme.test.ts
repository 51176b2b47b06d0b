/** README.md: every command of it runs, prints what it says, and its figures are in the pages that it names. */
import { spawnSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toDataFolder } from "@sheaf/base/paths";
import { parseText } from "@sheaf/documents";
import { describe, expect, test } from "vitest";
import { describeWithProgram } from "../support/programs.ts";
import { startServerProcess } from "../support/server.ts";
import { compiledCode, createTestFolder, sheafProgram } from "../support/sheaf.ts";
import { readShellBlocks, type ShellBlock } from "../support/shell-blocks.ts";

const root = join(import.meta.dirname, "../..");
const readText = (path: string): string => readFileSync(join(root, path), "utf8");
const readme = readText("README.md");
const folders = createTestFolder();

/** The programs of a reader after `npm ci`: `npx` and, as the page makes it, `sheaf`. */
const bin = folders.newFolder();
writeProgram("npm", '[ "$*" = ci ]');
writeProgram("npx", '[ "$1" = sheaf ] && exec "$@"');
writeProgram("sheaf", `exec '${process.execPath}' '${sheafProgram}' "$@"`);

function writeProgram(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

/** Runs a block in a project with this page as its README. */
function runBlock(source: string, cwd = newProject(), home = folders.newFolder()) {
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    TMPDIR: folders.path,
    LANG: "C.UTF-8",
    ...compiledCode,
  };
  const { stdout, stderr } = spawnSync("bash", ["-uo", "pipefail", "-c", source], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  return { output: stdout.trimEnd(), stderr };
}

const newProject = (): string => folders.newFolder({ "README.md": readme });
const toExpected = ({ output }: ShellBlock) => ({ output: output?.trimEnd(), stderr: "" });

const blocks = readShellBlocks(readme);
const run = blocks.filter(({ info }) => info === "sh");
const needs = (program: string) => run.filter(({ source }) => source.includes(`${program} -`));
const [chat, ...otherChats] = needs("curl");

describe("a block", () => {
  test("is a command with its output, or one that needs a key or the network, and there are no others", () => {
    const infos = parseText(readme).flatMap((segment) =>
      segment.type === "code_block" ? [segment.info ?? segment.language] : [],
    );
    expect(infos.filter((info) => !/^(sh|text|sh no-run: .{5,})$/.test(info))).toEqual([]);
    expect(run.map(({ output }) => typeof output)).toEqual(["string", "string", "string", "string"]);
    const left = blocks.filter(({ info }) => info.startsWith("sh no-run: ")).map(({ source }) => source.trim());
    expect(left).toEqual(["npm cit", expect.stringContaining("export ANTHROPIC_API_KEY=…")]);
    expect(otherChats).toEqual([]);
  });

  const simple = run.filter((block) => ![...needs("jq"), chat].includes(block));
  test.each(simple)("prints what follows it: $source", (block) => {
    expect(runBlock(block.source)).toEqual(toExpected(block));
  });

  describeWithProgram("jq", () => {
    test.each(needs("jq"))("prints what follows it: $source", (block) => {
      expect(runBlock(block.source)).toEqual(toExpected(block));
    });
  });

  describeWithProgram("curl", () => {
    test("prints what follows it: the chat", async () => {
      const cwd = newProject();
      const home = folders.newFolder();
      // The data folder of a user who sets nothing.
      const data = toDataFolder({ HOME: home });
      mkdirSync(data, { recursive: true });
      const server = await startServerProcess({ cwd, home: data, args: ["--model", "offline"] });
      const source = chat!.source.replaceAll("http://127.0.0.1:7433", server.address);
      expect(runBlock(source, cwd, home)).toEqual(toExpected(chat!));
      expect(readFileSync(join(cwd, "events.txt"), "utf8")).toContain("\nid: 4\n");
    });
  });
});

test("the program that the page makes starts the built Sheaf in another folder", () => {
  expect(readme).toContain("npx sheaf install-alias ~/bin --as sheaf");
  const env = { PATH: process.env.PATH, HOME: folders.newFolder() };
  const options = { encoding: "utf8", env, input: "" } as const;
  spawnSync("npx", ["sheaf", "install-alias", env.HOME, "--as", "sheaf"], { ...options, cwd: root });
  const args = ["-p", "--model", "offline", "--output-format", "json", "hello"];
  const { stdout, stderr } = spawnSync(join(env.HOME, "sheaf"), args, { ...options, cwd: newProject() });
  expect([stderr, JSON.parse(stdout)]).toMatchObject(["", { subtype: "success" }]);
});

test("its table is part of the failure matrix, and its other figures are in the pages that it names", () => {
  const rows = readme.split("\n").filter((line) => line.startsWith("| "));
  expect(rows.length).toBeGreaterThan(3);
  const matrix = readText("docs/failure-matrix.md").split("\n");
  expect(rows.filter((row) => !matrix.includes(row))).toEqual([]);
  const figures = {
    "docs/reliability.md": ["200 kills, 41,230 events seen, 0 lost"],
    "docs/performance.md": ["| startup | one answer, OpenAI | 47 ms | 174 ms |"],
    "docs/decisions/prompt.md": ["| prompt and tools, tokens | 12,050 | 6,940 | 1,356 |", "| 2,021 (agent mode"],
  };
  for (const [page, texts] of Object.entries(figures)) {
    expect(readme).toContain(page);
    for (const text of texts) expect(readText(page)).toContain(text);
  }
});

test("it is short, and no page for readers names an address that does not exist", () => {
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(120);
  const pages = globSync(["*.{md,json}", "{docs,examples,action,deploy,packages/*}/**/*.{md,json,yml,ts,mjs,sh}"], {
    cwd: root,
    exclude: ["**/node_modules/**", "**/dist/**"],
  });
  expect(pages.filter((path) => /\bOWNER\b/.test(readText(path)))).toEqual([]);
});
