/** Sessions on the command line: made, listed, taken along, told wrongly. */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { createSqliteStore } from "../../packages/store/src/sqlite.ts";
import { createTestFolder, runSheaf, toLines } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const hostile = "<img src=x onerror=alert(1)> </script> **bold** \u001B[31m\n```\n# heading";

/** A folder with its own store, and one session in it. */
async function createSession(prompt = "Read README.md"): Promise<{ cwd: string; home: string; session: string }> {
  const cwd = folders.newFolder({ "README.md": "# Wordy\n\nCounts words.\n" });
  const home = join(cwd, ".home");
  const created = await runSheaf(["create-chat"], { cwd, home });
  const session = created.stdout.trim();
  const args = ["-p", "--model", "offline", "--output-format", "json", "--resume", session, prompt];
  const { code, stdout } = await runSheaf(args, { cwd, home });
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as { session_id: string }).session_id).toBe(session);
  return { cwd, home, session };
}

describe("ls", () => {
  test(
    verifies(["C14", "C31"], "lists the sessions of the workspace, newest first; --all those of others too"),
    async () => {
      const { cwd, home, session } = await createSession();
      const other = folders.newFolder({ "README.md": "# Other\n" });
      await runSheaf(["-p", "--model", "offline", "Read README.md"], { cwd: other, home });
      const here = await runSheaf(["ls", "--json"], { cwd, home });
      expect(JSON.parse(here.stdout)).toMatchObject([{ session_id: session, title: "Read README.md", workspace: cwd }]);
      const all = await runSheaf(["ls", "--all", "--format", "json"], { cwd, home });
      expect((JSON.parse(all.stdout) as { workspace: string }[]).map(({ workspace }) => workspace)).toEqual([
        other,
        cwd,
      ]);
      const text = await runSheaf(["ls"], { cwd, home });
      expect(text.stdout).toMatch(new RegExp(`^${session}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  Read README.md\n$`));
    },
  );

  test(verifies("C11", "a title cannot steer the terminal"), async () => {
    const { cwd, home } = await createSession(`\u001B[31mRead README.md\u001B]0;x\u0007`);
    const { stdout } = await runSheaf(["ls"], { cwd, home });
    // oxlint-disable-next-line no-control-regex -- these are the characters that must not pass
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/);
  });

  test(verifies("C14", "says that there are more than it shows; a program gets all of them"), async () => {
    const cwd = folders.newFolder();
    const home = join(cwd, ".home");
    await runSheaf(["ls"], { cwd, home });
    const store = createSqliteStore(join(home, "sheaf.db"));
    for (let count = 0; count < 51; count += 1) {
      const conversationId = `conv_${randomUUID()}`;
      await store.createResponse({ id: `chat_${count}`, conversationId, workspace: cwd, title: "t", createdAt: count });
    }
    await store.close();
    const text = toLines((await runSheaf(["ls"], { cwd, home })).stdout);
    expect(text.length).toBe(51);
    expect(text.at(-1)).toBe("There are more: sheaf ls --limit 999999 lists them.\n");
    expect(toLines((await runSheaf(["ls", "--limit", "50"], { cwd, home })).stdout).length).toBe(50);
    expect(toLines((await runSheaf(["ls", "--limit", "51"], { cwd, home })).stdout).length).toBe(51);
    expect(JSON.parse((await runSheaf(["ls", "--json"], { cwd, home })).stdout)).toHaveLength(51);
  });

  test("says what to do where there is none", async () => {
    const cwd = folders.newFolder();
    const { code, stdout } = await runSheaf(["ls"], { cwd, home: join(cwd, "home") });
    expect([code, stdout]).toEqual([
      0,
      "There is no session of this workspace (sheaf ls --all shows those of others).\n",
    ]);
  });
});

