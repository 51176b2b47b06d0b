/** `sheaf permissions`, and rules from flags, configuration and workspace, through the real program. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, parseStream, runSheaf, type SheafOptions } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { deniedEveryDay, everydayLines, pushEvasions } from "../../packages/permissions/test/deny-table.ts";

const folders = createTestFolder();

/** A user with this configuration. */
function createHome(config: unknown): string {
  const home = mkdtempSync(join(folders.path, "home-"));
  writeFileSync(join(home, "config.json"), JSON.stringify(config));
  return home;
}

type Case = { readonly decision: string; readonly rule: string | null; readonly reason: string };

/** Without a sandbox, so that rules decide. */
async function check(words: readonly string[], options: Partial<SheafOptions> = {}): Promise<Case> {
  const cwd = options.cwd ?? folders.newFolder();
  const run = await runSheaf(["permissions", "check", "--json", "--sandbox", "disabled", ...words], {
    cwd,
    ...options,
  });
  expect([run.code, run.stderr]).toEqual([0, ""]);
  const decision = JSON.parse(run.stdout) as Case;
  expect(Object.keys(decision)).toEqual(["decision", "rule", "reason"]);
  expect(decision.reason).toMatch(/^[^\n]+$/);
  return decision;
}

test(verifies(["S-10", "S-11"], "a check of one case prints decision, rule and reason"), async () => {
  expect(await check(["--command", "npm test"])).toMatchObject({ decision: "ask", rule: null });
  expect(await check(["--command", "npm test 2>&1 | tail -5", "--allow", "Shell(npm test)"])).toMatchObject({
    decision: "allow",
    rule: "Shell(npm test)",
  });
  expect(await check(["--command", "npm test", "--force", "--deny", "Shell(npm)"])).toMatchObject({
    decision: "deny",
    rule: "Shell(npm)",
  });
  expect(await check(["--command", "ls $(id)"])).toMatchObject({ decision: "ask" });
  expect(await check(["--path", "a.txt", "--access", "write"])).toMatchObject({ decision: "allow" });
  expect(await check(["--path", ".git/hooks/x", "--access", "write"])).toMatchObject({ decision: "deny" });
  expect(await check(["--path", "a/.ENV", "--access", "read", "--deny", "Read(.env)"])).toMatchObject({
    decision: "deny",
    rule: "Read(.env)",
  });
  const cwd = folders.newFolder({ "a.txt": "" });
  symlinkSync("a.txt", join(cwd, "link.txt"));
  const linked = ["--path", "link.txt", "--access", "read", "--ask", `Read(${cwd}/a.txt)`];
  expect(await check(linked, { cwd })).toMatchObject({ decision: "ask" });
  expect(await check(["--url", "https://example.org/"])).toMatchObject({ decision: "ask" });
  expect(await check(["--url", "https://example.org/", "--allow", "WebFetch(example.org)"])).toMatchObject({
    decision: "allow",
    rule: "WebFetch(example.org)",
  });
  expect(await check(["--mcp", "lab:read", "--allow", "Mcp(lab:*)"])).toMatchObject({
    decision: "allow",
    rule: "Mcp(lab:*)",
  });
});

test(
  verifies("C64", "an ask rule of the configuration refuses headless, even with --force; explain lists it"),
  async () => {
    const home = createHome({ permissions: { ask: ["Write(**)"] } });
    const call = { tool: "write_file", arguments: { target_file: "a.txt", content: "x" } };
    const script = { turns: [{ events: [{ call }] }, { events: [{ text: "refused" }] }] };
    const cwd = folders.newFolder({ "s.json": JSON.stringify(script) });
    const run = await runSheaf(["-p", "write", "--force", "--model", "scripted:s.json"], { cwd, home });
    expect(run.stdout).toMatch(/"rejected":\{"reason":"[^"]*Write\(\*\*\) asks before this/);
    const text = await runSheaf(["permissions", "explain", "--ask", "Shell(rm)"], { cwd, home });
    expect(text.stdout).toContain("ask    Shell(rm)  (flag)\n  ask    Write(**)  (config)\n");
    expect(await check(["--command", "rm a", "--force", "--ask", "Shell(rm)"], { home })).toMatchObject({
      decision: "ask",
    });
    const wrong = await runSheaf(["-p", "x", "--model", "offline", "--ask", "Network(a.org)"], { cwd });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/^sheaf: USAGE: .*cannot ask/)]);
  },
);

