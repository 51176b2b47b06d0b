/**
 * A table of what a run does not do, and of every place where its caller can learn it: exit code, `json`, the last line of
 * `stream-json`, `documents`, stderr of `text`, and the outputs of the action (C166). A row that says `held` was right
 * before these facts had one place.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatResponse } from "@sheaf/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAgent } from "../../packages/agent/src/index.ts";
import { shortAnswers } from "../../packages/models/test/live/live-setup.ts";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { createModelServer } from "../support/model-server.ts";
import { openApp } from "../support/open-app.ts";
import { createTestFolder, parseStream, runSheaf, toLines, type Files, type SheafResult } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

interface Row {
  /** What happens. */
  readonly what: string;
  readonly before: "quiet" | "held";
  /** Events of the turns of a scripted model; the last turn repeats. */
  readonly turns: readonly (readonly object[])[];
  /** Usage of every turn. */
  readonly usage?: object;
  /** Why every turn ends. */
  readonly finish?: string;
  readonly args?: readonly string[];
  readonly files?: Files;
  /** Default: the script. */
  readonly model?: string;
  /** Of the user, beside config.json. */
  readonly homeFiles?: Files;
  /** The user's config.json. */
  readonly config?: object;
  /** Default: "go". */
  readonly prompt?: string;
  /** Environment of the run; `PATH` as it is otherwise. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Prepares the workspace. */
  readonly prepare?: (cwd: string) => void;
  /** Name of an operating system for which Sheaf knows no sandbox. */
  readonly platform?: NodeJS.Platform;
  readonly code: number;
  readonly refusals?: readonly object[];
  readonly notices?: readonly string[];
  /** Further fields of the result line. */
  readonly result?: object;
  /** Lines of stderr with `text`, without the line of a failure. */
  readonly stderr: readonly RegExp[];
}

const call = (tool: string, args: object): object => ({ call: { tool, arguments: args } });
const command = (text: string): object => call("run_terminal_cmd", { command: text });
const done = [{ text: "Done." }];
const free = ["--sandbox", "disabled"];
const git = (cwd: string): void => void execFileSync("git", ["init", "-q", cwd]);
const hook = (event: string, text: string): object => ({
  hooks: { [event]: [{ hooks: [{ type: "command", command: text }] }] },
});
const price = { prices: { "scripted:s.json": { input: 1, output: 10 } } };
const counted = { promptTokens: 1_000_000, completionTokens: 100_000 };

