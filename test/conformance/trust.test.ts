/** Trust: a repository decides nothing until its user says so, and then for itself alone. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeWithBubblewrap, missingBubblewrap } from "../support/bubblewrap.ts";
import { skipIfMissing } from "../support/describe-where.ts";
import { createHostileRepository } from "../support/hostile-repository.ts";
import { createTestFolder, parseStream, type ProgramOptions, runProgram, runSheaf } from "../support/sheaf.ts";
import { describeWithStrace, readTrace, toStraceWrapper } from "../support/strace.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** A user who lets every door open that a repository could use, and nothing else. */
function createHostileSession() {
  const cwd = folders.newFolder();
  const home = folders.newFolder();
  const repository = createHostileRepository(cwd);
  const inside = ["", ".", "./bin", "bin", "node_modules/.bin", ".bin"];
  const environment = {
    HOME: home,
    PATH: [...inside, process.env.PATH ?? ""].join(":"),
    XDG_CONFIG_HOME: ".config",
    XDG_DATA_HOME: ".local/share",
    NODE_PATH: "node_modules",
  };
  const run = (args: readonly string[], options: Partial<ProgramOptions> = {}) =>
    // Relative places of PATH are those of the process.
    runProgram(args, { cwd, home: join(home, "sheaf"), environment, ...options });
  return { ...repository, home, environment, run };
}

const everyTool = [
  { tool: "read_file", arguments: { target_file: "README.md" } },
  { tool: "list_dir", arguments: { target_directory: "." } },
  { tool: "glob_search", arguments: { pattern: "*.js" } },
  { tool: "grep_search", arguments: { pattern: "answer" } },
  { tool: "edit_file", arguments: { target_file: "README.md", edits: [{ old_string: "tries", new_string: "tried" }] } },
  { tool: "write_file", arguments: { target_file: "new.txt", content: "x" } },
  { tool: "rename_file", arguments: { source_file: "new.txt", destination_file: "newer.txt" } },
  { tool: "delete_file", arguments: { target_file: "newer.txt" } },
  { tool: "run_terminal_cmd", arguments: { command: "true" } },
  { tool: "todo_write", arguments: { todos: [{ id: "a", content: "a", status: "pending" }], merge: false } },
];

/** Commands that run programs of the repository by its own settings, if nothing holds them. */
const temptingCommands = [
  "git status",
  "git diff",
  "git add README.md",
  "git commit -m x --allow-empty",
  "rg x",
  "npm -v",
].map((command) => ({ tool: "run_terminal_cmd", arguments: { command } }));

function writeScript(folder: string, calls: readonly object[]): string {
  const file = join(folder, "script.json");
  const turns = [...calls.map((call) => ({ events: [{ call }] })), { events: [{ text: "Done." }] }];
  writeFileSync(file, JSON.stringify({ turns, after: "loop" }));
  return `scripted:${file}`;
}

describeWithBubblewrap("hooks of git", () => {
  test.each([
    { trust: "without trust they run in the sandbox, and no watcher does", flags: [], ran: ["hook"] },
    { trust: "in a trusted repository they run", flags: ["--trust"], ran: ["hook", "watcher"] },
  ])(verifies("S-01", "$trust"), async ({ flags, ran }) => {
    const cwd = folders.newFolder();
    execFileSync("git", ["init", "-q", cwd]);
    writeFileSync(join(cwd, ".git/hooks/pre-commit"), "#!/bin/sh\ntouch hook\n", { mode: 0o755 });
    writeFileSync(join(cwd, ".git/watch"), "#!/bin/sh\ntouch watcher\n", { mode: 0o755 });
    execFileSync("git", ["-C", cwd, "config", "core.fsmonitor", join(cwd, ".git/watch")]);
    const command = "git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m x && git status -s";
    const model = writeScript(cwd, [{ tool: "run_terminal_cmd", arguments: { command } }]);
    const { code } = await runSheaf(["-p", "--force", ...flags, "--model", model, "go"], { cwd });
    expect(code).toBe(0);
    expect(execFileSync("git", ["-C", cwd, "-c", "core.fsmonitor=false", "log", "--format=%s"]).toString()).toBe("x\n");
    expect(["hook", "watcher"].filter((name) => existsSync(join(cwd, name)))).toEqual(ran);
  });
});

test(verifies("S-106", "git's watcher and hooks do not start with a run, trusted or not"), async () => {
  const cwd = folders.newFolder({ "a.txt": "a" });
  execFileSync("git", ["init", "-q", cwd]);
  writeFileSync(join(cwd, ".git/watch"), "#!/bin/sh\ntouch watcher\n", { mode: 0o755 });
  execFileSync("git", ["-C", cwd, "config", "core.fsmonitor", join(cwd, ".git/watch")]);
  const flags = ["--trust", "--sandbox", "disabled", "--force"];
  const { code } = await runSheaf(["-p", ...flags, "--model", "offline", "Hello"], { cwd });
  expect([code, existsSync(join(cwd, "watcher"))]).toEqual([0, false]);
  execFileSync("git", ["-C", cwd, "status"]);
  expect(existsSync(join(cwd, "watcher"))).toBe(true);
});

