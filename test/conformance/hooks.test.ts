/** Hooks written for Claude Code, run unchanged by the real program. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { cliFolder, readPromptModules } from "../support/built-program.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** As it is in `~/.claude/settings.json`, with fields that are none of Sheaf's business. */
const claudeSettings = {
  model: "opus",
  permissions: { allow: ["Bash(ls)"] },
  hooks: {
    PreToolUse: [
      {
        matcher: "Edit|MultiEdit|Write|Read",
        hooks: [{ type: "command", command: "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh", timeout: 10 }],
      },
    ],
    PostToolUse: [
      {
        matcher: "Edit|Write",
        hooks: [{ type: "command", command: "sed -i 's/ = /=/' \"$CLAUDE_PROJECT_DIR/a.py\"", statusMessage: "…" }],
      },
    ],
    UserPromptSubmit: [{ hooks: [{ type: "command", command: "cat > prompt.json; echo Today is Monday" }] }],
    SubagentStop: [{ hooks: [{ type: "command", command: "touch subagent" }] }],
    Stop: [{ hooks: [{ type: "http", url: "http://127.0.0.1:1/" }] }],
  },
};

const guard = `#!/bin/sh
if grep -q '"file_path":"[^"]*\\.env"' ; then
  echo "secrets stay closed" >&2
  exit 2
fi
`;

const script = {
  turns: [
    { events: [{ call: { tool: "read_file", arguments: { target_file: "link.txt" } } }] },
    { events: [{ call: { tool: "read_file", arguments: { target_file: "a.py" } } }] },
    {
      events: [
        {
          call: {
            tool: "edit_file",
            arguments: { target_file: "a.py", edits: [{ old_string: "a = 1", new_string: "a = 2" }] },
          },
        },
      ],
    },
    { events: [{ text: "done" }] },
  ],
};

function createWorkspace(): string {
  const cwd = folders.newFolder({ "a.py": "a = 1\n", ".env": "KEY=1\n", "s.json": JSON.stringify(script) });
  symlinkSync(".env", join(cwd, "link.txt"));
  mkdirSync(join(cwd, ".claude/hooks"), { recursive: true });
  writeFileSync(join(cwd, ".claude/hooks/guard.sh"), guard);
  chmodSync(join(cwd, ".claude/hooks/guard.sh"), 0o755);
  return cwd;
}

/** A user with this configuration and these settings of Claude Code. */
function createUser(config: object, settings: unknown = claudeSettings) {
  const folder = mkdtempSync(join(folders.path, "user-"));
  const home = join(folder, "sheaf");
  for (const [file, value] of [
    [join(home, "config.json"), config],
    [join(folder, ".claude/settings.json"), settings],
  ] as const) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(value));
  }
  return { home, environment: { HOME: folder } };
}

const words = ["-p", "--model", "scripted:s.json", "go"];

async function runClaudeSet(more: readonly string[]) {
  const cwd = createWorkspace();
  const user = createUser({ hooksFile: "~/.claude/settings.json" });
  const run = await runSheaf([...words, ...more], { cwd, ...user });
  return { cwd, run, lines: parseStream(run.stdout), user };
}