test(
  verifies("S-06", "rules of flags and configuration hold together, deny wins; explain says where each came from"),
  async () => {
    const home = createHome({
      permissions: { allow: ["Shell(npm test)", "Shell(git push)"], deny: ["Read(.env)", "Shell(git push)"] },
    });
    expect(await check(["--command", "npm test"], { home })).toMatchObject({
      decision: "allow",
      rule: "Shell(npm test)",
    });
    expect(await check(["--command", "git push", "--allow", "Shell(git)"], { home })).toMatchObject({
      decision: "deny",
      rule: "Shell(git push)",
    });
    expect(await check(["--path", ".env", "--access", "read", "--force"], { home })).toMatchObject({
      decision: "deny",
    });
    const words = ["permissions", "explain", "--json", "--sandbox", "disabled", "--deny", "Shell(rm)"];
    const explained = await runSheaf(words, { cwd: folders.newFolder(), home });
    const policy = JSON.parse(explained.stdout) as {
      readonly rules: unknown;
      readonly classes: readonly { class: string; decision: string }[];
    };
    expect(policy).toMatchObject({ mode: "agent", trusted: false, sandbox: "disabled" });
    expect(policy.rules).toEqual([
      { effect: "deny", rule: "Shell(rm)", source: "flag" },
      { effect: "deny", rule: "Read(.env)", source: "config" },
      { effect: "deny", rule: "Shell(git push)", source: "config" },
      { effect: "allow", rule: "Shell(npm test)", source: "config" },
      { effect: "allow", rule: "Shell(git push)", source: "config" },
    ]);
    expect(policy.classes.find((row) => row.class === "commands")).toMatchObject({ decision: "rules" });
    const text = await runSheaf(["permissions", "explain"], { cwd: folders.newFolder(), home });
    expect(text.stdout).toMatch(/^mode agent, sandbox \w+, workspace not trusted\n/);
    expect(text.stdout).toContain("deny   Read(.env)  (config)");
  },
);

test(verifies("S-04", "a rule of the configuration that cannot be read ends every run, and is named"), async () => {
  const home = createHome({ permissions: { deny: ["Read(.env)", "Read .ssh"] } });
  for (const words of [
    ["permissions", "explain"],
    ["-p", "--model", "offline", "--output-format", "text", "hello"],
  ]) {
    const run = await runSheaf(words, { cwd: folders.newFolder(), home });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/^sheaf: CONFIG_INVALID: .*config\.json.*permissions\.deny\[1\].*a rule/);
  }
});

test(verifies(["S-01", "S-06", "S-96"], "a workspace can only deny, and only where it is trusted"), async () => {
  const cwd = folders.newFolder({ ".sheaf/config.json": JSON.stringify({ permissions: { deny: ["Shell(npm)"] } }) });
  expect(await check(["--command", "npm test", "--force"], { cwd })).toMatchObject({ decision: "allow" });
  expect(await check(["--command", "npm test", "--force", "--trust"], { cwd })).toMatchObject({
    decision: "deny",
    rule: "Shell(npm)",
  });
  for (const content of [
    '{"permissions":{"allow":["Shell(*)"]}}',
    '{"model":"x"}',
    '{"afterEdit":[{"glob":"*","command":"touch owned"}]}',
    "{",
    '{"permissions":{"deny":["x"]}}',
  ]) {
    writeFileSync(join(cwd, ".sheaf/config.json"), content);
    expect(await check(["--command", "npm test"], { cwd })).toMatchObject({ decision: "ask" });
    const run = await runSheaf(["permissions", "check", "--command", "ls", "--trust"], { cwd });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/^sheaf: CONFIG_INVALID: .*\.sheaf\/config\.json .*or run without --trust.*\n$/);
  }
});

