/** `sheaf acp` with an editor that offers its own files and terminals. */
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk/unstable";
import { expect, test } from "vitest";
import { say, startEditor } from "../support/acp-editor.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const { session } = methods.agent;

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** An editor with its own texts, in a folder with files that changed long ago, and a session whose model makes the calls. */
async function openFolder(calls: readonly Call[], files: Record<string, string>, args: readonly string[] = []) {
  const turns = [
    ...calls.map(([tool, given]) => ({ events: [{ call: { tool, arguments: given } }] })),
    { events: [{ text: "Done." }] },
  ];
  const cwd = folders.newFolder({ ...files, "s.json": JSON.stringify({ turns }) });
  for (const name of Object.keys(files)) utimesSync(join(cwd, name), 1_000_000, 1_000_000);
  const buffers = new Map<string, string>();
  const asked: string[] = [];
  const written: string[] = [];
  const editor = await startEditor(cwd, ["--model", "scripted:s.json", "--sandbox", "disabled", ...args], {
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    readFile(path) {
      asked.push(path);
      return buffers.get(path) ?? readFileSync(path, "utf8");
    },
    writeFile(path, text) {
      written.push(path);
      buffers.set(path, text);
      writeFileSync(path, text);
    },
  });
  const { agent } = editor.connection;
  const { sessionId } = await agent.request(session.new, { cwd, mcpServers: [] });
  const ask = (text: string) => agent.request(session.prompt, say(sessionId, text));
  const read = (name: string) => readFileSync(join(cwd, name), "utf8");
  return {
    cwd,
    buffers,
    asked,
    written,
    editor,
    ask,
    read,
    type: (name: string, text: string) => void buffers.set(join(cwd, name), text),
  };
}

const change = (from: string, to: string): Call => [
  "edit_file",
  { target_file: "a.txt", edits: [{ old_string: from, new_string: to }] },
];

test(
  verifies(["C57", "X17"], "an unsaved text is read, edited through the editor, and restored by a revert"),
  async () => {
    const calls: Call[] = [["read_file", { target_file: "a.txt" }], change("typed", "changed")];
    const { cwd, written, editor, ask, read, type } = await openFolder(calls, { "a.txt": "saved\n" });
    type("a.txt", "typed\n");
    await ask("go");
    expect(read("a.txt")).toBe("changed\n");
    expect(written).toEqual([join(cwd, "a.txt")]);
    const results = editor.updates.filter(
      (update) => update.sessionUpdate === "tool_call_update" && update.status === "completed",
    );
    expect(results).toMatchObject([
      { rawOutput: { output: "typed\n" } },
      { content: [{ type: "diff", path: join(cwd, "a.txt"), oldText: "typed\n", newText: "changed\n" }] },
    ]);
    await ask("/revert");
    expect(read("a.txt")).toBe("typed\n");
  },
);

test(verifies(["C57", "S-11"], "the rules decide before the editor is asked"), async () => {
  const calls: Call[] = [
    ["read_file", { target_file: "secret.txt" }],
    ["write_file", { target_file: "secret.txt", content: "mine" }],
    ["write_file", { target_file: ".git/config", content: "mine" }],
    ["read_file", { target_file: "../outside.txt" }],
  ];
  const files = { "secret.txt": "secret\n", ".git/config": "[core]\n", ".git/HEAD": "ref: refs/heads/main\n" };
  const { asked, written, ask, read } = await openFolder(calls, files, [
    "--deny",
    "Read(secret.txt)",
    "--deny",
    "Write(secret.txt)",
  ]);
  await ask("go");
  expect([asked, written]).toEqual([[], []]);
  expect([read("secret.txt"), read(".git/config")]).toEqual(["secret\n", "[core]\n"]);
});

test(verifies("C57", "commands do not run in the editor's terminal"), async () => {
  const { editor, ask, read } = await openFolder([["run_terminal_cmd", { command: "echo ran | tee out.txt" }]], {});
  // The editor of this test has no terminal/create: a request for one would fail.
  await ask("go");
  expect(read("out.txt")).toBe("ran\n");
  expect(editor.updates).toContainEqual(
    expect.objectContaining({
      status: "completed",
      content: [{ type: "content", content: { type: "text", text: "ran\n" } }],
    }),
  );
});
