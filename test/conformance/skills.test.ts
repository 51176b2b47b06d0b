/** Skills and commands: found, listed for the model, sent by name; those of a repository only with trust. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Notice } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { missingBubblewrap } from "../support/bubblewrap.ts";
import { skipIfMissing, unless } from "../support/describe-where.ts";
import { createModelServer } from "../support/model-server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const skill = (description: string, body: string, more = ""): string =>
  `---\nname: flowers\ndescription: ${description}\n${more}---\n\n# Flowers\n\n${body}\n`;

/** A user with some files, and a repository with others. */
function createPlace(user: Readonly<Record<string, string>>, repository: Readonly<Record<string, string>> = {}) {
  const cwd = folders.newFolder(repository);
  execFileSync("git", ["init", "-q", cwd]);
  const home = folders.newFolder(user);
  return { cwd, home };
}

/** The note and the notices of the only session, as the log has them. */
async function readStart(place: { readonly cwd: string; readonly home: string }, stdout: string) {
  const { session_id } = JSON.parse(stdout.trim().split("\n").at(-1)!) as { session_id: string };
  const exported = await runSheaf(["export", session_id], place);
  const { responses } = JSON.parse(exported.stdout) as { responses: { events: unknown[] }[] };
  return responses.at(-1)!.events[0] as {
    readonly prompt: string;
    readonly commandNote?: string;
    readonly notices?: readonly Notice[];
  };
}

const ask = ["--model", "offline", "--output-format", "json", "--sandbox", "disabled"];

describe("commands", () => {
  test(verifies("C91", "a name gives its text, with what follows it filled in"), async () => {
    const place = createPlace({
      "commands/fix.md":
        "---\ndescription: Fix an issue\nargument-hint: ISSUE\n---\nFix $ARGUMENTS. First $1, then $2, not $3 or $10.\n!`touch ran`\n",
    });
    const { stdout, code } = await runSheaf(["-p", '/fix 12 "the $1 docs"', ...ask], place);
    expect(code).toBe(0);
    const start = await readStart(place, stdout);
    expect(start.prompt).toBe('/fix 12 "the $1 docs"');
    expect(start.commandNote).toBe(
      "The user typed /fix. The instructions of this command:\n\n" +
        'Fix 12 "the $1 docs". First 12, then the $1 docs, not  or $10.\n!`touch ran`',
    );
    expect(() => readFileSync(join(place.cwd, "ran"))).toThrow("ENOENT");
  });

  test(verifies("C91", "what stdin brings is context, and names no command itself"), async () => {
    const place = createPlace({ "commands/fix.md": "Fix $1.\n" });
    const both = await runSheaf(["-p", "/fix it", ...ask], { ...place, input: "a diff\n" });
    expect(await readStart(place, both.stdout)).toMatchObject({
      prompt: "a diff\n\n/fix it",
      commandNote: expect.stringContaining("\n\nFix it."),
    });
    const piped = await runSheaf(["-p", ...ask], { ...place, input: "/fix it\n" });
    const start = await readStart(place, piped.stdout);
    expect(start.prompt).toBe("/fix it");
    expect(start).not.toHaveProperty("commandNote");
  });

  test(verifies("C91", "paths and unknown names go to the model as they are"), async () => {
    const place = createPlace({ "commands/fix.md": "Fix it.\n" });
    for (const [prompt, notices] of [
      ["/usr/bin is full", undefined],
      [
        "/users gives 500",
        ["the command /users does not exist (sheaf skills lists them): the message went to the model as it is"],
      ],
    ] as const) {
      const { stdout } = await runSheaf(["-p", prompt, ...ask], place);
      const start = await readStart(place, stdout);
      expect(start.prompt).toBe(prompt);
      expect(start.commandNote).toBeUndefined();
      expect(start.notices?.map(({ message }) => message)).toEqual(notices);
    }
  });
});

