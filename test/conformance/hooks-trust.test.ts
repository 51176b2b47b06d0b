/** Hooks that a repository names: none runs without a yes of its own, bound to what it runs (S-141, S-142). */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder, parseStream, runSheaf, type SheafOptions } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const hook = (command: string, more: object = {}) => [{ hooks: [{ type: "command", command, ...more }] }];
const events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];
/** Each event leaves a marker. */
const hooks = Object.fromEntries(
  events.map((event) => [event, hook(`sh "$CLAUDE_PROJECT_DIR"/tools/mark.sh ${event}`)]),
);
const mark = '#!/bin/sh\necho "$1" >> "$CLAUDE_PROJECT_DIR/MARK"\ncat >/dev/null\n';

const script = {
  turns: [
    { events: [{ call: { tool: "write_file", arguments: { target_file: "a.txt", content: "x" } } }] },
    { events: [{ text: "done" }] },
  ],
  after: "loop",
};

function createRepository(file = ".claude/settings.json", value: unknown = { hooks }): SheafOptions & { home: string } {
  const files = { [file]: JSON.stringify(value), "tools/mark.sh": mark, "s.json": JSON.stringify(script) };
  const cwd = folders.newFolder({ ".git/HEAD": "ref: refs/heads/main\n", ...files });
  return { cwd, home: folders.newFolder() };
}

const readMarks = ({ cwd }: SheafOptions): string[] => {
  const file = join(cwd, "MARK");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};

const words = ["-p", "--model", "scripted:s.json", "go"];

/** Says yes to what `hooks trust` shows. */
async function sayYes(place: SheafOptions): Promise<string> {
  await runSheaf(["trust"], place);
  const shown = await runSheaf(["hooks", "trust"], place);
  expect([shown.code, shown.stderr]).toEqual([2, expect.stringContaining("Sheaf cannot ask without a terminal")]);
  const [, name = "", digest = ""] =
    /^(\S+): (?:not trusted|changed)[^]*digest {4}([0-9a-f]{64})/m.exec(shown.stdout) ?? [];
  const said = await runSheaf(["hooks", "trust", name, "--digest", digest], place);
  expect([said.code, said.stdout]).toEqual([0, `Trusted: ${name}\n`]);
  return shown.stdout;
}

test(
  verifies("S-141", "a repository that is trusted in every way runs none of its hooks"),
  async () => {
    for (const file of [".claude/settings.json", ".claude/settings.local.json", ".sheaf/hooks.json"]) {
      const place = createRepository(file);
      await runSheaf([...words, "--force"], place);
      await runSheaf([...words, "--force", "--trust"], place);
      await runSheaf(["trust"], place);
      const run = await runSheaf([...words, "--force"], { ...place, environment: { SHEAF_TRUST: "1" } });
      expect(parseStream(run.stdout)[0]).toMatchObject({
        notices: expect.arrayContaining([
          { code: "HOOK_NOT_RUN", message: `hooks of ${file} do not run: look at them with sheaf hooks trust` },
        ]),
      });
      expect(readMarks(place)).toEqual([]);
    }
  },
  60_000,
);

test(
  verifies(["S-142", "S-141"], "outside the sandbox, hooks of a repository never run, whatever the user said"),
  async () => {
    const place = createRepository();
    await sayYes(place);
    const run = await runSheaf([...words, "--force", "--sandbox", "disabled"], place);
    expect(parseStream(run.stdout)[0]).toMatchObject({
      notices: [{ message: expect.stringContaining("only in the sandbox") }],
    });
    expect(readMarks(place)).toEqual([]);
    const free = createRepository(".claude/settings.json", { hooks: { Stop: hook("touch MARK", { sandbox: false }) } });
    await sayYes(free);
    await runSheaf(words, free);
    expect(readMarks(free)).toEqual([]);
    const listed = await runSheaf(["hooks", "ls"], free);
    expect(listed.stdout).toContain("not run: hooks of a workspace run only in the sandbox");
  },
  60_000,
);

test(
  verifies("S-143", "a server runs no hooks of its workspaces"),
  async () => {
    const place = createRepository();
    await sayYes(place);
    const server = await startServer({ cwd: place.cwd, home: place.home, script, args: ["--trust"] });
    await (await server.chat({ message: "go" })).text();
    expect(readMarks(place)).toEqual([]);
  },
  30_000,
);