describe("export", () => {
  test(verifies("C31", "JSON goes into another store, and shows the same bytes there in every format"), async () => {
    const { cwd, home, session } = await createSession();
    const file = join(cwd, "session.json");
    expect((await runSheaf(["export", session, "--output", file], { cwd, home })).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const elsewhere = join(cwd, ".elsewhere");
    const imported = await runSheaf(["import", file], { cwd, home: elsewhere });
    expect([imported.code, imported.stdout, imported.stderr]).toEqual([0, `${session}\n`, ""]);
    for (const format of ["text", "json", "stream-json", "documents", "documents-stream"]) {
      const args = ["show", session, "--output-format", format];
      const [one, two] = await Promise.all([runSheaf(args, { cwd, home }), runSheaf(args, { cwd, home: elsewhere })]);
      expect(two.stdout).toBe(one.stdout);
      expect(one.stdout).not.toBe("");
    }
    const goOn = ["-p", "--model", "offline", "--output-format", "json", "--resume", session, "Read README.md"];
    expect((await runSheaf(goOn, { cwd, home: elsewhere })).code).toBe(0);
  });

  test("Markdown holds the whole conversation", async () => {
    const { cwd, home, session } = await createSession(`Read README.md ${hostile}`);
    const markdown = (await runSheaf(["export", session, "--format", "markdown"], { cwd, home })).stdout;
    expect(markdown).toContain("### read\\_file");
    expect(markdown).toContain("Counts words.");
  });
});

describe("fork and rm", () => {
  test(verifies("C14", "a fork goes on by itself, and what is removed is gone"), async () => {
    const { cwd, home, session } = await createSession();
    const forked = await runSheaf(["fork", session], { cwd, home });
    expect([forked.code, forked.stderr]).toEqual([0, ""]);
    const fork = forked.stdout.trim();
    expect(fork).not.toBe(session);
    const goOn = ["-p", "--model", "offline", "--output-format", "json", "--resume", fork, "Read README.md"];
    expect((await runSheaf(goOn, { cwd, home })).code).toBe(0);
    const count = async (id: string): Promise<number> =>
      (await runSheaf(["show", id, "--output-format", "json"], { cwd, home })).stdout.trimEnd().split("\n").length;
    expect([await count(session), await count(fork)]).toEqual([1, 2]);
    expect((await runSheaf(["rm", session], { cwd, home })).code).toBe(0);
    expect((await runSheaf(["show", session], { cwd, home })).code).toBe(2);
    expect(await count(fork)).toBe(2);
    expect((await runSheaf(["rm", fork, session], { cwd, home })).stderr).toContain(
      `the session ${session} is not stored`,
    );
    expect(await count(fork)).toBe(2);
  });
});

describe("an id", () => {
  test(verifies("C14", "may be shortened, and have its conv_ or chat_, wherever one is named"), async () => {
    const { cwd, home, session } = await createSession();
    const run = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await runSheaf(args, { cwd, home });
      expect([code, stderr], args.join(" ")).toEqual([0, ""]);
      return stdout;
    };
    const json = ["-p", "--model", "offline", "--output-format", "json"];
    const short = session.slice(0, 8);
    const second = JSON.parse(await run(...json, "--resume", short, "Read README.md")) as Record<string, string>;
    expect(second.session_id).toBe(session);
    expect(await run("export", `conv_${session}`)).toBe(await run("export", short));
    expect(await run("show", `chat_${second.request_id}`)).toBe(await run("show", session));
    expect(await run("fork", short, second.request_id!.slice(0, 6))).toMatch(/^[0-9a-f-]{36}\n$/);
    await run("rm", short, `conv_${session}`);
    expect(await run("ls", "--json")).not.toContain(session);
  });

  test(verifies(["C14", "C21"], "is on stderr after a failure in json, and continues the session"), async () => {
    const cwd = folders.newFolder({
      "s.json":
        '{"turns":[{"events":[{"text":"half"},{"error":{"code":"OVERLOADED","message":"busy"}}]},{"events":[{"text":"whole"}]}]}',
    });
    const args = ["-p", "--model", "scripted:s.json", "--output-format", "json"];
    const failed = await runSheaf([...args, "go"], { cwd });
    expect([failed.code, failed.stdout]).toEqual([5, ""]);
    const [, session = ""] = /^sheaf: OVERLOADED: [^\n]+ \(session ([0-9a-f-]{36})\)\n$/.exec(failed.stderr) ?? [];
    const { stdout } = await runSheaf([...args, "--resume", session, "go on"], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ session_id: session, result: "whole" });
    // An empty variable, and one that was never set in a shell or in JSON.
    for (const word of ["", "null", "undefined"]) {
      const wrong = await runSheaf([...args, "--resume", word, "go on"], { cwd });
      expect([wrong.code, wrong.stdout], word).toEqual([2, ""]);
    }
  });
});

