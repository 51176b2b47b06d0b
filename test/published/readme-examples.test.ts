/**
 * The TypeScript of the READMEs and guides. A `ts` block is a whole program, which the test checks and runs. The `text`
 * block after it is its output. The test only checks the types of `ts check`, which needs a key, and of the `ts fragment`
 * blocks of a page in `fragmentPages`, one after the other.
 */
import { execFile, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { readBlocks } from "../support/shell-blocks.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "sheaf-readme-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Example {
  /** Where it is, for instance `README.md, line 12`. */
  readonly place: string;
  readonly source: string;
  readonly kind: "run" | "check" | "fragment";
  /** What it has to print; undefined if the page does not say. */
  readonly output: string | undefined;
}

const kinds: Readonly<Record<string, Example["kind"]>> = { "": "run", check: "check", fragment: "fragment" };

/** Declarations of everything that the fragments of a page use, by page. */
const fragmentPages: Readonly<Record<string, string>> = {
  "docs/guide/client.md": `
    import { createClient } from "@sheaf/client";
    declare const client: ReturnType<typeof createClient>, conversation: Conversation, user: { id: string }, id: string, message: string;
    type Conversation = ReturnType<typeof createConversation>;
    declare const provider: { getToken(): Promise<string> };
    declare function showList(rows: { id: string; title: string; waits: boolean; isNew: boolean }[]): void;
    declare function showState(state: "connecting" | "open" | "waiting", reason: unknown): void;`,
  "docs/guide/library.md": `
    import type { Agent, AgentRun, CustomTool } from "sheaf";
    import { createAgent } from "sheaf";
    declare const agent: Agent, run: AgentRun, getWeather: CustomTool, bytes: Uint8Array, first: AgentRun;
    declare function confirm(title: string): Promise<boolean>;`,
  "docs/guide/other-clients.md": `
    import { DefaultChatTransport, type PrepareSendMessagesRequest, type UIMessage } from "ai";
    declare const address: string, token: string;
    declare const useChat: (options: { transport: DefaultChatTransport<UIMessage> }) => Record<string, unknown>;
    declare class OpenAI {
      constructor(options: { baseURL: string; apiKey: string; timeout: number; maxRetries: number });
      chat: { completions: { create(body: { model: string; messages: { role: "user"; content: string }[] }): unknown } };
    }`,
  "docs/guide/claude.md": "declare function query(given: { prompt: string; options: object }): AsyncIterable<unknown>;",
  "docs/guide/codex.md": `
    interface Thread { run(prompt: string): Promise<{ finalResponse: string }> }
    declare class Codex {
      constructor(options: { codexPathOverride: string });
      startThread(options: { model: string; sandboxMode: "workspace-write" }): Thread;
    }`,
};

function readExamples(path: string): Example[] {
  const page = readFileSync(join(root, path), "utf8");
  let searched = 0;
  return readBlocks(page).flatMap(({ language, label, source, output }) => {
    searched = page.indexOf(source, searched);
    const place = `${path}, line ${page.slice(0, searched).split("\n").length}`;
    if (language !== "ts" && (!["js", "tsx"].includes(language) || label === "")) return [];
    // These blocks are one program, which client-guide.test.ts runs.
    if (language === "ts" && path === "docs/guide/client.md") return [];
    const kind = kinds[label];
    if (kind === undefined) throw new Error(`${place}: "${label}" is none of ${Object.keys(kinds).join(", ")}`);
    return [{ place, source, kind, output }];
  });
}

/** The fragments of a page as one program, each in its own block. */
function toProgram(page: string): string {
  const fragments = examples.filter(({ place, kind }) => kind === "fragment" && place.startsWith(`${page}, `));
  const lines = fragments.map(({ source }) => source.split("\n"));
  const imports = lines.flat().filter((line) => line.startsWith("import "));
  const bodies = lines.map((all) => `{\n${all.filter((line) => !line.startsWith("import ")).join("\n")}\n}`);
  return [...imports, fragmentPages[page], ...bodies].join("\n");
}

const pages = globSync(["README.md", "packages/*/README.md", "docs/**/*.md"], { cwd: root }).toSorted();
const examples = pages.flatMap(readExamples);

function toFile(example: Example): string {
  return join(folder, `example-${examples.indexOf(example)}.ts`);
}

/** The examples see the packages as a project does that has installed them. */
function writeExamples(): void {
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  // As strict as most projects are.
  const checks = { exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: false, noUnusedLocals: false };
  const output = { noEmit: true, composite: false, declaration: false, declarationMap: false };
  const tsconfig = {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: { ...output, ...checks, lib: ["es2024", "dom", "dom.iterable"], types: ["node"] },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  for (const example of examples) {
    if (example.kind !== "fragment") writeFileSync(toFile(example), `${example.source}\nexport {};\n`);
  }
  for (const page of Object.keys(fragmentPages)) {
    writeFileSync(join(folder, `${basename(page, ".md")}.ts`), `${toProgram(page)}\nexport {};\n`);
  }
}
writeExamples();

test("there are examples", () => {
  expect(examples.filter(({ kind }) => kind === "run").length).toBeGreaterThan(5);
});

test("their types are right", () => {
  const { stdout, status } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder, "--pretty", "false"], {
    encoding: "utf8",
  });
  const named = examples.reduce((text, example, at) => text.replaceAll(`example-${at}.ts`, example.place), stdout);
  expect([status, named]).toEqual([0, ""]);
}, 180_000);

describe("they run, and print what their page says", () => {
  test.concurrent.each(examples.filter(({ kind }) => kind === "run"))("$place", async (example) => {
    const run = promisify(execFile)(process.execPath, ["--conditions=sheaf-source", toFile(example)], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, SHEAF_HOME: folder },
    });
    const { stdout, stderr } = await run;
    expect(stderr).toBe("");
    if (example.output !== undefined) expect(stdout.trimEnd()).toBe(example.output);
  });
});