describeWithBubblewrap("in the sandbox", () => {
  test(
    verifies("S-141", "a yes is for the hooks and for the files that they name; what changes needs a new one"),
    async () => {
      const place = createRepository();
      const shown = await sayYes(place);
      expect(shown).toContain('"sh \\"$CLAUDE_PROJECT_DIR\\"/tools/mark.sh Stop" at "*", 60 s');
      expect(shown).toContain('runs the file "tools/mark.sh"');
      await runSheaf(words, place);
      expect(readMarks(place)).toEqual(events);
      for (const [file, change] of [
        ["tools/mark.sh", (text: string) => `${text}# more\n`],
        [".claude/settings.json", (text: string) => text.replace('"Stop":', '"PreCompact":')],
      ] as const) {
        const before = readFileSync(join(place.cwd, file), "utf8");
        rmSync(join(place.cwd, "MARK"));
        writeFileSync(join(place.cwd, file), change(before));
        const run = await runSheaf(words, place);
        expect(parseStream(run.stdout)[0]).toMatchObject({
          notices: [{ message: expect.stringContaining("since they have changed") }],
        });
        expect(readMarks(place)).toEqual([]);
        writeFileSync(join(place.cwd, file), before);
        await runSheaf(words, place);
        expect(readMarks(place)).toEqual(events);
      }
      const removed = await runSheaf(["trust", "--remove"], place);
      expect(removed.stdout).toContain("Not trusted any more");
      rmSync(join(place.cwd, "MARK"));
      await runSheaf([...words, "--trust"], place);
      expect(readMarks(place)).toEqual([]);
    },
    60_000,
  );

  test(
    verifies(["S-141", "S-140"], "a file that changes during the run is not run: a guard then refuses"),
    async () => {
      const place = createRepository(".sheaf/hooks.json", { hooks: { PreToolUse: hook("sh tools/mark.sh pre") } });
      const write = { tool: "write_file", arguments: { target_file: "tools/mark.sh", content: "touch OWNED" } };
      const turns = [
        { events: [{ call: write }] },
        { events: [{ call: { tool: "read_file", arguments: { target_file: "s.json" } } }] },
        { events: [{ text: "x" }] },
      ];
      writeFileSync(join(place.cwd, "s.json"), JSON.stringify({ turns }));
      await sayYes(place);
      const run = await runSheaf(words, place);
      expect(readMarks(place)).toEqual(["pre"]);
      expect(existsSync(join(place.cwd, "OWNED"))).toBe(false);
      expect(run.stdout).toContain("hook refused this call: a file that it runs has changed since you trusted it");
    },
    30_000,
  );
});

test(verifies("C85", "ls shows each hook, where it is from, and why it does not run"), async () => {
  const own = { Stop: hook("notify-send done", { sandbox: false }), PermissionRequest: hook("x") };
  const home = folders.newFolder({ "config.json": JSON.stringify({ hooks: own }) });
  const place = { ...createRepository(), home };
  const untrusted = await runSheaf(["hooks"], place);
  expect(untrusted.stdout.split("\n")).toEqual([
    "Stop  notify-send done  [config, outside the sandbox]",
    "PermissionRequest  [config] not run: Sheaf has no such event",
    "The workspace is not trusted: none of its hooks runs, if it has any.",
    "",
  ]);
  const rows = JSON.parse((await runSheaf(["hooks", "ls", "--json", "--trust"], place)).stdout) as object[];
  expect(rows).toHaveLength(2 + events.length);
  expect(rows.at(-1)).toEqual({
    event: "SessionEnd",
    matcher: "",
    command: 'sh "$CLAUDE_PROJECT_DIR"/tools/mark.sh SessionEnd',
    source: ".claude/settings.json",
    runs: false,
    sandbox: true,
    timeout_seconds: 60,
    problem: "not trusted: sheaf hooks trust",
  });
});

test(
  verifies("C86", "test runs the hooks of an event, and shows what each would do"),
  async () => {
    const guard = `grep -q '"file_path":"[^"]*/.env"' && { echo closed >&2; exit 2; }; echo '{"systemMessage":"seen"}'`;
    const own = { PreToolUse: [{ matcher: "Read", ...hook(guard)[0] }], UserPromptSubmit: hook("cat") };
    const home = folders.newFolder({ "config.json": JSON.stringify({ hooks: own }) });
    const place = { cwd: folders.newFolder({ "config.json": "{" }), home };
    const run = (...more: string[]) => runSheaf(["hooks", "test", ...more, "--sandbox", "disabled"], place);
    const refused = await run("PreToolUse", "--tool", "Read", "--input", '{"file_path":".env"}');
    expect(refused.stdout).toMatch(/exit code 2, \d+ ms\n {2}decision {2}block: closed\n$/);
    const passed = await run("PreToolUse", "--tool", "read_file", "--input", '{"target_file":"a"}');
    expect(passed.stdout).toMatch(/exit code 0, \d+ ms\n {2}notice {2}PreToolUse hook \(.*\): seen\n$/);
    expect((await run("PreToolUse", "--tool", "Write")).stdout).toBe(
      "No hook runs at PreToolUse of the tool Write (sheaf hooks ls).\n",
    );
    const [result] = JSON.parse((await run("UserPromptSubmit", "--input", '{"prompt":"hi"}', "--json")).stdout) as {
      context: string;
    }[];
    // Plain JSON of a hook is an answer: this one has none of its fields.
    expect(result).toMatchObject({ event: "UserPromptSubmit", exitCode: 0, status: "success" });
    for (const wrongWords of [["x"], ["PreToolUse"], ["Stop", "--tool", "Read"], ["Stop", "--input", "1"]]) {
      const wrong = await run(...wrongWords);
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/^sheaf: USAGE: /)]);
    }
  },
  30_000,
);