describe("a hostile repository that is not trusted", () => {
  test("has traps that spring", () => {
    const session = createHostileSession();
    const env = { ...session.environment, GIT_CONFIG_NOSYSTEM: "1" };
    spawnSync("/usr/bin/env", ["git", "add", "README.md"], {
      cwd: session.path,
      env: { ...env, PATH: process.env.PATH },
    });
    spawnSync("/usr/bin/env", ["rg", "x"], { cwd: session.path, env });
    spawnSync(process.execPath, ["-e", 'require("zod")'], { cwd: session.path, env });
    expect(session.readMarkers()).toEqual(expect.arrayContaining(["package-zod", "rg"]));
    expect(session.readMarkers()).toEqual(expect.arrayContaining([expect.stringMatching(/fsmonitor|clean|process/)]));
  });

  test(verifies(["S-01", "S-06"], "changes no setting, and nothing of it runs: 0 markers"), async () => {
    skipIfMissing(missingBubblewrap);
    const session = createHostileSession();
    // In the sandbox nothing of it reaches out; without one no such command runs unasked.
    const model = writeScript(session.home, [...everyTool, ...temptingCommands]);
    for (const args of [
      ["-p", "--sandbox", "disabled", "--model", model, "go"],
      ["-p", "--force", "--model", model, "go"],
      ["-p", "--force", "--mode", "debug", "--model", model, "go"],
      ["-p", "--mode", "plan", "--model", "offline", "Summarise README.md"],
      ["-p", "--mode", "ask", "--model", "offline", "Explain src/main.js"],
    ]) {
      const { code, stdout } = await session.run(args);
      expect(code, args.join(" ")).toBe(0);
      expect(parseStream(stdout)[0]).toMatchObject({ trusted: false, apiKeySource: "none" });
    }
    for (const args of [["blame", "README.md"], ["models"], ["trust", "--list"], ["--version"]]) {
      expect((await session.run(args)).code, args.join(" ")).toBe(0);
    }
    // Its model, key and endpoint are not used.
    const unset = await session.run(["-p", "go"]);
    expect([unset.code, unset.stderr]).toEqual([3, expect.stringContaining("AUTH_REQUIRED") as string]);
    expect((await session.run(["trust", "--list"])).stdout).toBe("No workspace is trusted.\n");
    expect(session.readMarkers()).toEqual([]);
  });

  test(
    verifies("S-01", "has no say without SHEAF_HOME either: relative folders of the environment do not count"),
    async () => {
      const session = createHostileSession();
      const environment = { ...session.environment, SHEAF_HOME: "" };
      const { code, stdout } = await session.run(["-p", "--model", "offline", "Summarise README.md"], { environment });
      expect(code).toBe(0);
      expect(parseStream(stdout)[0]).toMatchObject({ trusted: false });
      expect(session.readMarkers()).toEqual([]);
    },
  );
});

describeWithStrace("seen from outside, a start in the hostile repository", () => {
  test(verifies("S-05", "executes no file of it, and nothing by a name that PATH could lead there"), async () => {
    const session = createHostileSession();
    const trace = join(session.home, "trace");
    const model = writeScript(session.home, everyTool);
    const { code } = await session.run(["-p", "--force", "--model", model, "go"], { wrapper: toStraceWrapper(trace) });
    expect(code).toBe(0);
    const { executed } = readTrace(trace);
    // ripgrep and a shell at least.
    expect(executed.length).toBeGreaterThanOrEqual(3);
    expect(executed.filter((path) => !path.startsWith("/") || path.startsWith(session.path))).toEqual([]);
  });

  test(verifies("S-01", "reads its AGENTS.md and what tells its branch, nothing else"), async () => {
    const session = createHostileSession();
    const trace = join(session.home, "trace");
    const model = writeScript(session.home, []);
    const { code } = await session.run(["-p", "--model", model, "go"], { wrapper: toStraceWrapper(trace) });
    expect(code).toBe(0);
    const names = readTrace(trace)
      .opened.filter((path) => path.startsWith(`${session.path}/`) || !path.startsWith("/"))
      .map((path) => path.replace(`${session.path}/`, ""))
      // The sandbox looks for protected names once: it lists folders, and opens no file for it.
      .filter((name) => !statSync(join(session.path, name), { throwIfNoEntry: false })?.isDirectory());
    expect([...new Set(names)].toSorted()).toEqual([".git/HEAD", "AGENTS.md"]);
  });
});

/** The first line, without what differs from run to run. */
async function readInit(cwd: string, home: string, args: readonly string[] = [], environment = {}) {
  const options = { cwd, home, environment };
  const result = await runSheaf(["-p", "--model", "offline", ...args, "hello"], options);
  expect(result.code).toBe(0);
  const { session_id: _session, ...init } = parseStream(result.stdout)[0]!;
  return init;
}

