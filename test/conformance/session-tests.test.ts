/** Stored sessions run again as tests, without their model (section 4 of docs/formats/cli.md). */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";

import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { chooseRuns } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const { newFolder } = createTestFolder();

const call = (tool: string, args: object) => ({ call: { tool, arguments: args } });

const script = {
  turns: [
    { events: [{ text: "I look." }, call("read_file", { target_file: "cart.js" })] },
    { events: [call("run_terminal_cmd", { command: "node test.js; date; pwd" })] },
    { events: [call("edit_file", { target_file: "cart.js", old_string: ", 1)", new_string: ", 0)" })] },
    {
      events: [call("run_terminal_cmd", { command: "node test.js" })],
    },
    { events: [{ text: "Fixed: the sum began at 1." }] },
    { events: [call("write_file", { target_file: "NOTES.md", content: "Sums begin at 0.\n" })] },
    { events: [{ text: "Noted." }] },
  ],
};

const files = {
  "cart.js": "export const total = (items) => items.reduce((sum, { price }) => sum + price, 1);\n",
  "test.js":
    'import { total } from "./cart.js";\nconst sum = total([{ price: 2 }]);\nconsole.log("total", sum, performance.now() + " ms");\nprocess.exit(sum === 2 ? 0 : 1);\n',
  "package.json": '{"type":"module"}\n',
  ".gitignore": "node_modules\n",
  "node_modules/big/index.js": "x".repeat(500_000),
};

/** A workspace with a session of two responses, and its test. */
interface Place {
  readonly cwd: string;
  readonly home: string;
  readonly session: string;
  readonly added: Awaited<ReturnType<typeof runSheaf>>;
  /** The test, as it was added. */
  readonly text: string;
}

async function addTest(): Promise<Place> {
  const cwd = newFolder(files);
  const home = newFolder({ "s.json": JSON.stringify(script) });
  const run = (...words: readonly string[]) => runSheaf(words, { cwd, home });
  const model = ["-p", "--model", `scripted:${join(home, "s.json")}`];
  const session = String(parseStream((await run(...model, "Fix the cart")).stdout)[0]!.session_id);
  await run(...model, "--resume", session, "Note it");
  const added = await run("test", "add", session, "--name", "cart", "--trust");
  return { cwd, home, session, added, text: readFileSync(join(cwd, ".sheaf/tests/cart.yaml"), "utf8") };
}

