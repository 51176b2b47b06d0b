/** The failure contract: exit code, last line and stderr agree. */
import { openSync, closeSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeWithNamespaces, toNamespaceWrapper } from "../support/namespace.ts";
import {
  createTestFolder,
  parseStream,
  runAsNeeded,
  runProgram,
  runSheaf,
  type ProgramOptions,
} from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

type Script = Readonly<Record<string, unknown>>;

function writeScript(cwd: string, script: Script): string {
  const file = join(cwd, "script.json");
  writeFileSync(file, JSON.stringify(script));
  return `scripted:${file}`;
}

const run = (cwd: string, script: Script, args: readonly string[] = [], options: Partial<ProgramOptions> = {}) =>
  runAsNeeded(["-p", "--model", writeScript(cwd, script), ...args, "go"], { cwd, ...options });

const failWith = (code: string): Script => ({
  turns: [{ events: [{ text: "half" }, { error: { code, message: "m" } }] }],
});
const callForever = {
  turns: [{ events: [{ text: "t" }, { call: { tool: "list_dir", arguments: {} } }] }],
  after: "repeat_last",
};

/** Script, flags, exit code and error code of every way to fail that a model or a budget brings. */
const failures: readonly (readonly [string, Script, readonly string[], number])[] = [
  ["AUTH_REJECTED", failWith("AUTH_REJECTED"), [], 3],
  ["PROVIDER_REJECTED", failWith("PROVIDER_REJECTED"), [], 4],
  ["CONTEXT_LENGTH", failWith("CONTEXT_LENGTH"), [], 4],
  ["CONTENT_FILTER", { turns: [{ events: [{ text: "x" }], finish: "content_filter" }] }, [], 4],
  ["MODEL_NOT_FOUND", failWith("MODEL_NOT_FOUND"), [], 4],
  ["RATE_LIMITED", failWith("RATE_LIMITED"), [], 5],
  ["OVERLOADED", failWith("OVERLOADED"), [], 5],
  ["NETWORK", failWith("NETWORK"), [], 5],
  ["STREAM_STALLED", failWith("STREAM_STALLED"), [], 5],
  ["STREAM_TRUNCATED", { turns: [{ events: [{ text: "half" }, { end: "truncated" }] }] }, [], 5],
  ["EMPTY_ANSWER", { turns: [{ events: [] }], after: "repeat_last" }, [], 6],
  ["MAX_TOKENS", { turns: [{ events: [{ text: "half" }], finish: "max_tokens" }], after: "repeat_last" }, [], 6],
  ["REFUSED", { turns: [{ events: [{ text: "no" }], finish: "refusal" }] }, [], 6],
  ["BUDGET_TURNS", callForever, ["--max-turns", "2"], 7],
  ["BUDGET_TOOLS", callForever, ["--max-tool-calls", "2"], 7],
  [
    "BUDGET_TOKENS",
    {
      ...callForever,
      turns: [{ ...callForever.turns[0], usage: { promptTokens: 9, completionTokens: 1, totalTokens: 10 } }],
    },
    ["--max-tokens", "15"],
    7,
  ],
  ["BUDGET_TIME", { turns: [{ events: [{ text: "t" }, { stall: true }] }] }, ["--timeout", "0.5"], 7],
  [
    "PERMISSION_REQUIRED",
    { turns: [{ events: [{ call: { tool: "run_terminal_cmd", arguments: { command: "touch x" } } }] }] },
    ["--on-denied", "stop", "--sandbox", "disabled"],
    8,
  ],
  ["CONFIG_INVALID", { turns: "none" }, [], 2],
];