/** Rows that need no sandbox. */
const rows: readonly Row[] = [
  {
    what: "no sandbox works, and the only command is refused",
    before: "held",
    turns: [[command("touch made")], done],
    platform: "freebsd",
    code: 8,
    refusals: [{ tool: "run_terminal_cmd", reason: expect.stringContaining("no sandbox works here") }],
    notices: ["SANDBOX_UNAVAILABLE"],
    result: { sandbox: "unavailable", error: { code: "SANDBOX_UNAVAILABLE" }, num_turns: 2 },
    stderr: [],
  },
  {
    what: "a rule denies a command",
    before: "quiet",
    turns: [[command("rm a.txt")], done],
    args: [...free, "--force", "--deny", "Shell(rm)"],
    code: 0,
    refusals: [{ tool: "run_terminal_cmd", reason: expect.any(String), rule: "Shell(rm)" }],
    stderr: [/^sheaf: refused: run_terminal_cmd: .*Shell\(rm\)/],
  },
  {
    what: "no rule allows a command, and nobody can be asked",
    before: "quiet",
    turns: [[command("touch made")], done],
    args: free,
    code: 0,
    refusals: [{ tool: "run_terminal_cmd", reason: expect.any(String) }],
    stderr: [/^sheaf: refused: run_terminal_cmd: /],
  },
  {
    what: "a hook refuses a call",
    before: "quiet",
    turns: [[call("list_dir", { path: "." })], done],
    args: free,
    config: hook("PreToolUse", "echo no >&2; exit 2"),
    code: 0,
    refusals: [{ tool: "list_dir", reason: expect.stringContaining("no") }],
    stderr: [/^sheaf: refused: list_dir: .*no/],
  },
  {
    what: "a hook fails",
    before: "quiet",
    turns: [[call("list_dir", { path: "." })], done],
    args: free,
    config: hook("PostToolUse", "exit 3"),
    code: 0,
    notices: ["HOOK_FAILED"],
    stderr: [/^sheaf: notice: PostToolUse hook \(exit 3\) failed/],
  },
  {
    what: "a tool server does not start",
    before: "quiet",
    turns: [done],
    args: free,
    config: { mcpServers: { lost: { command: "/nowhere/server" } } },
    code: 0,
    notices: ["SERVER_NOT_STARTED"],
    stderr: [/^sheaf: notice: MCP server lost: /],
  },
  {
    what: "the instructions of an untrusted repository count little",
    before: "quiet",
    turns: [done],
    args: free,
    files: { "AGENTS.md": "Use tabs.\n" },
    code: 0,
    notices: ["INSTRUCTIONS_UNTRUSTED"],
    stderr: [/^sheaf: notice: the model follows AGENTS\.md only as to style and checks/],
  },
  {
    what: "git runs no hooks of an untrusted repository",
    before: "quiet",
    turns: [done],
    args: free,
    prepare(cwd) {
      git(cwd);
      writeFileSync(join(cwd, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    },
    code: 0,
    notices: ["GIT_HOOKS_OFF"],
    stderr: [/^sheaf: notice: git runs no hooks of this repository/],
  },
  {
    what: "the provider fails in the second turn",
    before: "quiet",
    turns: [[call("list_dir", { path: "." })], [{ error: { code: "RATE_LIMITED", message: "used up" } }]],
    usage: counted,
    args: free,
    config: price,
    code: 5,
    result: { error: { code: "RATE_LIMITED" }, total_cost_usd: 2, num_turns: 2, sandbox: "disabled" },
    stderr: [],
  },
  {
    what: "the run has cost what it may cost",
    before: "quiet",
    turns: [[call("list_dir", { path: "." })]],
    usage: counted,
    args: [...free, "--max-cost-usd", "3"],
    config: price,
    code: 7,
    result: {
      error: { code: "BUDGET_COST" },
      total_cost_usd: 4,
      num_turns: 2,
      usage: { inputTokens: 2_000_000, outputTokens: 200_000, cacheReadTokens: 0, cacheWriteTokens: 0 },
    },
    stderr: [],
  },
  {
    what: "a file of git is protected",
    before: "quiet",
    turns: [[call("write_file", { path: ".git/config", content: "x" })], done],
    args: free,
    prepare: git,
    code: 0,
    refusals: [{ tool: "write_file", reason: expect.stringContaining(".git/config") }],
    stderr: [/^sheaf: refused: write_file: /],
  },
  {
    what: "a rule denies a file",
    before: "quiet",
    turns: [[call("read_file", { path: "a.txt" })], done],
    args: [...free, "--deny", "Read(a.txt)"],
    code: 0,
    refusals: [{ tool: "read_file", reason: expect.any(String), rule: "Read(a.txt)" }],
    stderr: [/^sheaf: refused: read_file: /],
  },
  {
    what: "no rule allows a host",
    before: "quiet",
    turns: [[call("web_fetch", { url: "https://example.org/" })], done],
    args: [...free, "--allow", "WebFetch(example.com)"],
    code: 0,
    refusals: [{ tool: "web_fetch", reason: expect.any(String) }],
    stderr: [/^sheaf: refused: web_fetch: /],
  },
  {
    what: "the mode forbids a change",
    before: "quiet",
    turns: [[call("write_file", { path: "b.txt", content: "b" })], done],
    args: [...free, "--mode", "plan"],
    code: 0,
    refusals: [{ tool: "write_file", reason: expect.any(String) }],
    stderr: [/^sheaf: refused: write_file: /],
  },
  {
    what: "the first refusal ends the run",
    before: "quiet",
    turns: [[command("touch made")], done],
    args: [...free, "--on-denied", "stop"],
    code: 8,
    refusals: [{ tool: "run_terminal_cmd", reason: expect.any(String) }],
    result: { error: { code: "PERMISSION_REQUIRED" }, num_turns: 1 },
    stderr: [],
  },
  {
    what: "two calls are refused for two reasons, and one of them twice",
    before: "quiet",
    turns: [[command("touch made"), call("read_file", { path: "a.txt" }), command("touch made")], done],
    args: [...free, "--deny", "Read(a.txt)"],
    code: 0,
    refusals: [
      { tool: "run_terminal_cmd", reason: expect.any(String) },
      { tool: "read_file", reason: expect.any(String), rule: "Read(a.txt)" },
    ],
    stderr: [/^sheaf: refused: run_terminal_cmd: /, /^sheaf: refused: read_file: /],
  },
  {
    what: "the turns are used up",
    before: "quiet",
    turns: [[call("list_dir", { path: "." })]],
    usage: counted,
    config: price,
    args: [...free, "--max-turns", "2"],
    code: 7,
    result: { error: { code: "BUDGET_TURNS" }, num_turns: 2, total_cost_usd: 4 },
    stderr: [],
  },
  {
    what: "the model asks, after a refused call",
    before: "quiet",
    turns: [
      [command("touch made")],
      [
        call("ask_question", {
          title: "Which?",
          questions: [
            {
              id: "q",
              prompt: "Which?",
              options: [
                { id: "a", label: "A" },
                { id: "b", label: "B" },
              ],
            },
          ],
        }),
      ],
    ],
    args: free,
    code: 10,
    refusals: [{ tool: "run_terminal_cmd", reason: expect.any(String) }],
    result: { subtype: "needs_input", num_turns: 2 },
    stderr: [/^sheaf: refused: run_terminal_cmd: /],
  },
  {
    what: "the answer does not fit the schema",
    before: "quiet",
    turns: [done],
    usage: counted,
    config: price,
    files: { "schema.json": '{"type":"object"}' },
    args: [...free, "--output-schema", "schema.json"],
    code: 6,
    result: { error: { code: "OUTPUT_INVALID" }, num_turns: 2, total_cost_usd: 4 },
    stderr: [],
  },
  {
    what: "no model can be chosen",
    before: "quiet",
    turns: [done],
    model: "anthropic/claude-x",
    code: 3,
    result: { error: { code: "AUTH_REQUIRED" }, num_turns: 0, sandbox: "untried" },
    stderr: [],
  },
  {
    what: "a fallback answers",
    before: "held",
    turns: [[{ error: { code: "OVERLOADED", message: "busy" } }]],
    args: [...free, "--fallback-model", "offline"],
    code: 0,
    notices: ["MODEL_CHANGED"],
    stderr: [/^sheaf: notice: .* answers as --fallback-model/],
  },
  {
    what: "the prompt starts with a command that does not exist",
    before: "quiet",
    turns: [done],
    homeFiles: { "commands/fix.md": "Fix it.\n" },
    prompt: "/fxi the tests",
    args: free,
    code: 0,
    notices: ["COMMAND_UNKNOWN"],
    stderr: [/^sheaf: notice: the command \/fxi does not exist/],
  },
  {
    what: "a subagent is left out",
    before: "quiet",
    turns: [done],
    homeFiles: { "agents/odd.md": "---\nname: odd\ndescription: Odd\nmodel: nowhere/x\n---\nWork.\n" },
    args: [...free, "--agents"],
    code: 0,
    notices: ["AGENT_CHANGED"],
    stderr: [/^sheaf: notice: the subagent odd is left out/],
  },
  {
    what: "commands run without a sandbox in a throw-away container",
    before: "quiet",
    turns: [done],
    args: ["--sandbox", "container=root"],
    code: 0,
    notices: ["NOT_CONTAINED"],
    result: { sandbox: "container" },
    stderr: [/^sheaf: notice: /],
  },
  {
    what: "a command that verifies the run fails",
    before: "quiet",
    turns: [done],
    args: [...free, "--verify", "false"],
    code: 11,
    result: { error: { code: "VERIFY_FAILED" }, verify: [{ command: "false", passed: false }] },
    stderr: [],
  },
  {
    what: "the model refuses",
    before: "quiet",
    turns: [[{ text: "I cannot." }]],
    finish: "refusal",
    usage: counted,
    config: price,
    args: free,
    code: 6,
    result: { error: { code: "REFUSED" }, num_turns: 1, total_cost_usd: 2 },
    stderr: [],
  },
  {
    what: "the answer is cut at the model's limit",
    before: "quiet",
    turns: [[{ text: "Half of" }]],
    finish: "max_tokens",
    usage: counted,
    config: price,
    args: free,
    code: 6,
    result: { error: { code: "MAX_TOKENS" }, num_turns: 3, total_cost_usd: 6 },
    stderr: [],
  },
  {
    what: "the tokens are used up",
    before: "quiet",
    turns: [[call("list_dir", { path: "." })]],
    usage: counted,
    config: price,
    args: [...free, "--max-tokens", "1000"],
    code: 7,
    result: { error: { code: "BUDGET_TOKENS" }, num_turns: 1, total_cost_usd: 2 },
    stderr: [],
  },
  {
    what: "the calls are used up",
    before: "quiet",
    turns: [[call("list_dir", { path: "." })], [call("read_file", { path: "a.txt" })]],
    usage: counted,
    config: price,
    args: [...free, "--max-tool-calls", "1"],
    code: 7,
    result: { error: { code: "BUDGET_TOOLS" }, num_turns: 2, total_cost_usd: 4 },
    stderr: [],
  },
  {
    what: "the time is over, after a refused call",
    before: "quiet",
    turns: [[command("touch made")], [{ text: "I go on" }, { stall: true }]],
    usage: counted,
    config: price,
    args: [...free, "--timeout", "1"],
    code: 7,
    refusals: [{ tool: "run_terminal_cmd", reason: expect.any(String) }],
    result: { error: { code: "BUDGET_TIME" }, num_turns: 2, total_cost_usd: 2, usage: { estimated: true } },
    stderr: [/^sheaf: refused: run_terminal_cmd: /],
  },
  {
    what: "the stream breaks off in the second turn",
    before: "quiet",
    turns: [[call("list_dir", { path: "." })], [{ text: "Half" }, { end: "truncated" }]],
    usage: counted,
    config: { ...price, limits: { maxTries: 1 } },
    args: free,
    code: 5,
    result: { error: { code: "STREAM_TRUNCATED" }, num_turns: 2, total_cost_usd: 2 },
    stderr: [],
  },
  {
    what: "a guard of another agent's settings is left out",
    before: "quiet",
    turns: [done],
    config: { hooksFile: "~/.claude/settings.json" },
    environment: {
      HOME: folders.newFolder({
        ".claude/settings.json": JSON.stringify({
          hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "guard", if: "Bash(rm *)" }] }] },
        }),
      }),
    },
    args: free,
    code: 0,
    notices: ["HOOK_NOT_RUN"],
    stderr: [/^sheaf: notice: a PreToolUse hook \(guard\)/],
  },
  {
    what: "a hook has a message for the user",
    before: "quiet",
    turns: [done],
    config: hook("UserPromptSubmit", `echo '{"systemMessage":"look here"}'`),
    args: free,
    code: 0,
    notices: ["HOOK_MESSAGE"],
    stderr: [/^sheaf: notice: UserPromptSubmit hook .*: look here/],
  },
  {
    what: "a tool server of the repository is not approved",
    before: "quiet",
    turns: [done],
    files: { ".mcp.json": JSON.stringify({ mcpServers: { own: { command: "/nowhere/server" } } }) },
    args: [...free, "--trust"],
    code: 0,
    notices: ["SERVER_NOT_STARTED"],
    stderr: [/^sheaf: notice: MCP server own: /],
  },
  {
    what: "the provider refuses the key",
    before: "quiet",
    turns: [[{ error: { code: "AUTH_REJECTED", message: "the key is refused" } }]],
    config: price,
    args: free,
    code: 3,
    result: { error: { code: "AUTH_REJECTED" }, total_cost_usd: 0, num_turns: 1, usage: { inputTokens: 0 } },
    stderr: [],
  },
  {
    what: "no sandbox works, and the run is strict",
    before: "quiet",
    turns: [done],
    args: ["--strict"],
    platform: "freebsd",
    code: 8,
    notices: ["SANDBOX_UNAVAILABLE"],
    result: { error: { code: "SANDBOX_UNAVAILABLE" }, num_turns: 0 },
    stderr: [],
  },
  {
    what: "nothing is refused or lost",
    before: "held",
    turns: [[call("read_file", { path: "a.txt" })], done],
    args: free,
    code: 0,
    result: { sandbox: "disabled", num_turns: 2 },
    stderr: [],
  },
];

