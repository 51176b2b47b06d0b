/** Sessions with subagents, summaries, attachments, tool servers and hooks of the workspace, as tests (C190, C191). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";

import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { isDeep } from "../support/depth.ts";
import { compiledCode, createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const { newFolder } = createTestFolder();

const call = (tool: string, args: object) => ({ call: { tool, arguments: args } });

const script = {
  turns: [
    { events: [call("run_agent", { kind: "search", task: "Where is one?" })] },
    { events: [call("mcp__math__add", { a: 2, b: 3 }), call("mcp__math__fail", {})] },
    { events: [call("write_file", { target_file: "new.txt", content: "x" })] },
    { events: [{ text: "All done." }] },
  ],
  agents: {
    search: [{ events: [call("grep_search", { pattern: "one" })] }, { events: [{ text: "It is in a.txt." }] }],
  },
};

const server = {
  command: process.execPath,
  args: [join(import.meta.dirname, "../support/mcp-server.ts")],
  env: compiledCode,
};
const refusal = { matcher: "Write", hooks: [{ type: "command", command: "echo no new files >&2; exit 2" }] };

describeWithBubblewrap("a session with everything", () => {
  let place: { readonly cwd: string; readonly home: string };
  let text = "";

  beforeAll(async () => {
    const cwd = newFolder({
      ".git/HEAD": "ref: refs/heads/main\n",
      ".sheaf/hooks.json": JSON.stringify({ hooks: { PreToolUse: [refusal] } }),
      "a.txt": "one\n",
      "note.md": "# A note\n",
    });
    const settings = { mcpServers: { math: server }, permissions: { allow: ["Mcp(math:*)"] } };
    const home = newFolder({ "s.json": JSON.stringify(script), "config.json": JSON.stringify(settings) });
    place = { cwd, home };
    await runSheaf(["trust"], place);
    const [, digest = ""] = /digest {4}([0-9a-f]{64})/.exec((await runSheaf(["hooks", "trust"], place)).stdout) ?? [];
    await runSheaf(["hooks", "trust", ".sheaf/hooks.json", "--digest", digest], place);
    const words = ["-p", "--agents", "--model", `scripted:${join(home, "s.json")}`, "--file", "note.md", "Do it"];
    const session = String(parseStream((await runSheaf(words, place)).stdout)[0]!.session_id);
    const added = await runSheaf(["test", "add", session, "--name", "all"], place);
    if (added.stdout !== "pass  all\n1 of 1 test passed.\n") throw new Error(added.stdout + added.stderr);
    text = readFileSync(join(cwd, ".sheaf/tests/all.yaml"), "utf8");
  }, 60_000);

  async function run(file: string, ...flags: readonly string[]): Promise<string> {
    return (await runSheaf(["test", file, ...flags], place)).stdout;
  }

  async function runChanged(from: string, to: string): Promise<string> {
    expect(text).toContain(from);
    const file = join(newFolder(), "changed.yaml");
    writeFileSync(file, text.replace(from, to));
    return run(file);
  }

  test(verifies("C190", "has the subagent's answers, the attachment, and what the server's tools returned"), () => {
    for (const part of ["text: It is in a.txt.", "name: note.md", "servers:\n  math:", 'returns: "5"', "no such thing"])
      expect(text).toContain(part);
    expect(text).toContain("no new files");
  });

  test.each([
    ["a subagent's answer", "pattern: one", "pattern: two", "response 1, turn 1, call 1 (run_agent), turn 1, call 1"],
    ["a server's result", "TOOL_FAILED: math:fail", "TOOL_FAILED: math:none", "turn 2, call 2 (mcp__math__fail)"],
    ["a hook of the workspace", "exit 2", "exit 0", "turn 3, call 1 (write_file)"],
    ["an attachment", "base64: IyBBIG5vdGUK", "base64: IyBOb3RlCg==", "the model is sent something else: prompt"],
  ])(verifies("C191", "%s that changed is the first divergence"), async (_name, from, to, message) => {
    expect(await runChanged(from, to)).toContain(message);
  });

  test(verifies("C191", "passes every time"), async () => {
    const count = isDeep ? 10 : 2;
    const copies = Array.from({ length: count }, () => join(newFolder({ "all.yaml": text }), "all.yaml"));
    expect((await runSheaf(["test", ...copies], place)).stdout).toContain(`${count} of ${count} tests passed.`);
  });

  test(verifies("C191", "a summary, a broken answer and a call that Sheaf mends are played"), async () => {
    const lines = Array.from({ length: 400 }, (_, line) => `line ${line} of a long file with some words\n`).join("");
    const read = (offset: number) => [{ tool: "read_file", arguments: { target_file: "big.txt", offset } }];
    const small = { usage: { promptTokens: 2000, completionTokens: 50 } };
    const content = {
      files: { "big.txt": lines },
      responses: [
        {
          prompt: "Read it",
          window: 6000,
          turns: [
            ...[1, 100, 200].map((offset) => ({ ...small, calls: read(offset) })),
            { usage: { promptTokens: 5900, completionTokens: 50 }, calls: read(300) },
            { summary: "The file has lines." },
            { text: "Read." },
          ],
        },
        { prompt: "", shortens: true, turns: [{ summary: "All is read." }] },
        {
          prompt: "Again",
          turns: [
            { breaks: true },
            {
              sends: [call("Read", { file_path: "big.txt" })],
              calls: [{ tool: "read_file", arguments: { target_file: "big.txt" } }],
            },
            { text: "Again." },
          ],
        },
      ],
      expect: { answer: ["^Again"] },
    };
    const file = join(newFolder({ "t.yaml": JSON.stringify(content) }), "t.yaml");
    await run(file, "--update");
    expect(await run(file)).toMatch(/^pass/);
    const updated = readFileSync(file, "utf8");
    expect(updated).toContain("summary: The file has lines.");
    writeFileSync(file, updated.replace("promptTokens: 5900", "promptTokens: 100"));
    expect(await run(file)).toContain("response 1, turn 5: the run had an answer, not a summary");
  });
});