describe("every failure", () => {
  test.each(failures)(
    verifies(["C20", "C21", "C22", "R-12"], "%s: exit code, last line and stderr agree"),
    async (code, script, args, exitCode) => {
      const cwd = folders.newFolder();
      const stream = await run(cwd, script, args);
      expect(stream.code).toBe(exitCode);
      expect(stream.stderr).toMatch(new RegExp(`^sheaf: ${code}: [^\\n]+\\n$`));
      const lines = parseStream(stream.stdout);
      expect(lines.filter(({ type }) => type === "result")).toHaveLength(1);
      const last = lines.at(-1)!;
      expect(last).toMatchObject({
        type: "result",
        subtype: "error",
        is_error: true,
        error: { code, retryable: exitCode === 5 || code === "EMPTY_ANSWER" },
      });
      expect(stream.stderr).toBe(`sheaf: ${code}: ${(last.error as { message: string }).message}\n`);
      const begun = lines.filter(({ subtype }) => subtype === "started").map(({ call_id }) => call_id);
      expect(lines.filter(({ subtype }) => subtype === "completed").map(({ call_id }) => call_id)).toEqual(begun);

      const json = await run(cwd, script, ["--output-format", "json", ...args]);
      expect([json.code, json.stdout]).toEqual([exitCode, ""]);
      expect(json.stderr.replace(/ \(session [0-9a-f-]{36}\)\n$/, "\n")).toBe(stream.stderr);
    },
  );

  test(verifies(["C5", "C20", "C22"], "no model, and an unknown one, are reported before anything runs"), async () => {
    const cwd = folders.newFolder();
    const none = await runSheaf(["-p", "go"], { cwd });
    expect(none.code).toBe(3);
    expect(none.stderr).toMatch(/^sheaf: AUTH_REQUIRED: .*--model offline.*\n$/);
    const lines = parseStream(none.stdout);
    expect(lines.at(-1)).toMatchObject({ subtype: "error", error: { code: "AUTH_REQUIRED" } });
    expect(lines[0]!.sandbox).toBe("untried");
    const unknown = await runSheaf(["-p", "--model", "gpt-99", "--output-format", "json", "go"], { cwd });
    expect([unknown.code, unknown.stdout]).toEqual([4, ""]);
    expect(unknown.stderr).toMatch(/^sheaf: MODEL_NOT_FOUND: .*"gpt-99".*\n$/);
  });

  test(verifies("C21", "--verbose adds detail, still no stack trace"), async () => {
    const cwd = folders.newFolder();
    const script = { turns: [{ events: [{ error: { code: "OVERLOADED", message: "m", details: "request 17" } }] }] };
    const { stderr } = await run(cwd, script, ["--verbose"]);
    expect(stderr).toBe("sheaf: OVERLOADED: m\nrequest 17\n");
  });

  test(verifies("C21", "control characters of a provider's message never reach the terminal"), async () => {
    const cwd = folders.newFolder();
    const { stderr } = await run(cwd, {
      turns: [{ events: [{ error: { code: "NETWORK", message: "a\u001b[2J\nb" } }] }],
    });
    expect(stderr).toBe("sheaf: NETWORK: a␛[2J b\n");
  });
});

test(verifies(["C20", "C21"], "a current folder that is gone is named, with how to fix it"), async () => {
  const cwd = folders.newFolder({ "gone/x": "" });
  const leave = ["sh", "-c", `cd gone && rm -r ${join(cwd, "gone")} && exec "$@"`, "sh"];
  const { code, stderr } = await runProgram(["-p", "--model", "offline", "go"], { cwd, wrapper: leave });
  expect([code, stderr]).toEqual([2, "sheaf: USAGE: the current folder is gone: go to one that exists\n"]);
});