/** Rows with commands in the sandbox. */
const sandboxed: readonly Row[] = [
  {
    what: "the network refuses a host",
    before: "quiet",
    turns: [[command(`curl -sS -m 5 http://example.org/ || wget -qT5 -t1 http://example.org/`)], done],
    args: ["--force", "--allow", "Network(example.com)"],
    code: 0,
    refusals: [{ tool: "run_terminal_cmd", reason: expect.stringContaining("refused example.org:80") }],
    result: { sandbox: "enabled" },
    stderr: [/^sheaf: refused: run_terminal_cmd: The network refused example\.org:80/],
  },
  {
    what: "the repository does not get a setting of git",
    before: "quiet",
    turns: [[command("git config core.editor vi && git remote add up /up")], done],
    args: ["--force"],
    prepare: git,
    code: 0,
    refusals: [{ tool: "run_terminal_cmd", reason: expect.stringContaining('"core.editor", "remote.up.url"') }],
    stderr: [/^sheaf: refused: run_terminal_cmd: The repository does not get settings of git/],
  },
  {
    what: "a rule denies a command in the sandbox",
    before: "quiet",
    turns: [[command("rm a.txt")], done],
    args: ["--force", "--deny", "Shell(rm)"],
    code: 0,
    refusals: [{ tool: "run_terminal_cmd", reason: expect.any(String), rule: "Shell(rm)" }],
    result: { sandbox: "enabled" },
    stderr: [/^sheaf: refused: run_terminal_cmd: /],
  },
];