/** Gives the exit code of the revert that follows, and the file after it. */
async function checkClaudeSet(more: readonly string[]): Promise<readonly [number | null, string]> {
  const { cwd, run, lines, user } = await runClaudeSet(more);
  expect([run.code, run.stderr]).toEqual([0, ""]);
  // Format on save.
  expect(readFileSync(join(cwd, "a.py"), "utf8")).toBe("a=2\n");
  // Block a path, also through a link.
  const blocked = lines.find(({ type, subtype }) => type === "tool_call" && subtype === "completed");
  expect(JSON.stringify(blocked)).toContain(
    '"rejected":{"reason":"the user\'s PreToolUse hook refused this call: secrets stay closed"}',
  );
  // Add context, and what the hook reads.
  const prompt = JSON.parse(readFileSync(join(cwd, "prompt.json"), "utf8")) as object;
  expect(prompt).toEqual({
    session_id: lines[0]!["session_id"],
    cwd,
    permission_mode: more.includes("--force") ? "bypassPermissions" : "default",
    hook_event_name: "UserPromptSubmit",
    prompt: "go",
  });
  expect(existsSync(join(cwd, "subagent"))).toBe(false);
  const hooks = lines.filter(({ subtype }) => subtype === "hook");
  expect(hooks.map(({ event, decision }) => [event, decision])).toEqual([
    ["UserPromptSubmit", undefined],
    ["PreToolUse", "block"],
    ["PreToolUse", undefined],
    ["PreToolUse", undefined],
    ["PostToolUse", undefined],
  ]);
  // A later revert undoes the edit with the formatting.
  const session = String(lines[0]!["session_id"]);
  const revert = await runSheaf(["revert", session], { cwd, ...user });
  return [revert.code, readFileSync(join(cwd, "a.py"), "utf8")];
}

const reverted = [0, "a = 1\n"];

test(
  verifies(["C80", "C81", "C82", "C83", "C84"], "a hook set for Claude Code runs unchanged"),
  async () => {
    expect(await checkClaudeSet(["--sandbox", "disabled", "--force"])).toEqual(reverted);
  },
  30_000,
);

describeWithBubblewrap("in the sandbox", () => {
  test(
    verifies(["C81", "S-138"], "the same set runs unchanged"),
    async () => {
      expect(await checkClaudeSet([])).toEqual(reverted);
    },
    30_000,
  );

  test(
    verifies(["C80", "S-138"], "hooks run next to reads side by side and to a command in the background"),
    async () => {
      const read = (file: string) => ({ tool: "read_file", arguments: { target_file: file } });
      const sleep = { tool: "run_terminal_cmd", arguments: { command: "sleep 60", is_background: true } };
      const turns = [
        { events: [{ calls: [read("a.txt"), read("b.txt"), read("s.json")] }] },
        { events: [{ call: sleep }] },
        { events: [{ call: read("a.txt") }] },
        { events: [{ text: "x" }] },
      ];
      const cwd = folders.newFolder({ "a.txt": "a\n", "b.txt": "b\n", "s.json": JSON.stringify({ turns }) });
      const hook = [{ hooks: [{ type: "command", command: "sleep 0.1" }] }];
      const user = createUser({ hooks: { PreToolUse: hook, PostToolUse: hook } });
      const run = await runSheaf([...words.slice(0, -1), "--background-wait", "0", "go"], { cwd, ...user });
      expect([run.code, run.stderr]).toEqual([0, ""]);
      const hooks = parseStream(run.stdout).filter(({ subtype }) => subtype === "hook");
      expect(hooks.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => "success"));
    },
    30_000,
  );

  test(
    verifies("S-138", "a hook is held as commands are, unless it says otherwise"),
    async () => {
      const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns: [{ events: [{ text: "x" }] }] }) });
      const command = 'touch ~/left "$CLAUDE_PROJECT_DIR/came"; pwd';
      const hooks = (sandbox?: boolean) => ({
        UserPromptSubmit: [{ hooks: [{ type: "command", command, ...(sandbox !== undefined && { sandbox }) }] }],
      });
      const held = createUser({ hooks: hooks() });
      expect((await runSheaf(words, { cwd, ...held })).code).toBe(0);
      expect([existsSync(join(held.environment.HOME, "left")), existsSync(join(cwd, "came"))]).toEqual([false, true]);
      for (const config of [{ hooks: hooks(false) }, { hooks: hooks(), hooksSandbox: false }]) {
        const free = createUser(config);
        expect((await runSheaf(words, { cwd, ...free })).code).toBe(0);
        expect(existsSync(join(free.environment.HOME, "left"))).toBe(true);
      }
    },
    30_000,
  );
});

