/** Recorded runs, replayed by the built program: the same bytes, elsewhere, offline (X11). */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type StreamEvent } from "@sheaf/protocol";
import { encodeRetry, encodeSse } from "@sheaf/protocol/encode";
import { describe, expect, test } from "vitest";
import { missingBubblewrap } from "../support/bubblewrap.ts";
import { skipIfMissing } from "../support/describe-where.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder, parseStream, runProgram, runSheaf, type SheafResult, toLines } from "../support/sheaf.ts";
import { chooseRuns, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const formats = ["stream-json", "documents", "documents-stream", "text", "json"] as const;
/** `SHEAF_SOAK_RUNS=100` is the full figure. */
const replaysOfFormat = chooseRuns(1, 100);

const mcpServer = join(import.meta.dirname, "../support/mcp-server.ts");

const call = (tool: string, args: unknown) => ({ call: { tool, arguments: args } });

/** Every tool, failures among them; the first turn's calls run side by side. */
const everyTool = [
  {
    events: [
      { reasoning: "I think." },
      { text: ["I look ", "around.\n\n"] },
      {
        calls: [
          { tool: "read_file", arguments: { target_file: "src/main.py" } },
          { tool: "list_dir", arguments: { target_directory: "." } },
          { tool: "glob_search", arguments: { pattern: "**/*.py" } },
          { tool: "grep_search", arguments: { pattern: "def " } },
          { tool: "read_file", arguments: { target_file: "missing.txt" } },
        ],
      },
    ],
  },
  {
    events: [
      call("create_plan", { title: "Plan", overview: "o", plan: "# Plan", todos: [{ id: "a", content: "A" }] }),
      call("todo_write", { todos: [{ id: "a", status: "in_progress" }], merge: true }),
      call("write_file", { target_file: "new.md", content: "# New\n" }),
      call("edit_file", { target_file: "src/main.py", edits: [{ old_string: "pass", new_string: "return 1" }] }),
      call("run_terminal_cmd", { command: "for i in 1 2 3; do echo $i; sleep 0.01; done; env; exit 3" }),
      call("rename_file", { source_file: "new.md", destination_file: "old.md" }),
      call("delete_file", { target_file: "old.md" }),
      call("no_such_tool", { x: 1 }),
      call("read_file", "{ not json"),
    ],
  },
  {
    events: [
      {
        text: "See\n\n```1:2:src/main.py\ndef main():\n    return 1\n```\n\nand\n\n```js\nlet x = 1;\n```\n",
        chunk: 7,
      },
      { text: "Done." },
    ],
  },
];

interface Case {
  readonly turns: readonly object[];
  readonly code: number;
  /** Text of stdout at which a signal is sent. */
  readonly signalAt?: string;
  readonly signal?: NodeJS.Signals;
}

const cases: Readonly<Record<string, Case>> = {
  "every tool": { turns: everyTool, code: 0 },
  "a quota": {
    turns: [
      {
        events: [
          { text: "Half" },
          { error: { code: "RATE_LIMITED", message: "wait", resets_at: "2026-01-01T00:00:00Z" } },
        ],
      },
    ],
    code: 5,
  },
  "a stream that breaks off": { turns: [{ events: [{ text: ["a", "b"] }, { end: "truncated" }] }], code: 5 },
  "a signal in a tool": {
    turns: [{ events: [{ text: "t" }, call("run_terminal_cmd", { command: "echo begun; sleep 30" })] }],
    code: 143,
    signalAt: '"started"',
    signal: "SIGTERM",
  },
  "a question": {
    turns: [
      {
        events: [
          call("ask_question", {
            title: "Which?",
            questions: [
              {
                id: "q",
                prompt: "A or B?",
                options: [
                  { id: "a", label: "A" },
                  { id: "b", label: "B" },
                ],
              },
            ],
          }),
        ],
      },
    ],
    code: 10,
  },
};

/** Stands in the environment of the recorded run, and nowhere else. */
const canary = "CANARY-9f2c1e7a55";

async function record({ turns, signalAt, signal }: Case): Promise<SheafResult & { cassette: string; cwd: string }> {
  if (JSON.stringify(turns).includes("run_terminal_cmd")) skipIfMissing(missingBubblewrap);
  const cwd = folders.newFolder({ "src/main.py": "def main():\n    pass\n" });
  const home = folders.newFolder();
  const cassette = join(home, "run.ndjson");
  writeFileSync(join(home, "script.json"), JSON.stringify({ turns }));
  const args = ["-p", "--force", "--record", cassette, "--model", `scripted:${join(home, "script.json")}`, "go"];
  let isSent = false;
  const result = await runProgram(args, {
    cwd,
    home,
    environment: { OPENAI_API_KEY: canary, SOME_TOKEN: canary },
    onOutput(output, child) {
      if (isSent || signal === undefined || !output.includes(signalAt!)) return;
      isSent = true;
      setTimeout(() => child.kill(signal), 100);
    },
  });
  return { ...result, cassette, cwd };
}

describe.each(Object.entries(cases))("%s", (_name, run) => {
  test(
    verifies(
      ["X11", "C31"],
      "is replayed again and again, without its workspace: the same bytes, code and stderr each time",
    ),
    { timeout: soakTimeout },
    async () => {
      const recorded = await record(run);
      expect(recorded.code).toBe(run.code);
      const session = String(parseStream(recorded.stdout)[0]!.session_id);
      const shown = new Map<string, string>([["stream-json", recorded.stdout]]);
      for (const format of formats.slice(1)) {
        const home = join(recorded.cassette, "..");
        const { stdout } = await runSheaf(["show", session, "--output-format", format], { cwd: recorded.cwd, home });
        shown.set(format, stdout);
      }
      rmSync(recorded.cwd, { recursive: true });
      const elsewhere = folders.newFolder();
      for (let round = 0; round < replaysOfFormat; round += 1) {
        const replays = formats.map(async (format) => {
          const args = ["replay", recorded.cassette, "--output-format", format];
          const { code, stderr, stdout } = await runSheaf(args, { cwd: elsewhere, home: join(elsewhere, "home") });
          // Of a failure, `show` has on stdout what a run and its replay have on stderr.
          const isTold = recorded.code !== 0 && (format === "text" || format === "json");
          const expected = shown.get(format)!;
          expect({ format, code, stderr, stdout }).toEqual({
            format,
            code: recorded.code,
            stderr: recorded.stderr,
            stdout: isTold && expected.startsWith(stdout) ? stdout : expected,
          });
        });
        await Promise.all(replays);
      }
      expect(existsSync(recorded.cwd)).toBe(false);
    },
  );
});

test(
  verifies("X11", "a summarised conversation with tools of an MCP server and of the web is replayed in every format"),
  { timeout: 60_000 },
  async () => {
    const say = (text: string) => ({ events: [{ text }], usage: { promptTokens: 950, completionTokens: 10 } });
    const cwd = folders.newFolder({
      "before.json": JSON.stringify({ turns: [say("First. ".repeat(200)), say("Second. ".repeat(200))] }),
      "now.json": JSON.stringify({
        turns: [
          { events: [{ text: "What was done." }] },
          {
            events: [
              call("mcp__math__add", { a: 2, b: 3 }),
              call("web_fetch", { url: "http://127.0.0.1:9/" }),
              call("mcp__math__fail", {}),
            ],
          },
          { events: [{ text: "Done." }] },
        ],
      }),
      "home/config.json": JSON.stringify({
        contextTokens: { "scripted:now.json": 1000 },
        mcpServers: { math: { command: process.execPath, args: [mcpServer] } },
      }),
    });
    const place = { cwd, home: join(cwd, "home") };
    const prompt = (model: string, ...args: readonly string[]) =>
      runSheaf(["-p", "--force", "--model", `scripted:${model}`, ...args], place);
    const session = String(parseStream((await prompt("before.json", "one")).stdout)[0]!.session_id);
    await prompt("before.json", "--resume", session, "two");
    const recorded = await prompt("now.json", "--resume", session, "--record", "run.ndjson", "three");
    expect([recorded.code, recorded.stderr]).toEqual([0, ""]);
    expect(readFileSync(join(cwd, "run.ndjson"), "utf8")).toContain('["compaction"]');
    const comparisons = formats.map(async (format) => {
      const shown = await runSheaf(["show", session, "--output-format", format], place);
      const replayed = await runSheaf(["replay", "run.ndjson", "--output-format", format], place);
      expect([replayed.code, replayed.stderr]).toEqual([0, ""]);
      // The response is the last one of the session.
      expect(shown.stdout.slice(-replayed.stdout.length)).toBe(replayed.stdout);
      expect(replayed.stdout).toContain(format === "stream-json" ? recorded.stdout : "Done.");
    });
    await Promise.all(comparisons);
  },
);

test(
  verifies(
    ["X1", "X2", "X11"],
    "replayed again and again is byte for byte what the server streams of the recorded run",
  ),
  { timeout: soakTimeout },
  async () => {
    const recorded = await record(cases["every tool"]!);
    const home = join(recorded.cassette, "..");
    const args = ["replay", recorded.cassette, "--output-format", "documents-stream"];
    const server = await startServer({ cwd: recorded.cwd, home });
    const elsewhere = folders.newFolder();
    const bodies = new Set<string>();
    for (let round = 0; round < chooseRuns(2, 100); round += 1) {
      const { stdout } = await runSheaf(args, { cwd: elsewhere, home: join(elsewhere, "home") });
      const events = toLines(stdout).map((line) => JSON.parse(line) as StreamEvent);
      const answer = await server.fetch(`/v1/responses/${reduce(events).id}/events`);
      expect(encodeRetry(1000) + events.map(encodeSse).join("")).toBe(await answer.text());
      bodies.add(stdout);
    }
    expect(bodies.size).toBe(1);
  },
);

describe("a cassette", () => {
  test(verifies(["X11", "S-41", "S-42"], "is for its owner alone, and holds nothing of the environment"), async () => {
    const { cassette } = await record(cases["every tool"]!);
    expect(statSync(cassette).mode & 0o777).toBe(0o600);
    const text = readFileSync(cassette, "utf8");
    expect(text).not.toContain(canary);
    expect(JSON.parse(toLines(text)[0]!)).toMatchObject({ cassette: 1, start: { prompt: "go" } });
    expect(JSON.parse(toLines(text).at(-1)!)).toEqual({ type: "end" });
  });

  test(
    verifies(["X11", "C20", "C21", "C22"], "of another run: one line on stderr, the same in the last line"),
    async () => {
      const { cassette } = await record(cases["every tool"]!);
      const cwd = folders.newFolder();
      const text = readFileSync(cassette, "utf8");
      const lineNumber = toLines(text).findIndex((line) => line.includes('"type":"tool_call"')) + 1;
      writeFileSync(
        join(cwd, "other.ndjson"),
        text
          .replace('"type":"tool_call"', '"x":1,"type":"tool_call"')
          .replace(/("type":"tool_call".*?)src\/main.py/, "$1src/other.py"),
      );
      const { code, stderr, stdout } = await runSheaf(["replay", "other.ndjson"], { cwd });
      expect(code).toBe(1);
      expect(toLines(stderr)).toHaveLength(1);
      const message =
        `the replay differs at record ${lineNumber} of other.ndjson: expected the call read_file ` +
        `{"target_file":"src/other.py"}, but the run makes the call read_file {"target_file":"src/main.py"}`;
      expect(stderr).toBe(`sheaf: INTERNAL: ${message}\n`);
      expect(parseStream(stdout).at(-1)).toMatchObject({ subtype: "error", error: { code: "INTERNAL", message } });
    },
  );

  test(verifies(["X11", "C20", "C22"], "that was cut short, is foreign or missing says so with code 2"), async () => {
    const { cassette } = await record(cases["a quota"]!);
    const lines = toLines(readFileSync(cassette, "utf8"));
    const cwd = folders.newFolder({ "README.md": "# Read me\n\nText.\n" });
    writeFileSync(join(cwd, "cut.ndjson"), lines.slice(0, 5).join(""));
    const cut = await runSheaf(["replay", "cut.ndjson"], { cwd });
    expect([cut.code, cut.stderr]).toEqual([
      2,
      expect.stringContaining("CONFIG_INVALID: the cassette cut.ndjson ends at line 5,"),
    ]);
    expect(parseStream(cut.stdout).at(-1)).toMatchObject({ subtype: "error", error: { code: "CONFIG_INVALID" } });
    const foreign = await runSheaf(["replay", "README.md"], { cwd });
    expect([foreign.code, foreign.stdout]).toEqual([2, ""]);
    expect(foreign.stderr).toContain("CONFIG_INVALID: the cassette README.md cannot be used, line 1: it is not JSON");
    const missing = await runSheaf(["replay", "none.ndjson"], { cwd });
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining("USAGE: the cassette none.ndjson cannot be read (the file does not exist)"),
    ]);
    expect((await runSheaf(["replay"], { cwd })).code).toBe(2);
  });

  test(verifies(["X11", "C22"], "is not written over what is none: the run does not begin"), async () => {
    const cwd = folders.newFolder({ "README.md": "# Read me\n" });
    const run = await runSheaf(["-p", "--model", "offline", "--record", "README.md", "hello"], { cwd });
    expect([run.code, parseStream(run.stdout).at(-1)]).toMatchObject([2, { error: { code: "USAGE" } }]);
    expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("# Read me\n");
  });

  test(
    verifies(["X11", "S-41"], "with --redact is a cassette without the user's folder and secrets; it replays"),
    async () => {
      const { cassette } = await record(cases["every tool"]!);
      const cwd = folders.newFolder();
      const text = readFileSync(cassette, "utf8");
      writeFileSync(cassette, text.replaceAll("Done.", `Done, ${canary} of /home/ada.`));
      const environment = { SOME_TOKEN: canary, USER: "somebody" };
      const redacted = await runSheaf(["replay", cassette, "--redact", "shared.ndjson"], { cwd, environment });
      expect([redacted.code, redacted.stdout, redacted.stderr]).toEqual([0, "", ""]);
      expect(statSync(join(cwd, "shared.ndjson")).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(cwd, "shared.ndjson"), "utf8")).not.toContain(canary);
      const replayed = await runSheaf(["replay", "shared.ndjson"], { cwd });
      expect([replayed.code, replayed.stderr]).toEqual([0, ""]);
      expect(parseStream(replayed.stdout).at(-1)!.result).toMatch(/Done, x+ of \/home\/xxx\.$/);
    },
  );
});