describe("skills", () => {
  test(verifies(["C90", "C91"], "the model sees names, and reads the rest when it needs it"), async () => {
    const place = createPlace({
      "skills/flowers/SKILL.md": skill("Water the flowers", "Read notes/water.md, then pour."),
      "skills/flowers/notes/water.md": "Two litres.\n",
      "skills/secret/SKILL.md":
        "---\nname: secret\ndescription: For people\ndisable-model-invocation: true\n---\nHush.\n",
    });
    const server = await createModelServer();
    try {
      await runSheaf(
        ["-p", "Hello", "--model", "openai/m", "--base-url", server.url, "--api-key", "k", "--output-format", "json"],
        place,
      );
      const request = server.requests.map(({ body }) => body).join("");
      expect(request).toContain("read it with read_skill first and follow it:\\n- flowers: Water the flowers");
      expect(request).not.toContain("For people");
      expect(request).not.toContain("then pour");
    } finally {
      await server.close();
    }
  });

  test(verifies("C90", "read_skill reads the files of its skills, and no others"), async () => {
    const place = createPlace({
      "skills/flowers/SKILL.md": skill("Water the flowers", "Read notes/water.md, then pour."),
      "skills/flowers/notes/water.md": "Two litres.\n",
      "credentials.json": "{}\n",
    });
    const calls = [
      {},
      { file: "notes/water.md" },
      { file: "../../credentials.json" },
      { file: "/etc/hostname" },
      { name: "no" },
    ];
    const events = calls.map((each) => ({ call: { tool: "read_skill", arguments: { name: "flowers", ...each } } }));
    const file = join(place.cwd, "script.json");
    writeFileSync(
      file,
      JSON.stringify({
        turns: [{ events: [{ calls: events.map(({ call }) => call) }] }, { events: [{ text: "Done." }] }],
      }),
    );
    const { stdout } = await runSheaf(["-p", "Go", "--model", `scripted:${file}`], place);
    const text = JSON.stringify(parseStream(stdout));
    expect(text).toContain("then pour.");
    expect(text).toContain("for read_skill: notes/water.md");
    expect(text).toContain("Two litres.");
    expect(text.match(/is not a text file of the skill flowers: notes\/water.md/g)?.length).toBeGreaterThanOrEqual(2);
    expect(text).toContain('there is no skill \\"no\\": use one of flowers');
  });

  test(verifies("C90", "without any, no request has a word of them"), async () => {
    const place = createPlace({}, { ".claude/skills/flowers/SKILL.md": skill("Water", "Pour.") });
    const server = await createModelServer();
    try {
      await runSheaf(
        [
          "-p",
          "/flowers",
          "--model",
          "openai/m",
          "--base-url",
          server.url,
          "--api-key",
          "k",
          "--output-format",
          "json",
        ],
        place,
      );
      expect(server.requests.map(({ body }) => body).join("")).not.toMatch(/skill|Pour/i);
    } finally {
      await server.close();
    }
  });
});

test(verifies(["S-146", "C92"], "of a repository they count with trust alone, and links lead nowhere"), async () => {
  const place = createPlace(
    { "commands/review.md": "Mine.\n", "commands/bad name.md": "x\n" },
    {
      ".claude/commands/review.md": "Theirs.\n",
      ".cursor/commands/deep/tidy.md": "Tidy up.\n",
      ".agents/skills/none/SKILL.md": "No head.\n",
      "elsewhere.md": "Outside.\n",
    },
  );
  mkdirSync(join(place.cwd, ".sheaf/commands"), { recursive: true });
  symlinkSync("../../elsewhere.md", join(place.cwd, ".sheaf/commands/link.md"));
  const list = async (...flags: string[]) => {
    const { stdout } = await runSheaf(["skills", "--json", ...flags], place);
    return JSON.parse(stdout) as {
      readonly skills: { readonly name: string; readonly source: string }[];
      readonly unused: { readonly file: string; readonly problem: string }[];
    };
  };
  expect((await list()).skills).toMatchObject([{ name: "review", source: "user" }]);
  const { skills, unused } = await list("--trust");
  expect(skills).toMatchObject([
    { name: "review", source: "user" },
    { name: "tidy", source: "repository" },
  ]);
  const problems = unused.map(({ file, problem }) => `${file.split("/").at(-1)}: ${problem}`);
  expect(problems).toEqual([
    expect.stringMatching(/^bad name.md: "bad name" is not a name/),
    expect.stringMatching(/^link.md: it is not a plain file/),
    expect.stringMatching(/^review.md: .*review.md has the same name$/),
    "SKILL.md: its head has no description",
  ]);
  const { stdout } = await runSheaf(["skills"], place);
  expect(stdout).toContain("Those of this repository are not read: it is not trusted (sheaf trust).");
});

