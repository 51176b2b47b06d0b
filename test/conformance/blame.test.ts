/** `sheaf blame`, through the built command line. */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const edit = (file: string, from: string, to: string) => ({
  call: { tool: "edit_file", arguments: { target_file: file, edits: [{ old_string: from, new_string: to }] } },
});

function createPlace(files: Readonly<Record<string, string>>) {
  const cwd = folders.newFolder(files);
  const home = folders.newFolder();
  const git = (...words: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=a@b.c", ...words], { cwd, encoding: "utf8" });
  const run = (...words: readonly string[]) => runSheaf(words, { cwd, home });
  return {
    cwd,
    git,
    run,
    /** Gives the session. */
    async prompt(events: readonly object[], prompt: string, ...flags: readonly string[]): Promise<string> {
      const script = join(home, "s.json");
      const turns = [{ events }, { events: [{ text: "Done." }] }];
      writeFileSync(script, JSON.stringify({ turns, after: "loop" }));
      const { stdout, code } = await run("-p", "--model", `scripted:${script}`, ...flags, prompt);
      expect(code).toBe(0);
      return String(parseStream(stdout)[0]!.session_id);
    },
    async blame(word: string) {
      const { ranges } = JSON.parse((await run("blame", word, "--json")).stdout) as { ranges: Range[] };
      return ranges;
    },
  };
}

interface Range {
  readonly start_line: number;
  readonly end_line: number;
  readonly by: string;
  readonly session_id?: string;
  readonly prompt?: string;
  readonly commit?: string;
  readonly author?: string;
}

const toShort = (ranges: readonly Range[]): unknown[] =>
  ranges.map(({ start_line, end_line, by, prompt, author }) => [start_line, end_line, by, prompt ?? author]);

test(verifies("C195", "a line shows its session, call, prompt and model, a person's line its commit"), async () => {
  const place = createPlace({ "a.txt": "one\r\ntwo\r\nthree" });
  place.git("init", "-q");
  place.git("add", "-A");
  place.git("commit", "-q", "-m", "start");
  const session = await place.prompt([edit("a.txt", "two", "TWO\r\nand a half")], "Count on");
  appendFileSync(join(place.cwd, "a.txt"), "\nmine");
  expect(toShort(await place.blame("a.txt"))).toEqual([
    [1, 1, "person", "Ann"],
    [2, 3, "sheaf", "Count on"],
    [4, 4, "person", "Ann"],
    [5, 5, "person", undefined],
  ]);
  const text = (await place.run("blame", "a.txt")).stdout.split("\n");
  expect(text[1]).toMatch(new RegExp(`^${session.slice(0, 8)}  edit_file           \\d{4}-\\d\\d-\\d\\d  2  TWO$`));
  const line = await place.run("blame", "a.txt:3");
  expect(line.stdout).toMatch(new RegExp(`session_id +${session}\n[^]*tool +edit_file\n[^]*prompt +Count on\n`));

  // The lines of a reverted response are nobody's, and a later person may write the same.
  expect((await place.run("revert", session, "--on-conflict", "leave")).code).toBe(0);
  expect(toShort(await place.blame("a.txt:2"))).toEqual([[2, 2, "person", undefined]]);
});

test(verifies("C196", "a renamed file, a checkout and a merged working tree keep their calls"), async () => {
  const place = createPlace({ "a.txt": "one\ntwo\nthree\n" });
  place.git("init", "-q");
  place.git("config", "user.name", "Ann");
  place.git("config", "user.email", "a@b.c");
  place.git("add", "-A");
  place.git("commit", "-q", "-m", "start");
  await place.prompt([edit("a.txt", "three", "THREE")], "In a tree", "--worktree", "side");
  place.git("merge", "-q", "sheaf/side");
  await place.prompt([edit("a.txt", "one", "ONE")], "In the folder");
  place.git("mv", "a.txt", "b.txt");
  place.git("commit", "-q", "-a", "-m", "all");
  writeFileSync(join(place.cwd, "b.txt"), "nothing\n");
  place.git("checkout", "-q", "b.txt");
  expect(toShort(await place.blame("b.txt"))).toEqual([
    [1, 1, "sheaf", "In the folder"],
    [2, 2, "person", "Ann"],
    [3, 3, "sheaf", "In a tree"],
  ]);
});

test(verifies("C197", "notes and records name the calls; a place without lines is a usage error"), async () => {
  const place = createPlace({ "a.txt": "one\ntwo\n", "b.bin": "\0\0", "e.txt": "" });
  mkdirSync(join(place.cwd, "folder"));
  place.git("init", "-q");
  const session = await place.prompt([edit("a.txt", "two", "TWO")], "Count");
  const record = async () => JSON.parse((await place.run("blame", "a.txt", "--format", "agent-trace")).stdout);
  const files = [
    {
      path: "a.txt",
      conversations: [
        expect.objectContaining({
          url: `urn:uuid:${session}`,
          contributor: { type: "ai", model_id: "scripted:s" },
          ranges: [{ start_line: 2, end_line: 2 }],
        }),
      ],
    },
  ];
  expect(await record()).toMatchObject({ version: "0.1", files });
  expect((await record()).vcs).toBeUndefined();
  const refused = await place.run("blame", "a.txt", "--notes");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("commit a.txt first")]);
  place.git("add", "-A");
  place.git("commit", "-q", "-m", "all");
  for (let time = 0; time < 2; time += 1) expect((await place.run("blame", "a.txt", "--notes")).code).toBe(0);
  const notes = place.git("notes", "--ref=agent-trace", "show", "HEAD").trim().split("\n");
  expect(notes).toHaveLength(1);
  const revision = place.git("rev-parse", "HEAD").trim();
  expect(JSON.parse(notes[0]!)).toMatchObject({ vcs: { type: "git", revision }, files });
  expect(notes[0]).not.toContain("Count");

  const before = readFileSync(join(place.cwd, "a.txt"), "utf8");
  for (const [word, message] of [
    ["a.txt:3", "a.txt:3 does not exist, the file has 2 lines: write a line from 1 to 2"],
    ["a.txt:0", "write a line from 1 to 2"],
    ["e.txt:1", "the file has 0 lines: it is empty"],
    ["no.txt", "no.txt does not exist: give the path of a file"],
    ["folder", "folder is not a file"],
    ["b.bin", "b.bin is not a text file"],
  ] as const) {
    const { code, stderr } = await place.run("blame", word);
    expect([word, code, stderr]).toEqual([word, 2, expect.stringContaining(message)]);
  }
  expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe(before);
});
