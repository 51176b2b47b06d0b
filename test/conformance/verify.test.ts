/** `--verify` through the real program, in its sandbox: a run succeeds only if its commands pass. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { openApp } from "../support/open-app.ts";
import { createTestFolder, parseStream, type ProgramOptions, runProgram, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const check = "echo checking; test -e done.txt";
const text = (value: string) => ({ events: [{ text: value }] });
const write = {
  events: [{ text: "Now. " }, { call: { tool: "write_file", arguments: { target_file: "done.txt", content: "1" } } }],
};
const passed = (rounds: number) => [{ command: check, passed: true, exitCode: 0, rounds }];

/** A workspace, and runs of a model with these turns in it. */
function createProject(turns: readonly object[], agents: object = {}) {
  const cwd = folders.newFolder({ "a.txt": "one\n" });
  const home = folders.newFolder();
  const script = join(home, "script.json");
  const run = async (args: readonly string[], options: Partial<ProgramOptions> = {}, next = turns) => {
    writeFileSync(script, JSON.stringify({ turns: next, agents }));
    const words = ["-p", "--model", `scripted:${script}`, ...args, "go"];
    const result = await (options.wrapper ? runProgram : runSheaf)(words, { cwd, home, ...options });
    const isStream = result.stdout.startsWith('{"type":"system"');
    return { ...result, lines: isStream ? parseStream(result.stdout) : [], home };
  };
  return { cwd, home, run };
}

const lie = [text("Done."), text("Really done."), text("It is done.")];