describeWithBubblewrap("a session as a test", () => {
  let place: Place;
  beforeAll(async () => {
    place = await addTest();
  }, 60_000);

  const run = (...words: readonly string[]) => runSheaf(["test", ...words, "--trust"], place);

  /** Runs the test with changes; gives what it prints. */
  async function runChanged(...changes: readonly (readonly [string | RegExp, string])[]): Promise<string> {
    const text = changes.reduce((changed, [from, to]) => changed.replace(from, to), place.text);
    if (changes.length > 0) expect(text).not.toBe(place.text);
    const file = join(newFolder(), "changed.yaml");
    writeFileSync(file, text);
    const { code, stdout, stderr } = await run(file);
    expect([code, stderr.includes("VERIFY_FAILED")]).toEqual(stdout.startsWith("pass") ? [0, false] : [11, true]);
    return stdout;
  }

  test(verifies(["C190", "X11"], "has the files, the answers and the results of the session, and passes"), () => {
    expect([place.added.code, place.added.stdout]).toEqual([0, "pass  cart\n1 of 1 test passed.\n"]);
    expect(place.text).toContain("prompt: Fix the cart");
    expect(place.text).toContain("prompt: Note it");
    expect(place.text).toContain("total 3 ");
    expect(place.text).not.toMatch(/x{100}/);
    expect(place.text).toMatch(/expect:\n  files:\n    NOTES.md: \|\n      Sums begin at 0.\n    cart.js: \|/);
  });

  test(verifies("C191", "passes again, whatever the time, the folder and the ids"), async () => {
    const copies = Array.from({ length: 2 * chooseRuns(5) }, () =>
      join(newFolder({ "cart.yaml": place.text }), "cart.yaml"),
    );
    expect((await run(...copies)).stdout).toContain(`${copies.length} of ${copies.length} tests passed.`);
  });

  test(verifies("C191", "a workspace of a repository is a commit"), async () => {
    const turns =
      "turns: [{ calls: [{ tool: run_terminal_cmd, arguments: { command: git log --format=%s }, returns: Start of the test }] }, { text: Done. }]";
    const text = `files: { a.txt: a }\ngit: true\nresponses: [{ prompt: Go, ${turns} }]\n`;
    const { code, stdout } = await run(join(newFolder({ "git.yaml": text }), "git.yaml"));
    expect([code, stdout]).toEqual([0, "pass  git\n1 of 1 test passed.\n"]);
  });

  const denied = 'config:\n  permissions:\n    deny: ["Write(cart.js)"]\nresponses:';
  test.each([
    [
      "a tool's result",
      [["total 3 ", "total 4 "]],
      "response 1, turn 2, call 1 (run_terminal_cmd): the tool returned",
      "-total 4",
    ],
    ["a model's answer", [[/new_string: .*/, 'new_string: ", 5)"']], "response 1, turn 4, call 1", "+total 7"],
    [
      "a missing answer",
      [[/ {6}- text: Noted\.\n/, ""]],
      "response 2: the run asks for more answers",
      "-1 turns, completed",
    ],
    ["a rule", [["responses:", denied]], "response 1, turn 3, call 1 (edit_file): the tool returned", "+rejected"],
    [
      "the prompt",
      [["prompt: Fix the cart", "prompt: Mend the cart"]],
      "response 1: the model is sent something else: prompt",
      "",
    ],
    [
      "the instructions",
      [["files:", "files:\n  AGENTS.md: Be kind."]],
      "response 1: the model is sent something else: system prompt",
      "",
    ],
    [
      "a hook",
      [
        [
          "responses:",
          'config:\n  hooks:\n    PreToolUse: [{ matcher: Edit, hooks: [{ type: command, command: "exit 2" }] }]\nresponses:',
        ],
      ],
      "response 1, turn 3, call 1 (edit_file)",
      "+rejected",
    ],
  ] as const)(verifies("C191", "%s that changed is the first divergence"), async (_name, changes, place_, line) => {
    const stdout = await runChanged(...changes);
    expect(stdout).toMatch(/^FAIL {2}changed\n/);
    expect(stdout).toContain(place_);
    expect(stdout).toContain(line);
  });

  test.each([
    ["end: RATE_LIMITED", "expect: end"],
    ["calls: [edit_file, read_file]", "calls: read_file was not called in this order"],
    ['never: ["Shell(node test.js)"]', "response 1, turn 2, call 1"],
    ['answer: ["^Done"]', "answer: /^Done/ does not match"],
    ['sees: ["^nothing$"]', "expect: sees: /^nothing$/ does not match the last request"],
    ["max_turns: 3", "max_turns: 7 turns, not 3"],
  ])(verifies("C192", "%s fails where it is not so"), async (line, message) => {
    expect(await runChanged(["expect:", `expect:\n  ${line}`])).toContain(message);
  });

  test(verifies("C192", "texts and limits that hold pass"), async () => {
    const lines = 'expect:\n  answer: ["^Noted"]\n  calls: [read_file, edit_file]\n  max_turns: 7\n  end: completed';
    expect(await runChanged(["expect:", lines])).toMatch(/^pass/);
    expect(await runChanged(["cart.js: |\n      export", "cart.js: |\n      import"])).toContain(
      "files: cart.js has another",
    );
  });

  test(verifies("C193", "cases of rules are decided with the test's own"), async () => {
    const rules =
      'config: { permissions: { deny: ["Shell(rm)"] } }\nrules:\n  deny: [{ command: rm -rf x }]\nresponses:';
    expect(await runChanged(["responses:", rules])).toMatch(/^pass/);
    const wrong = rules.replace("rules:\n  deny", "rules:\n  allow");
    expect(await runChanged(["responses:", wrong])).toContain('rules: {"command":"rm -rf x"} is deny, not allow');
  });

  test(
    verifies("C194", "nothing of a workspace runs before it is trusted, and a failure names the way out"),
    async () => {
      const { code, stderr } = await runSheaf(["test"], place);
      expect([code, stderr]).toEqual([
        8,
        expect.stringMatching(/PERMISSION_REQUIRED: the tests of .* run sheaf trust/),
      ]);
      for (const [words, message] of [
        [["nothing"], 'the test "nothing" does not exist'],
        [["add", place.session, "--name", "cart"], "cart.yaml exists"],
        [["add", place.session, "--name", "../x"], '--name "../x" is not valid'],
        [["--runs", "3"], "add --live"],
        [["--live"], "--live needs a model"],
      ] as const) {
        const refused = await run(...words);
        expect([words, refused.code, refused.stderr]).toEqual([words, 2, expect.stringContaining(message)]);
      }
    },
  );

  test(verifies("C194", "--update accepts, --live judges what is expected, reports are for a CI"), async () => {
    const file = join(newFolder(), "t.yaml");
    writeFileSync(file, place.text.replace("total 3 ", "total <4> "));
    const failed = await run(file, "--format", "junit");
    expect(failed.stdout).toContain("<failure message=");
    expect(failed.stdout).toContain("-total &lt;4&gt; &lt;time&gt;");
    expect((await run(file, "--format", "markdown")).stdout).toContain("| t | **fail** | response 1, turn 2");
    await run(file, "--update");
    expect((await run(file)).code).toBe(0);
    const model = `scripted:${join(place.home, "s.json")}`;
    const live = await run(file, "--live", "--model", model, "--runs", "2");
    expect([live.code, live.stdout]).toEqual([
      0,
      expect.stringMatching(/^pass {2}t {2}2 of 2 runs, 14 turns, \d+ tokens/),
    ]);
    const broken = newFolder({ "s.json": JSON.stringify({ turns: [{ events: [], finish: "refusal" }] }) });
    const refused = await run(file, "--live", "--model", `scripted:${join(broken, "s.json")}`);
    expect([refused.code, refused.stdout]).toEqual([11, expect.stringMatching(/response 1: its end.*\+REFUSED/s)]);
  });

  test.each([
    ["../outside.txt: x", "is not in its workspace"],
    [".git/config: x", "is not in its workspace"],
    ["a: { link: / }\n  a/b: x", "cannot be written"],
  ])(verifies("C191", "a hostile file %s is refused"), async (line, message) => {
    const file = join(newFolder(), "t.yaml");
    writeFileSync(file, place.text.replace("files:", `files:\n  ${line}`));
    const { code, stderr } = await run(file);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(join(newFolder(), "outside.txt"))).toBe(false);
  });
});
