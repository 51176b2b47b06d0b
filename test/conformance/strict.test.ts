/** --strict: a run that lacks a part of its surroundings ends with exit code 8, before its first request where that is known. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { createTestFolder, parseStream, runAsNeeded, type ProgramOptions, toKinds } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Lets a scripted model make one call and then answer. */
async function run(args: readonly string[], options: Partial<ProgramOptions> = {}, call?: object) {
  const { cwd = folders.newFolder() } = options;
  const command = { tool: "run_terminal_cmd", arguments: { command: "touch ran" } };
  const turns = [{ events: [{ call: call ?? command }] }, { events: [{ text: "Done." }] }];
  writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns }));
  const words = ["-p", "--model", "scripted:s.json", ...args, "go"];
  const { code, stdout, stderr } = await runAsNeeded(words, { ...options, cwd });
  const lines = parseStream(stdout);
  const hasRun = existsSync(join(cwd, "ran"));
  return { code, stderr, kinds: toKinds(lines), last: lines.at(-1)!, hasRun };
}

/** No request went out. */
const unasked = ["system/init", "user", "result/error"];

/** A folder of Sheaf's own with this configuration. */
const configure = (config: object): string => folders.newFolder({ "config.json": JSON.stringify(config) });

describeWithBubblewrap("with --strict, where no sandbox works", () => {
  const wrapper = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns"];

  test(verifies(["C180", "S-31"], "a run ends before its first request"), async () => {
    const { code, kinds, stderr, last, hasRun } = await run(["--strict"], { wrapper });
    expect([code, kinds, hasRun]).toEqual([8, unasked, false]);
    expect(stderr).toMatch(/^sheaf: SANDBOX_UNAVAILABLE: [^\n]*no sandbox works here[^\n]*\n$/);
    expect(last).toMatchObject({ is_error: true, error: { code: "SANDBOX_UNAVAILABLE", retryable: false } });
  });

  test(verifies(["C180", "S-254"], "a container, and a mode without commands, lack nothing"), async () => {
    const held = await run(["--strict", "--sandbox", "container"], { wrapper });
    expect([held.code, held.hasRun]).toEqual([0, true]);
    const reading = await run(["--strict", "--mode", "ask"], { wrapper });
    expect(reading.code).toBe(0);
  });
});

describe("with --strict", () => {
  test(verifies(["C180", "C20"], "a tool server that does not start ends a run before its first request"), async () => {
    const home = configure({ mcpServers: { notes: { command: "/nonexistent/server" } } });
    const { code, kinds, stderr } = await run(["--strict"], { home });
    expect([code, kinds]).toEqual([8, unasked]);
    expect(stderr).toMatch(/^sheaf: SETUP_INCOMPLETE: MCP server notes: [^\n]+\n$/);
    expect((await run([], { home })).code).toBe(0);
  });

  test(
    verifies("C180", "so does a guard that does not run, and a hook that fails ends it where it fails"),
    async () => {
      const guard = { matcher: "*", hooks: [{ type: "prompt", prompt: "p" }] };
      const claude = folders.newFolder({ "settings.json": JSON.stringify({ hooks: { PreToolUse: [guard] } }) });
      const missing = await run(["--strict"], { home: configure({ hooksFile: join(claude, "settings.json") }) });
      expect([missing.code, missing.kinds]).toEqual([8, unasked]);
      expect(missing.stderr).toMatch(/^sheaf: SETUP_INCOMPLETE: a PreToolUse hook .*guards nothing/);
      const failing = { hooks: [{ type: "command", command: "exit 3", sandbox: false }] };
      const home = configure({ hooks: { SessionStart: [failing] } });
      const failed = await run(["--strict"], { home });
      expect([failed.code, failed.kinds.includes("assistant"), failed.hasRun]).toEqual([8, false, false]);
      expect(failed.stderr).toMatch(/^sheaf: SETUP_INCOMPLETE: .*exit code 3/);
      expect((await run([], { home })).code).toBe(0);
    },
  );

  test(verifies("C180", "a call that nobody can approve ends it; what the user denies is no loss"), async () => {
    const plain = ["--sandbox", "disabled"];
    const asked = await run(["--strict", ...plain]);
    expect([asked.code, asked.kinds.filter((kind) => kind === "assistant")]).toEqual([8, []]);
    expect(asked.stderr).toMatch(/^sheaf: PERMISSION_REQUIRED: this command needs a permission/);
    expect((await run(plain)).code).toBe(0);
    const denied = await run(["--strict", ...plain, "--force", "--deny", "Shell(touch)"]);
    expect([denied.code, denied.hasRun]).toEqual([0, false]);
    const file = { tool: "read_file", arguments: { target_file: "s.json" } };
    expect((await run(["--strict", ...plain, "--deny", "Read(s.json)"], {}, file)).code).toBe(0);
  });
});