test(
  verifies(
    "S-147",
    "commands see the user's skills in a hidden folder, change nothing there, and see nothing else of it",
  ),
  async () => {
    skipIfMissing(missingBubblewrap);
    const place = createPlace({
      "skills/flowers/SKILL.md": skill("Water the flowers", "Run say.sh."),
      "skills/flowers/say.sh": "echo said\n",
      "credentials.json": "{}\n",
    });
    symlinkSync(join(place.home, "credentials.json"), join(place.home, "skills/flowers/keys.txt"));
    const own = join(place.home, "skills/flowers");
    const command = `sh ${own}/say.sh; ls ${place.home}; cat ${own}/keys.txt; touch ${own}/new ${place.home}/new`;
    const call = { tool: "run_terminal_cmd", arguments: { command } };
    const file = join(place.cwd, "script.json");
    writeFileSync(file, JSON.stringify({ turns: [{ events: [{ call }] }, { events: [{ text: "Done." }] }] }));
    const { stdout } = await runSheaf(["-p", "--force", "Go", "--model", `scripted:${file}`], place);
    expect(stdout).toContain(String.raw`"stdout":"said\nskills\n"`);
    expect(stdout.match(/Read-only file system|Operation not permitted/g)?.length).toBeGreaterThanOrEqual(2);
    expect(existsSync(join(own, "new"))).toBe(false);
  },
);

const foreign = process.env.SHEAF_FOREIGN_SKILLS;
const reason = "there are no skills of others: set SHEAF_FOREIGN_SKILLS to a folder with skills/ and commands/";

test(verifies(["C90", "C91"], "skills and commands of others work unchanged"), async () => {
  skipIfMissing(unless(foreign !== undefined, reason));
  const place = createPlace({});
  cpSync(foreign!, place.home, { recursive: true });
  const listed = await runSheaf(["skills", "--json"], place);
  const { skills } = JSON.parse(listed.stdout) as {
    skills: { kind: string; name: string; description: string; file: string }[];
  };
  const commands = skills.filter(({ kind }) => kind === "command");
  const read = skills.filter(({ kind }) => kind === "skill");
  expect(commands.length).toBeGreaterThanOrEqual(5);
  expect(read.length).toBeGreaterThanOrEqual(5);
  const calls = read.map(({ name }) => ({ tool: "read_skill", arguments: { name } }));
  const file = join(place.cwd, "script.json");
  writeFileSync(file, JSON.stringify({ turns: [{ events: [{ calls }] }, { events: [{ text: "Done." }] }] }));
  const { stdout } = await runSheaf(["-p", "Go", "--model", `scripted:${file}`], place);
  for (const each of read) {
    expect(each.description, each.name).not.toBe("");
    const last = readFileSync(each.file, "utf8").trim().split("\n").at(-1)!;
    expect(stdout, each.name).toContain(JSON.stringify(last).slice(1, -1));
  }
  for (const { name, file: source } of commands) {
    const result = await runSheaf(["-p", `/${name} one two`, ...ask], place);
    expect(result.code, name).toBe(0);
    const { commandNote = "", prompt } = await readStart(place, result.stdout);
    expect(prompt).toBe(`/${name} one two`);
    expect(commandNote, name).not.toContain("$ARGUMENTS");
    const count = readFileSync(source, "utf8").split("$ARGUMENTS").length - 1;
    expect(commandNote.split("one two").length - 1, name).toBeGreaterThanOrEqual(count);
  }
});