test(
  verifies(["C84", "C83"], "each format tells what hooks did, as far as it has a form for it"),
  async () => {
    const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns: [{ events: [{ text: "Hello" }] }] }) });
    const command = `echo '{"systemMessage":"look \\u001b[31mhere"}'; exit 0`;
    const user = createUser({ hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] } });
    const run = (more: readonly string[]) => runSheaf([...words, "--sandbox", "disabled", ...more], { cwd, ...user });
    const notice = `UserPromptSubmit hook (${command}): look here`;
    expect(JSON.parse((await run(["--output-format", "json"])).stdout)).toMatchObject({
      notices: [{ code: "HOOK_MESSAGE", message: notice }],
    });
    const documents = JSON.parse((await run(["--output-format", "documents"])).stdout) as object;
    expect(documents).toMatchObject({ metadata: { notices: [{ code: "HOOK_MESSAGE", message: notice }] } });
    expect((await run(["--output-format", "text"])).stdout).toBe("Hello\n");
    const cursor = (await run(["--compat", "cursor-2026"])).stdout;
    expect(cursor).not.toContain("hook");
    expect((await run([])).stdout).toContain('"subtype":"hook","event":"UserPromptSubmit"');
  },
  60_000,
);

test.each([
  ["is missing", "./no-guard", "its command was not found"],
  ["is not executable", "./s.json", "its command is not executable"],
  ["dies by a signal", "kill -KILL $$", "SIGKILL ended it"],
])(
  verifies("S-140", "a guard that %s refuses the call, and every format says so"),
  async (_, command, reason) => {
    const call = { tool: "run_terminal_cmd", arguments: { command: "touch came" } };
    const turns = [{ events: [{ call }] }, { events: [{ text: "Done" }] }];
    const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }) });
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: `cd "$CLAUDE_PROJECT_DIR"; ${command}` }] }] };
    const user = createUser({ hooks });
    const print = async (...more: string[]): Promise<string> => {
      const run = await runSheaf([...words, "--sandbox", "disabled", "--force", ...more], { cwd, ...user });
      const told = more.includes("text") ? /^sheaf: notice: .*\nsheaf: refused: run_terminal_cmd: .*\n$/ : /^$/;
      expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(told)]);
      return run.stdout;
    };
    for (const format of ["text", "json", "stream-json", "documents", "documents-stream"]) {
      expect(await print("--output-format", format)).toContain(reason);
    }
    const cursor = await print("--compat", "cursor-2026", "--output-format", "stream-json");
    expect(cursor).toContain(`"rejected":{"reason":"the user's PreToolUse hook refused this call: it did not run`);
    expect(existsSync(join(cwd, "came"))).toBe(false);
  },
  60_000,
);

test(verifies("S-213", "a guard that Sheaf leaves out is in the notices; other hooks are not"), async () => {
  const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns: [{ events: [{ text: "x" }] }] }) });
  const hooks = [{ hooks: [{ type: "command", command: "guard", if: "Bash(rm *)" }] }];
  const user = createUser({ hooksFile: "~/.claude/settings.json" }, { hooks: { PreToolUse: hooks, Stop: hooks } });
  const run = await runSheaf([...words, "--sandbox", "disabled"], { cwd, ...user });
  const file = join(user.environment.HOME, ".claude/settings.json");
  expect(parseStream(run.stdout)[0]).toMatchObject({
    notices: [
      {
        code: "HOOK_NOT_RUN",
        message: `a PreToolUse hook (guard) of ${file} does not run and guards nothing: Sheaf does not know its field "if"`,
      },
    ],
  });
});

test.each([
  [{ PreToolUze: [] }, "PreToolUze"],
  [{ PreToolUse: [{ matcher: "(", hooks: [] }] }, "matcher"],
  [{ PreToolUse: [{ hooks: [{ type: "command", command: "x", every: 1 }] }] }, "every"],
  [{ PreToolUse: [{ hooks: [{ type: "prompt", command: "x" }] }] }, "type"],
])(verifies("C81", "%j in the user's own hooks is a fault"), async (hooks, word) => {
  const run = await runSheaf(["-p", "x", "--model", "offline"], { cwd: folders.newFolder(), ...createUser({ hooks }) });
  expect(run.code).toBe(2);
  expect(run.stderr).toMatch(/^sheaf: CONFIG_INVALID: [^\n]*hooks[^\n]*\n$/);
  expect(run.stderr).toContain(word);
});