describe("a question", () => {
  const ask = {
    turns: [
      {
        events: [
          {
            call: {
              tool: "ask_question",
              arguments: {
                title: "First",
                questions: [{ id: "q", prompt: "Which?", options: [{ id: "a", label: "A" }] }],
              },
            },
          },
        ],
      },
      { events: [{ text: "Then A." }] },
    ],
  };

  test(
    verifies(["C20", "C22", "C25", "N42"], "ends the run with code 10; the answer goes on in the same session"),
    async () => {
      const cwd = folders.newFolder();
      const asked = await run(cwd, ask);
      expect(asked.code).toBe(10);
      const last = parseStream(asked.stdout).at(-1)!;
      expect(asked.stderr).toMatch(/^sheaf: NEEDS_INPUT: [^\n]+\n$/);
      expect(asked.stderr).toContain(`answer with sheaf answer ${String(last.session_id)} QUESTION=ANSWER`);
      expect(last).toMatchObject({
        subtype: "needs_input",
        is_error: false,
        questions: [{ id: "q", prompt: "Which?" }],
      });
      const session = String(last.session_id);
      const model = writeScript(cwd, ask);
      const answered = await runSheaf(["answer", session, "q=a", "--model", model], { cwd });
      expect([answered.code, answered.stderr]).toEqual([0, ""]);
      const lines = parseStream(answered.stdout);
      expect(lines[0]!.session_id).toBe(session);
      expect(lines.at(-1)).toMatchObject({ subtype: "success", result: "Then A." });
      const json = await run(cwd, ask, ["--output-format", "json"]);
      expect(json.code).toBe(10);
      expect(parseStream(json.stdout)).toMatchObject([{ subtype: "needs_input" }]);
    },
  );

  test(verifies(["C25", "N73"], "questions without an answer are skipped, and the model is told which"), async () => {
    const cwd = folders.newFolder();
    const questions = ["first", "second"].map((id) => ({ id, prompt: `${id}?`, options: [] }));
    const asks = { call: { tool: "ask_question", arguments: { title: "Two", questions } } };
    const turns = [{ events: [asks] }, { events: [{ text: "Then." }] }];
    const session = String(parseStream((await run(cwd, { turns })).stdout)[0]!.session_id);
    const words = ["answer", session, "second=blue", "--model", writeScript(cwd, { turns })];
    const { code, stdout } = await runSheaf(words, { cwd });
    expect([code, parseStream(stdout).at(-1)]).toEqual([0, expect.objectContaining({ result: "Then." })]);
    expect(stdout).toContain('"text":"second: blue"');
    const { stdout: exported } = await runSheaf(["export", session], { cwd });
    expect(exported).toContain(
      '"answers":[{"documentId":"doc_001","questionId":"first","optionIds":[],"text":""},{"documentId":"doc_001","questionId":"second","optionIds":[],"text":"blue"}]',
    );
  });

  test(verifies(["C21", "N42"], "an answer whose run failed is kept, and the message says how to go on"), async () => {
    const cwd = folders.newFolder();
    const session = String(parseStream((await run(cwd, ask)).stdout)[0]!.session_id);
    const short = writeScript(cwd, { turns: ask.turns.slice(0, 1) });
    expect((await runSheaf(["answer", session, "q=a", "--model", short], { cwd })).code).toBe(2);
    const again = await runSheaf(["answer", session, "q=a", "--model", short], { cwd });
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining(`--resume ${session} "continue"\n`)]);
    const model = writeScript(cwd, { turns: [...ask.turns, { events: [{ text: "Then A." }] }] });
    const words = ["-p", "--resume", session, "--model", model, "--output-format", "text", "continue"];
    expect((await runSheaf(words, { cwd })).stdout).toBe("Then A.\n");
    const exported = await runSheaf(["export", session], { cwd });
    expect(exported.stdout).toContain('"questionId":"q"');
  });

  test(
    verifies(["C25", "N42"], "no answer is made up: none at all, or one for no question, is a usage error"),
    async () => {
      const cwd = folders.newFolder();
      const session = String(parseStream((await run(cwd, ask)).stdout)[0]!.session_id);
      const fail = async (...words: readonly string[]) => {
        const { code, stdout, stderr } = await runSheaf(["answer", ...words], { cwd });
        expect(code).toBe(2);
        const id = words[0] === "nobody" ? (expect.any(String) as string) : words[0];
        expect(parseStream(stdout).at(-1)).toMatchObject({ session_id: id, error: { code: "USAGE" } });
        return stderr;
      };
      expect(await fail(session)).toContain("no question has an answer: add ID=ANSWER for q");
      expect(await fail(session, "q=")).toContain('the answer to "q" is empty');
      expect(await fail(session, "q=a", "q=b")).toContain('"q" is answered twice');
      expect(await fail(session, "x=a", "q=a")).toContain('"x=a" answers no question');
      expect(await fail("nobody", "a")).toContain('but got "nobody a"');
      expect(await fail("0d6f4b52-5c0e-4bb4-9f3c-1d2a3b4c5d6f", "a")).toContain("not stored");
    },
  );
});

describe("stdout", () => {
  const long = { turns: [{ events: [{ text: "word ", repeat: 200_000 }] }] };

  test(verifies(["C23", "R-17"], "closed by its reader ends the run soon, without a trace"), async () => {
    const cwd = folders.newFolder();
    const { code, stderr, duration } = await run(cwd, long, [], {
      onOutput: (_output, child) => child.stdout?.destroy(),
    });
    expect(code).toBe(1);
    expect(stderr).toBe("");
    expect(duration).toBeLessThan(10_000);
  });

  test(verifies(["C23", "R-17"], "on a full disk ends with a code and one line"), async () => {
    const cwd = folders.newFolder();
    const full = openSync("/dev/full", "w");
    const { code, stderr } = await run(cwd, long, [], { stdout: full });
    closeSync(full);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sheaf: INTERNAL: [^\n]*ENOSPC[^\n]*\n$/);
  });

  test(
    verifies(["C21", "C23"], "on a full disk is reported in the same words by commands that are not runs"),
    async () => {
      const passing = "responses:\n  - prompt: go\n    turns:\n      - text: Done.\n";
      const cwd = folders.newFolder({ ".sheaf/tests/a.yaml": passing });
      for (const args of [["models"], ["convert", "--from", "markdown", "--to", "documents"], ["test", "--trust"]]) {
        const full = openSync("/dev/full", "w");
        const { code, stderr } = await runProgram(args, { cwd, stdout: full, input: "x" });
        closeSync(full);
        expect([code, stderr], args[0]).toEqual([
          1,
          "sheaf: INTERNAL: stdout accepts no more output (ENOSPC): free some space, or write to another file\n",
        ]);
      }
    },
  );

  test(verifies("C23", "closed by its reader ends convert without a trace"), async () => {
    const cwd = folders.newFolder();
    const { code, stderr } = await runProgram(["convert", "--from", "markdown", "--to", "documents-stream"], {
      cwd,
      input: "a word, and then another\n\n".repeat(100_000),
      onOutput: (_output, child) => child.stdout?.destroy(),
    });
    expect([code, stderr]).toEqual([1, ""]);
  });

  test(verifies(["C4", "R-09"], "of a slow reader gets every byte"), async () => {
    const cwd = folders.newFolder();
    let paused = false;
    const { code, stdout } = await run(
      cwd,
      { turns: [{ events: [{ text: "word ", repeat: 20_000, group: 50 }] }] },
      [],
      {
        onOutput(_output, child) {
          if (paused) return;
          paused = true;
          child.stdout!.pause();
          setTimeout(() => child.stdout!.resume(), 1500);
        },
      },
    );
    expect(code).toBe(0);
    expect(parseStream(stdout).at(-1)!.result).toBe("word ".repeat(20_000));
  });
});

