/** `--add-dir` through the real program: what tools may do in a folder outside of the workspace. */
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readEvents, startServer } from "../support/server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** Runs the calls one after the other; gives the first line, the result of each call, and the session. */
async function runCalls(cwd: string, calls: readonly Call[], words: readonly string[]) {
  const turns = [
    ...calls.map(([tool, args]) => ({ events: [{ call: { tool, arguments: args } }] })),
    { events: [{ text: "end" }] },
  ];
  writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns }));
  const { code, stdout, stderr } = await runSheaf(["-p", "--model", "scripted:s.json", ...words, "go"], { cwd });
  expect([code, stderr]).toEqual([0, ""]);
  const lines = parseStream(stdout);
  const results = lines
    .filter(({ subtype }) => subtype === "completed")
    .map(({ tool_call }) => JSON.stringify(Object.values(tool_call as Record<string, { result: unknown }>)[0]!.result));
  return { init: lines[0]!, results, session: String(lines[0]!.session_id) };
}

test(verifies(["S-20", "S-22", "C5"], "file tools work there by absolute paths, and nowhere else"), async () => {
  const cwd = folders.newFolder({ "a.txt": "inside\n" });
  const added = realpathSync(folders.newFolder({ "a.txt": "added\n", "src/b.txt": "one\n", ".git/config": "old\n" }));
  const other = realpathSync(folders.newFolder({ "a.txt": "CANARY\n" }));
  symlinkSync(join(other, "a.txt"), join(added, "link.txt"));
  symlinkSync(other, join(added, "folder"));
  const refused: readonly Call[] = [
    ["read_file", { target_file: join(other, "a.txt") }],
    ["read_file", { target_file: join(added, "link.txt") }],
    ["read_file", { target_file: `${added}/../${other.split("/").at(-1)}/a.txt` }],
    ["read_file", { target_file: `${added}/folder/a.txt` }],
    ["write_file", { target_file: `${added}-evil/x`, content: "x" }],
    ["write_file", { target_file: `${added}/folder/x`, content: "x" }],
    ["write_file", { target_file: `${added}/.git/config`, content: "evil" }],
    ["write_file", { target_file: `${added}/.envrc`, content: "evil" }],
    ["rename_file", { source_file: `${added}/src/b.txt`, destination_file: "b.txt" }],
    ["list_dir", { target_directory: join(added, "..") }],
    ["grep_search", { pattern: "CANARY", path: `${added}/folder` }],
    ["grep_search", { pattern: "CANARY", path: other }],
  ];
  writeFileSync(join(added, "secret.key"), "CANARY\n");
  const words = ["--add-dir", added, "--output-format", "stream-json"];
  const { init, results } = await runCalls(cwd, refused, words);
  expect(init["added_folders"]).toEqual([added]);
  expect(results).toHaveLength(refused.length);
  for (const [index, result] of results.entries()) {
    expect(result, JSON.stringify(refused[index])).not.toContain('"success"');
    expect(result).toMatch(/leads out of the workspace|is protected/);
    expect(result).not.toContain("CANARY");
  }
  const denied = await runCalls(
    cwd,
    [["read_file", { target_file: `${added}/secret.key` }]],
    [...words, "--deny", "Read(*.key)"],
  );
  expect(denied.results.join()).toContain("Read(*.key) denies read_file");
  expect(readFileSync(join(added, ".git/config"), "utf8")).toBe("old\n");
  expect([join(other, "x"), join(added, ".envrc"), `${added}-evil`].map(existsSync)).toEqual([false, false, false]);
});

test(verifies("S-20", "a move between two folders is refused; the message shows the way, and that works"), async () => {
  const cwd = realpathSync(folders.newFolder({ "a.txt": "inside\n" }));
  const added = realpathSync(folders.newFolder({ "b.txt": "added\n" }));
  const target = join(added, "a.txt");
  const { results } = await runCalls(
    cwd,
    [
      ["rename_file", { source_file: "a.txt", destination_file: target }],
      ["rename_file", { source_file: join(cwd, "a.txt"), destination_file: target }],
      ["write_file", { target_file: target, content: "inside\n" }],
      ["delete_file", { target_file: "a.txt" }],
    ],
    ["--add-dir", added],
  );
  for (const refused of results.slice(0, 2)) {
    expect(refused).toContain(`To move a file between ${cwd} and ${added}, write the new one, then delete the old one`);
  }
  expect([readFileSync(target, "utf8"), existsSync(join(cwd, "a.txt"))]).toEqual(["inside\n", false]);
});

