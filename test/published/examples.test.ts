/** Every example runs, and prints what its text promises. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { startServerProcess, type TestServer } from "../support/server.ts";

const root = join(import.meta.dirname, "../..");
const home = mkdtempSync(join(tmpdir(), "sheaf-examples-"));
afterAll(() => rmSync(home, { recursive: true }));

function runExample(name: string, ...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join("examples", name), ...args], {
    cwd: root,
    encoding: "utf8",
    env: toEnvironment(),
  });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

function toEnvironment(): NodeJS.ProcessEnv {
  return { PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`, HOME: home, SHEAF_HOME: home };
}

test("every example has a test here", () => {
  expect(globSync("examples/*", { cwd: root }).toSorted()).toEqual([
    "examples/chat-api",
    "examples/chat-dom",
    // In chats.test.ts.
    "examples/chat-react",
    "examples/chat-server.ts",
    // In automation.test.ts.
    "examples/ci",
    "examples/client-node.ts",
    "examples/documents-from-a-stream.ts",
    "examples/library",
    // In behind-a-proxy.test.ts.
    "examples/proxy",
    "examples/read-the-stream.ts",
    "examples/two-way.ts",
  ]);
});

test("documents-from-a-stream.ts", () => {
  const output = runExample("documents-from-a-stream.ts");
  expect(output).toContain('event: document_start\ndata: {"id":"doc_002","type":"code_block","sequence":2');
  expect(output).toMatch(/1 text: "Try this:"\n2 code_block: "print\(1\)"\n$/);
});

test("read-the-stream.ts", () => {
  const output = runExample("read-the-stream.ts", "Summarise CHANGELOG.md");
  expect(output).toContain("[readToolCall]");
  expect(output).toMatch(/Changelog[^]*exit code 0\n$/);
});

test("two-way.ts", () => {
  // The README's first command makes this file in a checkout.
  const summary = join(root, "summary.txt");
  const before = existsSync(summary) && readFileSync(summary, "utf8");
  const output = runExample("two-way.ts", "Summarise README.md", "Read README.md and write a summary to summary.txt");
  expect(output).toMatch(/\[success\]\n[^]*\[refused: write_file summary\.txt\]\n[^]*\[success\]\n$/);
  expect(existsSync(summary) && readFileSync(summary, "utf8")).toBe(before);
});

describe("library", () => {
  test("script.ts", () => {
    const output = runExample("library/script.ts", "Summarise CHANGELOG.md");
    expect(output).toMatch(/\[\d tool_call\]\n[^]*Changelog[^]*\ncompleted: \d+ documents, \d+ tokens\n$/);
  });

  test("custom-tool.ts", () => {
    const output = runExample("library/custom-tool.ts");
    expect(output).toMatch(/^tool_call: [^]*\ntext: It is clear in Oslo, at 21 °C\.\n$/);
  });

  test("web-handler.ts", () => {
    const output = runExample("library/web-handler.ts");
    expect(output).toMatch(/event: document_start\n[^]*event: done\n/);
  });
});

/** A server with the offline model in a small project. */
async function startOffline(): Promise<TestServer> {
  const cwd = mkdtempSync(join(home, "project-"));
  writeFileSync(join(cwd, "README.md"), "# Wordy\n\nCounts words in a text.\n");
  const script = { turns: [{ events: [{ text: "Hello." }] }] };
  return startServerProcess({
    cwd,
    script,
    args: ["--sandbox", "disabled", "--model", "offline"],
  });
}

describe("client-node.ts", () => {
  const run = async (message: string, input: string): Promise<string> => {
    const { address, token } = await startOffline();
    const env = { ...toEnvironment(), SHEAF_URL: address, SHEAF_TOKEN: token };
    const example = [join("examples", "client-node.ts"), message];
    const { stdout, stderr, status } = spawnSync(process.execPath, example, {
      cwd: root,
      encoding: "utf8",
      env,
      input,
    });
    expect([status, stderr]).toEqual([0, ""]);
    return stdout;
  };

  test("shows documents as they come", async () => {
    const output = await run("Summarise README.md", "");
    expect(output).toMatch(
      /\[1 text\]\n[^]*\[2 tool_call\]\n[^]*Counts words[^]*\ncompleted: 3 documents, \d+ tokens\n$/,
    );
  });

  test("asks about approvals", async () => {
    const output = await run("Run `touch a.txt && echo touched`", "allow_once\n");
    expect(output).toMatch(/\[2 terminal_command\]\n[^]*allow_once: [^]*> [^]*touched\n[^]*completed: /);
  });
});