describe("what is given wrongly", () => {
  const id = "123e4567-e89b-42d3-a456-426614174000";
  test("an import that is none stores nothing", async () => {
    const event = { type: "run_start", seq: 1, time: 1, responseId: `chat_${id}`, conversationId: `conv_${id}` };
    const text = JSON.stringify({
      sheafExport: 1,
      conversation: { id: `conv_${id}`, workspace: "/w", title: "t", createdAt: 1 },
      responses: [{ id: `chat_${id}`, createdAt: 1, events: [event] }],
    });
    const cwd = folders.newFolder({ "bad.json": text });
    const home = join(cwd, "home");
    const { code, stderr } = await runSheaf(["import", "bad.json"], { cwd, home });
    expect([code, stderr]).toEqual([2, expect.stringContaining("bad.json is not an export of Sheaf (")]);
    expect(stderr).toContain("does not end with run_end");
    expect((await runSheaf(["ls", "--all", "--json"], { cwd, home })).stdout).toBe("[]\n");
  });
});

describe("what is known of this machine", () => {
  test("doctor names what is broken, with exit code 1", async () => {
    const cwd = folders.newFolder({
      "h/config.json": "{",
      "h/sheaf.db": "no database, but long enough to be looked at",
    });
    const { code, stdout } = await runSheaf(["doctor"], { cwd, home: join(cwd, "h") });
    expect(code).toBe(1);
    expect(stdout).toMatch(/fail {2}configuration .*config\.json is not valid at line 1/);
    expect(stdout).toMatch(/fail {2}storage /);
  });

  test("config explain tells where each value came from, and shows no key", async () => {
    const config = { model: "offline", budgets: { maxTurns: 7 }, mcpServers: { files: { command: "secret-3" } } };
    const cwd = folders.newFolder({ "h/config.json": JSON.stringify(config) });
    const flags = [
      "--mode",
      "ask",
      "--api-key",
      "secret-key-1",
      "-H",
      "Authorization: secret-2",
      "--add-dir",
      "../docs",
    ];
    const { stdout } = await runSheaf(["config", "explain", "--json", ...flags], {
      cwd,
      home: join(cwd, "h"),
      environment: { SHEAF_MODEL: "ollama/x" },
    });
    expect(stdout).not.toContain("secret");
    expect(JSON.parse(stdout)).toEqual(
      expect.arrayContaining([
        { name: "model", value: "ollama/x", source: "SHEAF_MODEL" },
        { name: "mode", value: "ask", source: "--mode" },
        { name: "max turns", value: 7, source: "config" },
        { name: "timeout (s)", value: null, source: "default" },
        { name: "added folders", value: "../docs", source: "--add-dir" },
        { name: "MCP servers", value: "files", source: "config" },
        { name: "force", value: "off", source: "default" },
        { name: "configuration", value: join(cwd, "h/config.json"), source: "SHEAF_HOME" },
      ]),
    );
  });

  test("the schema of the configuration takes what Sheaf takes, and nothing else", async () => {
    const cwd = folders.newFolder();
    const { code, stdout } = await runSheaf(["schema", "config"], { cwd });
    expect(code).toBe(0);
    const validate = new Ajv2020({ strict: false }).compile(JSON.parse(stdout) as object);
    expect(validate({ model: "offline", budgets: { maxTurns: 3 }, mcpServers: { a: { command: "x" } } })).toBe(true);
    expect(validate({ modle: "offline" })).toBe(false);
    expect(validate({ budgets: { maxTurns: "three" } })).toBe(false);
  });

  test("help of a command has two spellings, and names its flags", async () => {
    const cwd = folders.newFolder();
    const own = await runSheaf(["export", "--help"], { cwd });
    expect(toLines(own.stdout)[0]).toBe("sheaf export SESSION\n");
    expect((await runSheaf(["help", "export"], { cwd })).stdout).toBe(own.stdout);
    // What a flag does in other commands is in their help.
    expect(own.stdout).toMatch(/--format json\|markdown +json is the default\n/);
  });
});