describeWithBubblewrap("what verifies a run", () => {
  test(
    verifies(["C168", "C20", "C22"], "a model that only says that it is done: exit code 11, in every format"),
    async () => {
      const { run, cwd, home } = createProject(lie);
      const verify = [{ command: check, passed: false, exitCode: 1, rounds: 2 }];
      const message = `"${check}", which verifies the run, failed with exit code 1 after 2 rounds of repair: checking`;
      const { code, stderr, lines } = await run(["--verify", check]);
      expect([code, stderr]).toEqual([11, `sheaf: VERIFY_FAILED: ${message}\n`]);
      const failure = { is_error: true, error: { code: "VERIFY_FAILED", message, retryable: false }, verify };
      expect(lines.at(-1)).toMatchObject({ ...failure, result: "Done.Really done.It is done." });
      expect(lines.filter(({ subtype }) => subtype === "hook")).toHaveLength(3);
      const json = await run(["--verify", check, "--output-format", "json", "--verify-rounds", "0"]);
      expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
        11,
        { result: "Done.", verify: [{ passed: false, rounds: 0 }] },
      ]);
      const plain = await run(["--verify", check, "--output-format", "text"]);
      expect([plain.code, plain.stdout]).toEqual([11, "Done.\n\nReally done.\n\nIt is done.\n"]);
      const documents = await run(["--verify", check, "--output-format", "documents"]);
      expect(JSON.parse(documents.stdout)).toMatchObject({
        status: "error",
        metadata: { verify },
        hooks: [{ event: "Verify", decision: "block", reason: "checking" }, {}, {}],
      });
      // A stored run tells the same.
      const shown = await runSheaf(["show", String(lines[0]!.session_id)], { cwd, home });
      expect(parseStream(shown.stdout).at(-1)).toMatchObject(failure);
    },
  );

  test(verifies("C168", "the model learns what failed, and a run that then passes says so"), async () => {
    const { run } = createProject([text("Done."), write, text("Done now.")]);
    const args = ["--verify", check, "--verify", "true", "--output-format"];
    const { code, stderr, stdout } = await run([...args, "text"]);
    expect([code, stderr]).toEqual([0, `sheaf: verified: ${check}\nsheaf: verified: true\n`]);
    expect(stdout).toMatch(/Done now\.\n$/);
    const again = await run([...args, "json"], {}, [text("Done.")]);
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect(JSON.parse(again.stdout)).toMatchObject({
      verify: [...passed(0), { command: "true", passed: true, exitCode: 0, rounds: 0 }],
    });
  });

  test(
    verifies("C168", "in a session that goes on, with commands of the configuration, and not in ask mode"),
    async () => {
      const { run, home } = createProject(lie);
      writeFileSync(join(home, "config.json"), JSON.stringify({ verify: [check], verifyRounds: 1 }));
      const first = await run([]);
      expect([first.code, first.lines.at(-1)]).toMatchObject([11, { verify: [{ passed: false, rounds: 1 }] }]);
      const session = String(first.lines[0]!.session_id);
      const second = await run(["--resume", session], {}, [...lie.slice(0, 2), write, text("Done.")]);
      expect([second.code, second.lines.at(-1)]).toMatchObject([0, { verify: passed(0) }]);
      const asked = await run(["--mode", "ask"]);
      expect([asked.code, asked.lines.at(-1)!.verify]).toEqual([0, undefined]);
      const refused = await run(["--resume", String(asked.lines[0]!.session_id), "--verify", check]);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        "sheaf: USAGE: --verify is for runs that change files, and ask mode changes none: leave it out, or choose --mode agent\n",
      ]);
    },
  );

  test(verifies("C168", "an empty command is a usage error, in the configuration too"), async () => {
    const { run, home } = createProject(lie);
    const { code, stderr } = await run(["--verify", " "]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^sheaf: USAGE: --verify " " cannot run: write --verify /),
    ]);
    writeFileSync(join(home, "config.json"), JSON.stringify({ verify: [""] }));
    const configured = await run([]);
    expect([configured.code, configured.stderr]).toEqual([2, expect.stringContaining("verify[0]: expected a command")]);
  });

  test(verifies("C168", "in its own working tree, whose files the command sees"), async () => {
    const { run, cwd } = createProject([write, text("Done.")]);
    for (const words of ["init -q", "add -A", "-c user.name=A -c user.email=a@example.org commit -qm Begin"])
      execFileSync("git", words.split(" "), { cwd });
    const { code, lines } = await run(["--worktree", "job", "--verify", check]);
    expect([code, lines.at(-1)]).toMatchObject([0, { verify: passed(0) }]);
    expect(execFileSync("git", ["show", "sheaf/job:done.txt"], { cwd, encoding: "utf8" })).toBe("1");
  });

  test(verifies("C168", "with an answer that must fit a schema, which stays in the result"), async () => {
    const { run, cwd } = createProject(["{}", '{"n":1}', '{"n":2}'].map((value) => text(value)));
    writeFileSync(join(cwd, "s.json"), JSON.stringify({ type: "object", required: ["n"] }));
    const args = ["--output-schema", "s.json", "--verify-rounds", "1", "--verify"];
    const failed = await run([...args, check]);
    expect([failed.code, failed.lines.at(-1)]).toMatchObject([11, { structured_output: { n: 2 } }]);
    const { code, lines } = await run([...args, "true"]);
    expect([code, lines.at(-1)]).toMatchObject([0, { structured_output: { n: 1 }, verify: [{ passed: true }] }]);
  });

  test(verifies("C168", "once, at the end of the run that calls subagents"), async () => {
    const ask = { call: { tool: "run_agent", arguments: { kind: "search", task: "look" } } };
    const { run } = createProject([{ events: [ask] }, text("Done."), write, text("Done now.")], {
      search: [text("Nothing.")],
    });
    const { code, lines } = await run(["--agents", "--verify", check]);
    expect([code, lines.at(-1)]).toMatchObject([0, { verify: passed(1) }]);
    expect(lines.filter(({ subtype }) => subtype === "hook")).toHaveLength(2);
  });

  test(verifies(["C168", "C24"], "the time budget ends a command, too"), async () => {
    const { run } = createProject([text("Done.")]);
    const { code, lines } = await run(["--verify", "sleep 60", "--timeout", "3"]);
    expect([code, lines.at(-1)]).toMatchObject([7, { error: { code: "BUDGET_TIME" } }]);
  });

  test(verifies("C168", "clients of a server have the checks of its operator, and see how they ended"), async () => {
    const cwd = folders.newFolder();
    const app = await openApp({ cwd, script: { turns: lie }, args: ["--verify", check, "--verify-rounds", "1"] });
    const response = await app.ask({ message: "go" });
    expect(response).toMatchObject({ status: "error", metadata: { verify: [{ passed: false, rounds: 1 }] } });
  });

  test(verifies(["C168", "S-31"], "without a sandbox the command did not pass, and no round is tried"), async () => {
    const { run } = createProject(lie);
    const { code, lines } = await run(["--verify", check], {
      wrapper: ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns"],
    });
    expect([code, lines.at(-1)]).toMatchObject([
      11,
      { result: "Done.", verify: [{ command: check, passed: false, exitCode: -1, rounds: 0 }] },
    ]);
  });
});