describeWithBubblewrap("in the sandbox, a run tells", () => {
  test.each(sandboxed.map((row) => [row.what, row] as const))(
    verifies("C166", "%s"),
    async (_, row) => {
      await expect(checkRow(row)).resolves.toBe(row.code);
    },
    60_000,
  );
});

describe("a run tells", () => {
  test.each(rows.map((row) => [row.what, row] as const))(
    verifies("C166", "%s"),
    async (_, row) => {
      await expect(checkRow(row)).resolves.toBe(row.code);
    },
    60_000,
  );
});

test(verifies("C166", "a provider without counts does not become 0 tokens"), async () => {
  const provider = await createModelServer({ chunks: shortAnswers["openai-chat"] });
  onTestFinished(() => provider.close());
  const endpoints = { lab: { protocol: "openai-chat", baseUrl: provider.url } };
  await checkRow({
    what: "",
    before: "quiet",
    turns: [],
    model: "lab/m",
    config: { endpoints, prices: { "lab/m": { input: 1, output: 1 } } },
    args: free,
    code: 0,
    notices: ["USAGE_UNKNOWN"],
    stderr: [/^sheaf: notice: the provider did not report the tokens of 1 of 1 answers/],
  });
  const words = ["-p", "--model", "lab/m", "--output-format", "json", ...free, "go"];
  const home = folders.newFolder({ "config.json": JSON.stringify({ endpoints }) });
  const { stdout } = await runSheaf(words, { cwd: folders.newFolder(), home });
  expect(JSON.parse(stdout)).not.toHaveProperty("usage");
  expect(JSON.parse(stdout)).not.toHaveProperty("total_cost_usd");
});