test("reading, searching, editing and moving work there, and revert takes the changes back", async () => {
  const cwd = folders.newFolder({ "a.txt": "inside\n" });
  const added = realpathSync(folders.newFolder({ "a.txt": "added\n", "src/b.txt": "one\n" }));
  const calls: readonly Call[] = [
    ["read_file", { target_file: join(added, "a.txt") }],
    ["read_file", { target_file: "a.txt" }],
    ["grep_search", { pattern: "one", path: added }],
    ["list_dir", { target_directory: added }],
    ["edit_file", { target_file: join(added, "src/b.txt"), edits: [{ old_string: "one", new_string: "two" }] }],
    ["write_file", { target_file: join(added, "new/c.txt"), content: "c\n" }],
    ["rename_file", { source_file: join(added, "a.txt"), destination_file: join(added, "new/a.txt") }],
  ];
  const { results, session } = await runCalls(cwd, calls, ["--add-dir", added, "--output-format", "stream-json"]);
  for (const [index, result] of results.entries()) expect(result, JSON.stringify(calls[index])).toContain('"success"');
  expect(results[0]).toContain("added");
  expect(results[1]).toContain("inside");
  expect(readFileSync(join(added, "src/b.txt"), "utf8")).toBe("two\n");
  expect(readFileSync(join(added, "new/a.txt"), "utf8")).toBe("added\n");
  const { stdout } = await runSheaf(["show", session, "--output-format", "documents"], { cwd });
  expect(stdout).toContain(JSON.stringify(join(added, "src/b.txt")));
  const reverted = await runSheaf(["revert", session], { cwd });
  expect([reverted.code, reverted.stderr]).toEqual([0, ""]);
  expect(readFileSync(join(added, "src/b.txt"), "utf8")).toBe("one\n");
  expect(readFileSync(join(added, "a.txt"), "utf8")).toBe("added\n");
  expect(existsSync(join(added, "new/c.txt"))).toBe(false);
});

test(
  verifies("C20", "a folder that opens too much ends the run before it begins; explain names what was added"),
  async () => {
    const cwd = folders.newFolder();
    const added = realpathSync(folders.newFolder());
    mkdirSync(join(added, "deep"));
    const refused = await runSheaf(["-p", "--model", "offline", "--add-dir", "/", "hello"], { cwd });
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/^sheaf: USAGE: --add-dir "\/" is the whole file system/),
    ]);
    const { stdout } = await runSheaf(
      ["permissions", "explain", "--json", "--add-dir", join(added, "deep"), "--add-dir", added],
      { cwd },
    );
    const { classes } = JSON.parse(stdout) as { classes: { class: string; reason: string }[] };
    expect(classes.find((row) => row.class === "added folders")?.reason).toBe(
      `as the workspace, by absolute paths: ${added}`,
    );
    const check = async (path: string): Promise<unknown> => {
      const words = ["permissions", "check", "--path", path, "--access", "write", "--json", "--add-dir", added];
      return (JSON.parse((await runSheaf(words, { cwd })).stdout) as { decision: unknown }).decision;
    };
    expect([await check(join(added, "x")), await check(join(added, ".git/x")), await check(`${added}-x/y`)]).toEqual([
      "allow",
      "deny",
      "deny",
    ]);
  },
);

test(verifies(["S-20", "C20"], "a server adds the folders to each of its workspaces, or does not start"), async () => {
  const cwd = folders.newFolder({ "docs/a.txt": "a\n", "code/a.txt": "a\n" });
  const added = realpathSync(folders.newFolder({ "b.txt": "added\n" }));
  const refused = await runSheaf(["serve", "--port", "0", "--model", "offline", "--add-dir", join(added, "none")], {
    cwd,
  });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/^sheaf: USAGE: --add-dir "[^"]*none" does not exist or cannot be opened/),
  ]);
  const calls = [
    { call: { tool: "read_file", arguments: { target_file: join(added, "b.txt") } } },
    { call: { tool: "write_file", arguments: { target_file: join(added, "c.txt"), content: "c\n" } } },
  ];
  const server = await startServer({
    cwd,
    script: { turns: [{ events: calls }, { events: [{ text: "end" }] }], after: "loop" },
    args: ["--workspace", "docs", "--workspace", "code", "--add-dir", added],
  });
  for (const workspace of ["docs", "code"]) {
    const events = await readEvents(await server.chat({ message: "go", workspace, stream: true }));
    expect(JSON.stringify(events)).not.toContain("leads out of the workspace");
    expect(JSON.stringify(events)).toContain(JSON.stringify(join(added, "c.txt")).slice(1, -1));
    expect(readFileSync(join(added, "c.txt"), "utf8")).toBe("c\n");
    rmSync(join(added, "c.txt"));
  }
});
