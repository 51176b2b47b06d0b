/** What commands write to a real terminal: no control character of content, the same values. */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { describeWithProgram } from "../support/programs.ts";
import { createTestFolder, runSheaf, sheafProgram } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const hostile = "\u001B[31m \u0007\u009B31m\u007F\u202E\u2066";
// oxlint-disable-next-line no-control-regex -- these are the characters that must not pass
const unsafe = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/;

const root = folders.newFolder();
const cwd = join(root, `ws ${hostile}`);
const home = join(root, "home");
const model = {
  turns: [
    {
      events: [
        { text: `Text ${hostile}\n` },
        { call: { tool: "write_file", arguments: { target_file: `made ${hostile}.txt`, contents: hostile } } },
        { call: { tool: `tool ${hostile}`, arguments: {} } },
      ],
    },
    { events: [{ text: `Done ${hostile}` }] },
  ],
};

/** All that Sheaf writes to a terminal, its stdout and stderr. */
async function runInTerminal(args: readonly string[]): Promise<string> {
  const words = [process.execPath, sheafProgram, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const options = { cwd, env: { PATH: process.env.PATH, HOME: root, SHEAF_HOME: home, TERM: "xterm" } };
  const { stdout } = await promisify(execFile)("script", ["-qec", words.join(" "), "/dev/null"], options).catch(
    (failure: { stdout: string }) => failure,
  );
  return stdout.replaceAll("\r\n", "\n");
}

describeWithProgram("script", () => {
  let session = "";
  const toWords = (args: readonly string[]): string[] =>
    args.map((word) => word.replace("SESSION", session).replace("HOSTILE", hostile));

  beforeAll(async () => {
    mkdirSync(cwd);
    writeFileSync(join(cwd, "s.json"), JSON.stringify(model));
    const args = ["-p", "--force", "--model", "scripted:s.json", "--output-format", "json", `Say ${hostile}`];
    const { stdout } = await runSheaf(args, { cwd, home });
    session = (JSON.parse(stdout) as { session_id: string }).session_id;
    const mcpServers = { broken: { command: `/none/${hostile}` } };
    const permissions = { deny: [`Read(${hostile})`] };
    writeFileSync(join(home, "config.json"), JSON.stringify({ mcpServers, permissions }));
  });

  test.each([
    ["export", "SESSION", "--format", "markdown"],
    ["show", "SESSION", "--output-format", "text"],
    ["show", "SESSION", "--output-format", "stream-json", "--compat", "cursor-2026"],
    ["ls", "--all"],
    ["doctor"],
    ["mcp", "list"],
    ["models"],
    ["trust"],
    ["trust", "--list"],
    ["config", "explain"],
    ["permissions", "explain", "--allow", "Shell(HOSTILE)"],
    ["permissions", "check", "--path", "../HOSTILE", "--access", "write"],
    ["serve", "--help"],
    ["-p", "--model", "scripted:HOSTILE.json", "go"],
    ["-p", "--model", "scripted:s.json", "--resume", "HOSTILE", "go"],
    ["import", "HOSTILE.json"],
    ["HOSTILE", "--HOSTILE"],
    ["revert", "SESSION", "--to", "HOSTILE"],
  ])(verifies("S-70", "%s %s %s %s writes no control character to a terminal or a pipe"), async (...args) => {
    const words = toWords(args);
    const output = await runInTerminal(words);
    expect(output).not.toBe("");
    expect(output).not.toMatch(unsafe);
    if (args[0] !== "-p" && !args.includes("stream-json"))
      expect((await runSheaf(words, { cwd, home })).stdout).not.toMatch(unsafe);
  });

  test.each([
    ["export", "SESSION", "--format", "json"],
    ["show", "SESSION", "--output-format", "json"],
    ["show", "SESSION", "--output-format", "stream-json"],
    ["show", "SESSION", "--output-format", "documents"],
    ["show", "SESSION", "--output-format", "documents-stream"],
    ["ls", "--all", "--json"],
    ["mcp", "list", "--json"],
    ["trust", "--list", "--json"],
    ["config", "explain", "--json"],
  ])(verifies("S-70", "%s %s %s %s has the same value on a terminal as in a pipe"), async (...args) => {
    const words = toWords(args);
    const [shown, { stdout }] = await Promise.all([runInTerminal(words), runSheaf(words, { cwd, home })]);
    expect(shown).not.toMatch(unsafe);
    const parse = (text: string): unknown =>
      words[0] === "show"
        ? text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]))
        : JSON.parse(text);
    expect(parse(shown)).toEqual(parse(stdout));
  });
});