test(verifies("C166", "the library and the server have the same facts"), async () => {
  const script = { turns: [{ events: [call("read_file", { path: "a.txt" })], usage: counted }, { events: done }] };
  const files = { "a.txt": "a\n", "AGENTS.md": "Use tabs.\n", "s.json": JSON.stringify(script) };
  const facts = {
    sandbox: "disabled",
    refusals: [{ tool: "read_file", reason: expect.any(String) as string, rule: "Read(a.txt)" }],
    notices: [{ code: "INSTRUCTIONS_UNTRUSTED", message: expect.any(String) as string }],
  };
  const workspace = folders.newFolder(files);
  const model = `scripted:${workspace}/s.json`;
  await using agent = createAgent({ workspace, model, sandbox: "disabled", permissions: { deny: ["Read(a.txt)"] } });
  expect((await agent.run("go").result).metadata).toMatchObject(facts);
  const server = await openApp({ script, files, args: ["--sandbox", "disabled", "--deny", "Read(a.txt)"] });
  const answer = await server.chat({ message: "go" });
  expect(((await answer.json()) as ChatResponse).metadata).toMatchObject(facts);
  const stream = await server.chat({ message: "go", stream: true });
  const [, last = ""] = /event: done\n(?:id: .*\n)?data: (.*)\n/.exec(await stream.text()) ?? [];
  expect((JSON.parse(last) as ChatResponse).metadata).toMatchObject(facts);
});