test(verifies(["S-01", "S-12"], "a program of an untrusted workspace does not replace one of the system"), async () => {
  const cwd = folders.newFolder({
    "s.json": JSON.stringify({
      turns: [
        { events: [{ call: { tool: "run_terminal_cmd", arguments: { command: "ls; uname" } } }] },
        { events: [{ text: "end" }] },
      ],
    }),
  });
  const bin = join(cwd, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  for (const name of ["ls", "uname"])
    writeFileSync(join(bin, name), `#!/bin/sh\necho x > ${join(cwd, "MARK")}\n`, { mode: 0o755 });
  const environment = { PATH: `${bin}:${process.env.PATH}` };
  const words = ["-p", "--model", "scripted:s.json", "--sandbox", "disabled", "go"];
  const run = await runSheaf(words, { cwd, environment });
  expect(run.code).toBe(0);
  const completed = parseStream(run.stdout).find(({ subtype }) => subtype === "completed")!;
  expect(completed).toHaveProperty("tool_call.shellToolCall.result.success.stdout", expect.stringContaining("Linux"));
  expect(existsSync(join(cwd, "MARK"))).toBe(false);
});

/** A folder in which the lines of every day find what they name. */
function createEverydayFolder(): string {
  const cwd = folders.newFolder({
    "a.txt": "x one\ny two\n",
    push: "x\n",
    rm: "y\n",
    "delete.txt": "z\n",
    "app.js": "console.log(process.argv.slice(2).join(' '));\n",
    "app.py": "import sys\nprint(sys.argv)\n",
    "data.json": "{}\n",
    "test.mjs": "",
    "script.sh": "echo script\n",
    "env.sh": "FROM_ENV=1\n",
    "src/b/x.js": "",
    Makefile: "all push:\n\t@echo made\n",
    ".gitignore": ".npm\n",
    "package.json": JSON.stringify({ scripts: { test: "node app.js", build: "node app.js", publish: "node app.js" } }),
  });
  for (const words of [
    ["init", "-q", "-b", "main"],
    ["config", "user.name", "a"],
    ["config", "user.email", "a@b"],
    ["add", "-A"],
    ["commit", "-qm", "x"],
  ]) {
    execFileSync("git", words, { cwd });
  }
  return cwd;
}

/** Of lines of every day, how many one call of the model runs. */
const batchSize = 10;

/** What the events of a headless run say of its commands. */
async function runCommands(
  cwd: string,
  commands: readonly string[],
  denies: readonly string[],
  words: readonly string[] = [],
): Promise<string[]> {
  const calls = commands.map((command) => ({ call: { tool: "run_terminal_cmd", arguments: { command } } }));
  writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: [{ events: calls }, { events: [{ text: "end" }] }] }));
  const rules = denies.flatMap((rule) => ["--deny", rule]);
  const run = await runSheaf(["-p", "--model", "scripted:s.json", "--force", ...rules, ...words, "go"], { cwd });
  expect([run.code, run.stderr]).toEqual([0, ""]);
  const completed = parseStream(run.stdout).filter(({ subtype }) => subtype === "completed");
  return completed.map((event) => JSON.stringify(event));
}

describeWithBubblewrap("under deny rules, in the sandbox", () => {
  testDeep(
    verifies("S-85", "each line of every day runs"),
    async () => {
      const lines = everydayLines.map((line, index) => `(\n${line}\n)\necho "line ${index} ended with $?"`);
      const batches = Array.from({ length: Math.ceil(lines.length / batchSize) }, (_, batch) =>
        lines.slice(batch * batchSize, (batch + 1) * batchSize).join("\n"),
      );
      const outcomes = await runCommands(createEverydayFolder(), batches, deniedEveryDay);
      const ended = outcomes.join().match(/(?<=line )\d+ ended with \d+/g) ?? [];
      for (const [index, line] of everydayLines.entries()) expect(ended, line).toContain(`${index} ended with 0`);
    },
    300_000,
  );

  test(verifies("S-85", "no line that tries to get past a rule runs"), async () => {
    const open = ["--allow", "Network(host.invalid)"];
    const outcomes = await runCommands(createEverydayFolder(), pushEvasions, ["Shell(git push)"], open);
    expect(outcomes.length).toBe(pushEvasions.length);
    expect(outcomes.filter((outcome) => !outcome.includes("Shell(git push)"))).toEqual([]);
  });

  test(verifies("S-85", "code runs that no rule can read, and pushes nothing without a network"), async () => {
    const cwd = createEverydayFolder();
    execFileSync("git", ["remote", "add", "origin", "http://127.0.0.1:9/x"], { cwd });
    const code = 'import subprocess; print(subprocess.run(["git", "push", "origin", "HEAD"]).returncode)';
    writeFileSync(join(cwd, "b.log"), "");
    const lines = [`python3 -c '${code}'`, "node -e 'console.log(6 * 7)'", "rm -f *.log"];
    const [python, node, rm] = await runCommands(cwd, lines, ["Shell(git push)", "Shell(rm -rf)"]);
    expect(python).toMatch(/"stdout":"(?!0)\d+\\n"/);
    expect(node).toContain('"stdout":"42\\n"');
    expect(rm).toContain('"exitCode":0');
    expect(existsSync(join(cwd, "b.log"))).toBe(false);
  });
});