test(verifies("C81", "a hooks file that cannot be read ends the run"), async () => {
  const user = createUser({ hooksFile: "~/.claude/none.json" });
  const run = await runSheaf(["-p", "x", "--model", "offline"], { cwd: folders.newFolder(), ...user });
  expect([run.code, run.stderr]).toEqual([
    2,
    expect.stringMatching(/^sheaf: CONFIG_INVALID: the hooks file .*none\.json does not exist/),
  ]);
});

test(
  verifies("S-137", "allow overrides no rule, no mode and no question; what a hook changes is judged again"),
  async () => {
    const call = (command: string) => ({ events: [{ call: { tool: "run_terminal_cmd", arguments: { command } } }] });
    const turns = [call("touch denied"), call("touch free"), { events: [{ text: "x" }] }];
    const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }) });
    const specific = { hookEventName: "PreToolUse", permissionDecision: "allow" };
    const toHooks = (answer: object) => ({
      PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: `echo '${JSON.stringify(answer)}'` }] }],
    });
    const rules = ["--sandbox", "disabled", "--deny", "Shell(touch denied)", "--allow", "Shell(touch free)"];
    const allowing = createUser({ hooks: toHooks({ decision: "approve", hookSpecificOutput: specific }) });
    await runSheaf([...words, ...rules], { cwd, ...allowing });
    expect([existsSync(join(cwd, "denied")), existsSync(join(cwd, "free"))]).toEqual([false, true]);
    const updatedInput = { command: "touch denied" };
    const changing = createUser({ hooks: toHooks({ hookSpecificOutput: { ...specific, updatedInput } }) });
    const run = await runSheaf([...words, ...rules], { cwd, ...changing });
    expect(existsSync(join(cwd, "denied"))).toBe(false);
    expect(run.stdout.match(/"rejected"/g)).toHaveLength(2);
    const asking = createUser({ hooks: toHooks({ hookSpecificOutput: { ...specific, permissionDecision: "ask" } }) });
    const asked = await runSheaf([...words, ...rules], { cwd, ...asking });
    expect(asked.stdout).toContain("hook wants a person to agree");
  },
  60_000,
);

test(
  verifies("C84", "a stored run is shown with what its hooks did"),
  async () => {
    const { cwd, user, lines } = await runClaudeSet(["--sandbox", "disabled", "--force"]);
    const shown = await runSheaf(["show", String(lines[0]!.session_id), "--output-format", "stream-json"], {
      cwd,
      ...user,
    });
    expect([shown.code, shown.stderr]).toEqual([0, ""]);
    expect(parseStream(shown.stdout).filter(({ subtype }) => subtype === "hook")).toHaveLength(5);
  },
  30_000,
);

test(verifies("S-41", "a key in the command of a hook, or in what it says, is not in the log"), async () => {
  const cwd = folders.newFolder();
  const key = "sk-ant-api03-CANARYcanary0123456789CANARYcanary0123456789";
  const command = `echo '${key}' >&2; exit 1`;
  const user = createUser({ hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] } });
  const run = await runSheaf(["-p", "x", "--model", "offline", "--sandbox", "disabled"], { cwd, ...user });
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("UserPromptSubmit hook");
  expect(run.stdout + run.stderr).not.toContain("CANARY");
});

test(verifies("C88", "a run without hooks loads none of their code"), () => {
  const { files } = readPromptModules();
  const code = files.map((name) => readFileSync(join(cliFolder, name), "utf8")).join("");
  expect(code).not.toContain("hook_event_name");
  expect(code).not.toContain("permissionDecision");
});