describeWithNamespaces("a pipe that cannot be opened again, as under su and sudo,", () => {
  test(verifies(["C4", "R-09"], "is written to all the same"), async () => {
    const cwd = folders.newFolder();
    const text = { turns: [{ events: [{ text: "word ", repeat: 20_000, group: 50 }] }] };
    let paused = false;
    const { code, stdout, stderr } = await run(cwd, text, [], {
      wrapper: [
        // A socket is handed on as a pipe; without /proc no descriptor can be opened anew.
        ...toNamespaceWrapper("mount -t tmpfs tmpfs /proc"),
        "sh",
        "-c",
        '{ "$@"; echo $? >code; } | cat; exit $(cat code)',
        "sh",
      ],
      onOutput(_output, child) {
        if (paused) return;
        paused = true;
        child.stdout!.pause();
        setTimeout(() => child.stdout!.resume(), 700);
      },
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(parseStream(stdout).at(-1)!.result).toBe("word ".repeat(20_000));
  });
});

describe("silence", () => {
  const silent = { turns: [{ events: [{ text: "a" }, { wait_ms: 700 }, { text: "b" }] }] };

  test(verifies("C26", "prints nothing by default, and heartbeat lines when asked for"), async () => {
    const cwd = folders.newFolder();
    const quiet = parseStream((await run(cwd, silent)).stdout);
    expect(quiet.map(({ subtype, type }) => subtype ?? type)).toEqual([
      "init",
      "user",
      "assistant",
      "assistant",
      "success",
    ]);
    const { stdout, stderr, code } = await run(cwd, silent, ["--heartbeat", "0.2"]);
    expect([code, stderr]).toEqual([0, ""]);
    const lines = parseStream(stdout);
    const beats = lines.filter(({ subtype }) => subtype === "heartbeat");
    expect(beats.length).toBeGreaterThanOrEqual(2);
    expect(lines.indexOf(beats[0]!)).toBe(3);
    expect(lines.at(-1)).toMatchObject({ subtype: "success", result: "ab" });
  });
});

describe("cost", () => {
  const usage = { promptTokens: 1000, completionTokens: 100 };
  const list = { events: [{ text: "t" }, { call: { tool: "list_dir", arguments: {} } }], usage };

  test(
    verifies(["C10", "C20", "C24"], "is counted by the user's price table, and ends the run at its budget"),
    async () => {
      const cwd = folders.newFolder();
      const home = folders.newFolder();
      const model = writeScript(cwd, { turns: [list, { events: [{ text: "Done." }], usage }] });
      const price = { input: 3, output: 15 };
      writeFileSync(join(home, "config.json"), JSON.stringify({ prices: { [model]: price } }));
      const free = await runSheaf(["-p", "--model", model, "go"], { cwd, home });
      expect(parseStream(free.stdout).at(-1)!.total_cost_usd).toBeCloseTo(2 * (0.003 + 0.0015), 9);
      const budget = await runSheaf(["-p", "--model", model, "--max-cost-usd", "0.004", "go"], { cwd, home });
      expect(budget.code).toBe(7);
      expect(budget.stderr).toMatch(/^sheaf: BUDGET_COST: [^\n]*\$0\.0045[^\n]*--max-cost-usd\n$/);
      const unknown = await runSheaf(["-p", "--model", "offline", "--max-cost-usd", "1", "go"], { cwd, home });
      expect(unknown.code).toBe(2);
      expect(unknown.stderr).toMatch(/^sheaf: CONFIG_INVALID: [^\n]*"offline"[^\n]*config\.json[^\n]*\n$/);
      // The example works when it is copied.
      const example = unknown.stderr.slice(unknown.stderr.indexOf("{"), unknown.stderr.lastIndexOf("}") + 1);
      writeFileSync(join(home, "config.json"), example);
      const known = await runSheaf(["-p", "--model", "offline", "--max-cost-usd", "1", "hello"], { cwd, home });
      expect([known.code, known.stderr]).toEqual([0, ""]);
    },
  );
});