describe("the decision", () => {
  test(
    verifies(["S-03", "C5"], "is in the init line, the same in every run, untrusted unless the caller says so"),
    async () => {
      const [cwd, home] = [folders.newFolder(), folders.newFolder()];
      const first = await readInit(cwd, home);
      expect(first).toMatchObject({ trusted: false });
      expect(await readInit(cwd, home)).toEqual(first);
      expect(await readInit(cwd, home, ["--trust"])).toEqual({ ...first, trusted: true });
      expect(await readInit(cwd, home, [], { SHEAF_TRUST: "1" })).toEqual({ ...first, trusted: true });
      // Said for one run, it does not hold for the next.
      expect(await readInit(cwd, home)).toEqual(first);
      await runSheaf(["trust"], { cwd, home });
      expect(await readInit(cwd, home)).toEqual({ ...first, trusted: true });
      expect(await readInit(cwd, home, [], { SHEAF_TRUST: "0" })).toEqual(first);
    },
  );

  test(verifies("S-04", "cannot be made from a damaged list, one that others can write, or another word"), async () => {
    const [cwd, home] = [folders.newFolder(), folders.newFolder()];
    await runSheaf(["trust"], { cwd, home });
    const file = join(home, "trust.json");
    const good = readFileSync(file);
    const run = (environment = {}) => runSheaf(["-p", "--model", "offline", "hello"], { cwd, home, environment });
    for (const text of ["", "{", "[]", '{"version":2,"trusted":[]}', '{"version":1,"trusted":[{"root":"/"}]}']) {
      writeFileSync(file, text);
      const { code, stderr, stdout } = await run();
      expect([code, stderr], text).toEqual([2, expect.stringMatching(/CONFIG_INVALID.*trust\.json/) as string]);
      expect(parseStream(stdout)[0]).toMatchObject({ trusted: false });
    }
    writeFileSync(file, good);
    execFileSync("chmod", ["666", file]);
    expect((await run()).stderr).toMatch(/can be opened by others \(mode 0666\)/);
    execFileSync("chmod", ["600", file]);
    expect((await run({ SHEAF_TRUST: "yes" })).stderr).toMatch(/SHEAF_TRUST is "yes"/);
    expect((await run()).code).toBe(0);
  });

  test(verifies("S-02", "holds for one repository: nested ones, worktrees and another .git ask anew"), async () => {
    const [folder, home] = [folders.newFolder(), folders.newFolder()];
    const git = (cwd: string, ...args: string[]) =>
      execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], { cwd, stdio: "ignore" });
    const repository = join(folder, "repository");
    for (const name of ["repository/sub", "repository/nested", "repository/bare", "plain/sub"]) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    git(repository, "init", "-q");
    git(repository, "commit", "-q", "--allow-empty", "-m", "first");
    git(repository, "worktree", "add", "-q", join(folder, "tree"));
    git(join(repository, "nested"), "init", "-q");
    git(join(repository, "bare"), "init", "-q", "--bare");
    const trusted = async (name: string) => (await readInit(join(folder, name), home)).trusted;

    expect((await runSheaf(["trust", "sub"], { cwd: repository, home })).stdout).toBe(
      `Trusted: ${repository} (a repository)\n`,
    );
    await runSheaf(["trust"], { cwd: join(folder, "plain"), home });
    const names = [
      "repository",
      "repository/sub",
      "plain",
      "repository/nested",
      "repository/bare",
      "tree",
      "plain/sub",
    ];
    const decisions = [];
    for (const name of names) decisions.push(await trusted(name));
    expect(decisions).toEqual([true, true, true, false, false, false, false]);

    // Hooks and settings from elsewhere: the same path, the same folder .git, and not the same repository any more.
    writeFileSync(join(repository, ".git/commondir"), "../nested/.git\n");
    expect(await trusted("repository")).toBe(false);
    renameSync(join(repository, ".git/commondir"), join(folder, "commondir"));
    expect(await trusted("repository")).toBe(true);
    renameSync(join(repository, ".git"), join(folder, "real-git"));
    writeFileSync(join(repository, ".git"), "gitdir: ../real-git\n");
    expect(await trusted("repository")).toBe(false);

    const list = await runSheaf(["trust", "--list"], { cwd: folder, home });
    expect(list.stdout).toBe(`${repository} (a repository)\n${join(folder, "plain")} (no repository)\n`);
    renameSync(join(folder, "plain"), join(folder, "gone"));
    const removed = await runSheaf(["trust", "--remove", "plain"], { cwd: folder, home });
    expect(removed.stdout).toBe(`Not trusted any more: ${join(folder, "plain")}\n`);
    renameSync(join(folder, "gone"), join(folder, "plain"));
    expect(await trusted("plain")).toBe(false);
  });
});