/** Throws what is wrong; gives the exit code. */
async function checkRow(row: Row): Promise<number | null> {
  if (row.platform) setPlatform(row.platform);
  const { refusals, notices, result = {} } = row;
  const facts = {
    ...(refusals && { refusals }),
    ...(notices && { notices: notices.map((code) => ({ code, message: expect.any(String) as string })) }),
  };
  const stream = await run(row, "stream-json");
  const last = parseStream(stream.stdout).at(-1)!;
  expect(stream.code).toBe(row.code);
  expect(last).toMatchObject({ is_error: ![0, 10].includes(row.code), ...facts, ...result });
  for (const name of ["refusals", "notices"]) if (!(name in facts)) expect(last).not.toHaveProperty(name);
  const json = await run(row, "json");
  expect(json.code).toBe(row.code);
  if (json.stdout !== "") expect(JSON.parse(json.stdout)).toMatchObject({ ...facts, ...result });
  const documents = await run(row, "documents");
  expect(documents.code).toBe(row.code);
  const { metadata } = JSON.parse(documents.stdout) as { metadata: object };
  expect(metadata).toMatchObject({ ...facts, sandbox: last["sandbox"] });
  if ("total_cost_usd" in last) expect(metadata).toMatchObject({ costUsd: last["total_cost_usd"] });
  const text = await run(row, "text");
  const told = toLines(text.stderr).filter((line) => /^sheaf: (refused|notice): /.test(line));
  expect(told).toEqual(row.stderr.map((line) => expect.stringMatching(line) as string));
  expect([text.code, toLines(text.stderr).length - told.length]).toEqual([row.code, row.code === 0 ? 0 : 1]);
  checkAction(stream, last);
  return stream.code;
}

function setPlatform(value: NodeJS.Platform): void {
  const { platform } = process;
  Object.defineProperty(process, "platform", { value });
  onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
}

/** Each format in a new workspace with a new home. */
async function run({ turns, usage, finish, ...row }: Row, format: string): Promise<SheafResult> {
  const script = { turns: turns.map((events) => ({ events, usage, finish })), after: "repeat_last" };
  const home = folders.newFolder({ "config.json": JSON.stringify(row.config ?? {}), ...row.homeFiles });
  const cwd = folders.newFolder({ "a.txt": "a\n", "s.json": JSON.stringify(script), ...row.files });
  row.prepare?.(cwd);
  const words = ["-p", "--model", row.model ?? "scripted:s.json", "--output-format", format, ...(row.args ?? [])];
  return runSheaf([...words, row.prompt ?? "go"], { cwd, home, environment: { ...row.environment } });
}

/** The action gets the lines from a program that prints them again. */
function checkAction({ stdout, code }: SheafResult, last: Readonly<Record<string, unknown>>): void {
  const folder = folders.newFolder({ "lines.ndjson": stdout, "output.txt": "" });
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "sheaf"), `#!/bin/sh\ncat '${folder}/lines.ndjson'\nexit ${code}\n`, { mode: 0o755 });
  const action = join(import.meta.dirname, "../../action/run.mjs");
  const ran = spawnSync(process.execPath, [action], {
    cwd: folder,
    encoding: "utf8",
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      RUNNER_TEMP: folder,
      GITHUB_OUTPUT: join(folder, "output.txt"),
      SHEAF_ACTION_PROMPT: "go",
      SHEAF_ACTION_VERSION: "installed",
    },
  });
  expect([ran.status, ran.stderr]).toEqual([code, ""]);
  const written = readFileSync(join(folder, "output.txt"), "utf8");
  const readOutput = (name: string): string | undefined => new RegExp(`^${name}<<.*\n(.*)\n`, "m").exec(written)?.[1];
  const { refusals = [], notices = [], total_cost_usd: cost = "", num_turns: turns, sandbox } = last;
  expect(JSON.parse(readOutput("refusals")!)).toEqual(refusals);
  expect(JSON.parse(readOutput("notices")!)).toEqual(notices);
  expect(["cost-usd", "turns", "sandbox", "exit-code"].map(readOutput)).toEqual(
    [cost, turns, sandbox, code].map(String),
  );
  const warnings = ran.stdout.match(/^::warning title=Sheaf::/gm)?.length ?? 0;
  // The error line of a failure shows its own reason.
  if (code === 0) expect(warnings).toBe([...(notices as object[]), ...(refusals as object[])].length);
}
