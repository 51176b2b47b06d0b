/** `sheaf revert`: files and history of a response are reverted, through the built command line. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";

const folders = createTestFolder();

const edit = (file: string, from: string, to: string) => ({
  call: { tool: "edit_file", arguments: { target_file: file, edits: [{ old_string: from, new_string: to }] } },
});
const create = (file: string) => ({
  call: { tool: "write_file", arguments: { target_file: file, content: "new\n" } },
});

/** A workspace, and runs of scripted models in one session of it. */
async function createSession(files: Readonly<Record<string, string>>) {
  const cwd = folders.newFolder(files);
  const home = folders.newFolder();
  let session: string | undefined;
  const run = (...args: string[]) => runSheaf(args, { cwd, home });
  return {
    cwd,
    home,
    run,
    get session() {
      return session!;
    },
    read: (file: string) => readFileSync(join(cwd, file), "utf8"),
    async prompt(events: readonly object[], ...args: string[]) {
      const script = join(home, "script.json");
      writeFileSync(script, JSON.stringify({ turns: [{ events }, { events: [{ text: "Done." }] }], after: "loop" }));
      const resume = session === undefined ? [] : [`--resume=${session}`];
      const result = await run("-p", "--model", `scripted:${script}`, ...resume, ...args, "go");
      expect([result.code, result.stderr]).toEqual([0, ""]);
      const last = parseStream(result.stdout).at(-1)!;
      session ??= String(last.session_id);
      return String(last.request_id);
    },
  };
}

test("the last response goes first; a named one takes those after it along", async () => {
  const session = await createSession({ "a.txt": "zero\n" });
  await session.prompt([edit("a.txt", "zero", "one")]);
  const second = await session.prompt([edit("a.txt", "one", "two"), create("b.txt")]);
  await session.prompt([edit("a.txt", "two", "three")]);

  const last = await session.run("revert", session.session);
  expect([last.code, last.stderr]).toEqual([0, ""]);
  expect(last.stdout).toBe("Reverted: 1 response.\n  restored   a.txt\n");
  expect(session.read("a.txt")).toBe("two\n");

  const named = await session.run("revert", session.session, "--to", second, "--format", "json");
  expect(JSON.parse(named.stdout)).toEqual({
    reverted: true,
    responseIds: [`chat_${second}`],
    files: [
      { filePath: "a.txt", action: "restored" },
      { filePath: "b.txt", action: "removed" },
    ],
    conflicts: [],
  });
  expect([session.read("a.txt"), existsSync(join(session.cwd, "b.txt"))]).toEqual(["one\n", false]);

  // One response is left: to show, and to go on with.
  const shown = await session.run("show", session.session, "--output-format", "documents");
  expect(shown.stdout.trim().split("\n")).toHaveLength(1);
  await session.prompt([edit("a.txt", "one", "other")]);
  expect(session.read("a.txt")).toBe("other\n");
});

test("files that have changed since stop it with code 8 and their names, until it is said what to do", async () => {
  const session = await createSession({ "a.txt": "zero\n", "b.txt": "zero\n" });
  await session.prompt([edit("a.txt", "zero", "one"), edit("b.txt", "zero", "one")]);
  writeFileSync(join(session.cwd, "b.txt"), "the user's\n");
  const refused = await session.run("revert", session.session);
  expect([refused.code, refused.stdout]).toEqual([8, ""]);
  expect(refused.stderr).toMatch(
    /^sheaf: PERMISSION_REQUIRED: nothing was reverted, b\.txt: .*--on-conflict leave.*\n$/,
  );
  expect([session.read("a.txt"), session.read("b.txt")]).toEqual(["one\n", "the user's\n"]);
  const forced = await session.run("revert", session.session, "--overwrite");
  expect(forced.code).toBe(0);
  expect([session.read("a.txt"), session.read("b.txt")]).toEqual(["zero\n", "zero\n"]);
});

test(
  verifies("R-78", "a file that cannot be restored stops even --overwrite, which then advises only what helps"),
  async () => {
    const text = `nil\n${randomBytes(20_000).toString("hex")}\n`;
    const session = await createSession({ "a.txt": "zero\n", "b.txt": text });
    await session.prompt([edit("a.txt", "zero", "one"), edit("b.txt", "nil", "one")]);
    const id = execFileSync("git", ["hash-object", "--stdin"], { input: text, encoding: "utf8" }).trim();
    const names = readdirSync(session.home, { recursive: true }).map(String);
    const object = names.find((name) => name.endsWith(`objects/${id.slice(0, 2)}/${id.slice(2)}`)) ?? "";
    truncateSync(join(session.home, object), 5000);
    const { code, stderr } = await session.run("revert", session.session, "--overwrite");
    const advice =
      /the revert is not complete, b\.txt: .* is damaged: mend that and revert again, or write --on-conflict leave/;
    expect([code, stderr]).toEqual([8, expect.stringMatching(advice)]);
    expect([session.read("a.txt"), session.read("b.txt")]).toEqual(["zero\n", text.replace("nil", "one")]);
    expect((await session.run("revert", session.session, "--on-conflict", "leave")).code).toBe(0);
  },
);

test("a run that keeps nothing on the disk keeps no contents of files either", async () => {
  const session = await createSession({ "a.txt": "zero\n" });
  await session.prompt([edit("a.txt", "zero", "one")], "--no-save");
  expect(existsSync(join(session.home, "undo"))).toBe(false);
});

test("a word that names no response is a usage error that says what to write", async () => {
  const session = await createSession({ "a.txt": "zero\n" });
  await session.prompt([edit("a.txt", "zero", "one")]);
  for (const args of [["no-uuid"], ["--to", "no-uuid"]]) {
    const { code, stdout, stderr } = await session.run("revert", session.session, ...args);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining("use the request_id")]);
  }
});

test(verifies("R-76", "a run records its changes while a slow model answers, and at its end"), async () => {
  const cwd = folders.newFolder({ "a.txt": "zero\n" });
  const home = folders.newFolder();
  const turns = [
    { events: [edit("a.txt", "zero", "one")] },
    { events: [{ wait_ms: 1500 }, edit("a.txt", "one", "two")] },
    { events: [{ text: "Done." }] },
  ];
  writeFileSync(join(home, "script.json"), JSON.stringify({ turns }));
  const result = await runSheaf(["-p", "--trust", "--model", `scripted:${join(home, "script.json")}`, "go"], {
    cwd,
    home,
  });
  expect([result.code, result.stderr]).toEqual([0, ""]);
  const names = readdirSync(home, { recursive: true }).map(String);
  const [store = ""] = names.filter((name) => /undo\/[^/]+\/HEAD$/.test(name)).map((name) => join(home, name, ".."));
  const log = execFileSync("git", ["--git-dir", store, "log", "--all", "--reverse", "--format=%H"], {
    encoding: "utf8",
  });
  const texts = log
    .trim()
    .split("\n")
    .map((id) => execFileSync("git", ["--git-dir", store, "show", `${id}:files/a.txt`], { encoding: "utf8" }));
  expect(texts).toEqual(["zero\n", "one\n", "two\n"]);
});
