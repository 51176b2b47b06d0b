/** Git without the sandbox in hostile repositories: real git runs, and a canary program shows whether it was started. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseRows } from "../../../test/support/depth.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { PermissionDecision } from "../src/decision.ts";
import { createPlaceFinder } from "../src/reading-place.ts";
import { createGitGuard } from "../src/untrusted-git.ts";
import { toUntrustedGitVariables } from "@sheaf/sandbox/environment";
import { createTemporaryWorkspace } from "../../base/test/files/temporary-workspace.ts";
import { createPolicy } from "./policy.ts";

interface Setting {
  readonly root: string;
  /** Absolute path of a program that leaves a mark when it is started. */
  readonly canary: string;
  readonly write: (path: string, content: string) => string;
  /** Runs git in the workspace, or in a folder of it. */
  readonly git: (...words: string[]) => void;
  readonly isStarted: () => boolean;
  readonly run: (command: string, isTrusted: boolean, folder?: string) => void;
  readonly decide: (order: Order) => Promise<PermissionDecision>;
}

interface Order {
  readonly command: string;
  readonly folder?: string | undefined;
  readonly allow?: readonly string[];
  readonly trusted?: boolean;
  readonly listed?: readonly string[];
  readonly force?: boolean;
  readonly sandbox?: "enabled" | "disabled";
}

/** A workspace with a repository of two commits. */
function createSetting(): Setting {
  const { workspace, root, outside, write } = createTemporaryWorkspace();
  const mark = join(outside, "STARTED");
  const canary = join(outside, "canary");
  writeFileSync(canary, `#!/bin/sh\n: >${mark}\nexit 0\n`);
  chmodSync(canary, 0o755);
  writeFileSync(
    join(outside, ".gitconfig"),
    '[user]\nname = n\nemail = e@example.org\n[init]\ndefaultBranch = main\n[protocol "file"]\nallow = always\n',
  );
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: outside, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...words: string[]): void => {
    execFileSync("git", words, { cwd: root, env: environment, stdio: "pipe" });
  };
  git("init", "-q");
  write("a.txt", "one\n");
  write("sub/b.txt", "b\n");
  git("add", ".");
  git("commit", "-qm", "one");
  write("a.txt", "two\n");
  git("commit", "-qam", "two");
  return {
    root, canary, write, git,
    isStarted() {
      const isThere = existsSync(mark);
      rmSync(mark, { force: true });
      return isThere;
    },
    run(command, isTrusted, folder = ".") {
      const env = { ...environment, ...(!isTrusted && toUntrustedGitVariables(false)) };
      spawnSync("bash", ["--noprofile", "--norc", "-c", command], { cwd: join(root, folder), env, timeout: 20_000 });
    },
    decide: ({ command, folder, allow = [], trusted = false, listed = [], force = false, sandbox = "disabled" }) =>
      createPolicy({
        findPlace: createPlaceFinder(workspace),
        findGitObstacle: createGitGuard({
          folders: [root],
          trusted,
          isListed: (repository) => listed.some((path) => join(root, path) === repository.root),
          environment,
        }),
        allow, trusted, force, sandbox,
      }).decide({
        tool: { name: "run_terminal_cmd", access: "command" },
        arguments: { command, ...(folder !== undefined && { working_directory: folder }) },
      }),
  }; // prettier-ignore
}

/** A repository in the workspace, with a commit. */
function addNested({ git, write, root }: Setting, path = "vendored"): void {
  git("init", "-q", path);
  write(`${path}/c.txt`, "one\n");
  git("-C", path, "add", ".");
  git("-C", path, "commit", "-qm", "c");
  utimesSync(join(root, path, "c.txt"), 1, 1);
}

/** A nested repository whose hook runs when something is pushed to it. */
function addPushHook(setting: Setting): void {
  addNested(setting);
  symlinkSync(setting.canary, join(setting.root, "vendored/.git/hooks/post-receive"));
}

function addFilter({ git, write, canary }: Setting, path = "."): void {
  git("-C", path, "config", "filter.x.clean", canary);
  write(`${path}/.git/info/attributes`, "*.txt filter=x\n");
}

/** A copy of the repository in another folder, with a program. */
function addElsewhere({ root, write, git, canary }: Setting, name = "store"): void {
  execFileSync("cp", ["-r", join(root, ".git"), join(root, name)]);
  git("config", "-f", `${name}/config`, "diff.external", canary);
  write("vendored/a.txt", "changed\n");
}

interface Attack {
  readonly name: string;
  /** Lays the trap. */
  readonly prepare: (setting: Setting) => void;
  /** Runs the canary without the check. */
  readonly command: string;
  readonly folder?: string;
  readonly allow?: readonly string[];
  /** Of the refusal. */
  readonly reason?: RegExp;
  /** The workspace is trusted, and something in it is not. */
  readonly trusted?: true;
}

const log = ["Shell(git log)", "Shell(git diff)", "Shell(git status)", "Shell(cd)"];
const nested = { prepare: (setting: Setting) => { addNested(setting); setting.git("-C", "vendored", "config", "core.fsmonitor", setting.canary); } }; // prettier-ignore

const attacks: readonly Attack[] = [
  {
    name: "diff.x.textconv",
    prepare({ git, write, canary }) {
      git("config", "diff.x.textconv", canary);
      write(".gitattributes", "*.txt diff=x\n");
    },
    command: "git log -p", allow: log,
  },
  {
    name: "filter.x.clean", allow: ["Shell(xargs git add)"],
    prepare(setting) { addFilter(setting); utimesSync(join(setting.root, "a.txt"), 1, 1); },
    command: "echo a.txt | xargs git add",
  },
  {
    name: "core.sshcommand of a submodule", allow: ["Shell(git fetch)"],
    prepare({ git, canary, write, root }) {
      git("init", "-q", "--bare", ".git/modules/s");
      git("-C", ".git/modules/s", "config", "core.sshCommand", canary);
      git("-C", ".git/modules/s", "remote", "add", "origin", "ssh://example.invalid/x");
      write(".gitmodules", '[submodule "s"]\npath = s\nurl = ssh://example.invalid/x\n');
      git("config", "core.worktree", root);
      mkdirSync(join(root, "s"));
      write("s/.git", "gitdir: ../.git/modules/s\n");
    },
    command: "git fetch", folder: "s",
  },
  {
    name: "the configuration around an incomplete .git", allow: log,
    prepare({ git, canary, write, root }) {
      git("config", "diff.external", canary);
      write("sub/b.txt", "changed\n");
      mkdirSync(join(root, "sub/.git"));
    },
    command: "cd sub && git diff",
  },
  {
    name: "diff.external through a link to a file", trusted: true, allow: log,
    prepare(setting) { addElsewhere(setting); symlinkSync("gitfile", join(setting.root, "vendored/.git")); setting.write("vendored/gitfile", "gitdir: ../store\n"); },
    command: "cd vendored && git diff",
  },
  {
    name: "diff.external in a folder with a line end", trusted: true, allow: log, reason: /not (?:clear|trusted)/,
    prepare(setting) { addElsewhere(setting, "sto\nre"); setting.write("vendored/.git", "gitdir: ../sto\nre\n"); },
    command: "cd vendored && git diff",
  },
  {
    name: "diff.external in a common folder", trusted: true, allow: log,
    prepare(setting) {
      addElsewhere(setting);
      setting.git("config", "-f", "store/config", "core.bare", "true");
      setting.write("x/HEAD", "ref: refs/heads/main\n");
      setting.write("x/commondir", "../store\n");
    },
    command: "cd x && git diff HEAD~1 HEAD",
  },
  {
    name: "a hook of the own repository that is pushed to", allow: ["Shell(git push)"],
    prepare({ root, canary }) { symlinkSync(canary, join(root, ".git/hooks/post-receive")); },
    command: "git push . HEAD:refs/heads/new",
  },
  {
    name: "a hook of a repository whose address is read", trusted: true, allow: ["Shell(xargs git push)"], reason: /not clear/,
    prepare: addPushHook,
    command: "echo ./vendored HEAD:refs/heads/new | xargs git push",
  },
  {
    name: "a folder that looks like a bare repository", trusted: true, allow: log,
    prepare({ git, canary, root }) {
      execFileSync("cp", ["-r", join(root, ".git"), join(root, "x")]);
      git("config", "-f", "x/config", "core.bare", "true");
      git("config", "-f", "x/config", "diff.external", canary);
    },
    command: "cd x && git diff HEAD~1 HEAD",
  },
  { name: "core.fsmonitor of a nested repository", ...nested, command: "cd vendored && git status", allow: log, trusted: true },
  { name: "core.fsmonitor in the working directory", ...nested, command: "git status", folder: "vendored", allow: log, trusted: true },
  { name: "core.fsmonitor by -C", ...nested, command: "git -C vendored status", allow: ["Shell(git -C)"], trusted: true, reason: /not clear/ },
  { name: "core.fsmonitor, unclear where", ...nested, command: "cd vendored; git status", allow: log, trusted: true, reason: /not clear/ },
  { name: "core.fsmonitor by --git-dir", ...nested, command: "git --git-dir=vendored/.git --work-tree=vendored status", allow: ["Shell(git --git-dir=vendored/.git --work-tree=vendored status)"], trusted: true, reason: /not clear/ },
  {
    name: "core.fsmonitor through a link", allow: log, trusted: true,
    prepare(setting) { nested.prepare(setting); symlinkSync("vendored", join(setting.root, "link")); },
    command: "cd link && git status",
  },
  {
    name: "a hook of a nested repository", allow: ["Shell(git commit)"], trusted: true,
    prepare(setting) {
      addNested(setting);
      symlinkSync(setting.canary, join(setting.root, "vendored/.git/hooks/pre-commit"));
    },
    command: "cd vendored && git commit --allow-empty -m x",
  },
  {
    name: "a nested repository in the index", trusted: true,
    prepare(setting) { nested.prepare(setting); setting.git("add", "vendored"); },
    command: "git status",
  },
  {
    name: "a nested repository in a split index", trusted: true,
    prepare(setting) { nested.prepare(setting); setting.git("add", "vendored"); setting.git("update-index", "--split-index"); },
    command: "git status",
  },
  {
    name: "a nested repository in an index of version 4", trusted: true,
    prepare(setting) {
      addNested(setting, "deep/vendored");
      setting.git("-C", "deep/vendored", "config", "core.fsmonitor", setting.canary);
      for (const name of ["deep/a", "deep/vendor", "deep/vendored2", "e"]) setting.write(name, "");
      setting.git("add", ".");
      setting.git("update-index", "--index-version", "4");
    },
    command: "git diff --stat",
  },
  {
    name: "a nested repository in the index of a nested one", trusted: true,
    prepare(setting) {
      addNested(setting);
      addNested(setting, "vendored/inner");
      setting.git("-C", "vendored/inner", "config", "core.fsmonitor", setting.canary);
      setting.git("-C", "vendored", "add", "inner");
      setting.git("-C", "vendored", "commit", "-qm", "inner");
      setting.git("add", "vendored");
    },
    command: "git status",
  },
  {
    name: "a hook of a repository that is pushed to", trusted: true, allow: ["Shell(git push)"],
    prepare: addPushHook,
    command: "git push ./vendored HEAD:refs/heads/new",
  },
  {
    name: "a hook of a remote in the workspace", allow: ["Shell(git push)"], trusted: true,
    prepare(setting) {
      addPushHook(setting);
      setting.git("remote", "add", "near", "file://" + join(setting.root, "vendored"));
    },
    command: "git push near HEAD:refs/heads/new",
  },
  {
    name: "a remote that cannot be known", trusted: true, allow: ["Shell(git push)"], reason: /not clear/,
    prepare: addPushHook,
    command: "git push ./vendor* HEAD:refs/heads/new",
  },
]; // prettier-ignore

describe("git that a rule or the read-only list would allow", () => {
  test.each(chooseRows(attacks, 12))(
    verifies("S-82", "asks where git would work in an untrusted repository: $name"),
    async (attack) => {
      const { command, folder, trusted = false, allow = [] } = attack;
      const { reason = /^git could run programs that the repository \/.* names, which is not trusted$/ } = attack;
      const setting = createSetting();
      const harmless = await setting.decide({ command, folder, allow, trusted: true });
      attack.prepare(setting);
      setting.isStarted();
      const decision = await setting.decide({ command, folder, allow, trusted });
      expect(decision).toMatchObject({ decision: "ask", always: [] });
      expect(decision.reason).toMatch(reason);
      // It is the repository that makes the difference, and git does run the program.
      if (!/not clear/.test(String(reason)) && folder === undefined && !/cd |-C/.test(command))
        expect(harmless.decision).toBe("allow");
      setting.run(command, trusted, folder);
      expect(setting.isStarted()).toBe(true);
    },
  );

  test(verifies("S-82", "runs where each repository is trusted"), async () => {
    const setting = createSetting();
    addNested(setting);
    setting.git("config", "diff.external", setting.canary);
    setting.git("config", "remote.origin.url", "https://example.org/x");
    const commands = ["git status", "git log -p", "cd sub && git diff", "git diff a.txt sub", "git log --grep git"];
    for (const command of commands) {
      for (const how of [{ trusted: true }, { listed: ["."] }]) {
        expect(await setting.decide({ command, allow: log, ...how }), command).toMatchObject({ decision: "allow" });
      }
      expect(await setting.decide({ command, allow: log }), command).toMatchObject({ decision: "ask" });
    }
    const inner = { command: "cd vendored && git diff", allow: log, trusted: true };
    expect(await setting.decide(inner)).toMatchObject({ decision: "ask" });
    expect(await setting.decide({ ...inner, listed: ["vendored"] })).toMatchObject({ decision: "allow" });
    expect(await setting.decide({ ...inner, listed: ["."] })).toMatchObject({ decision: "ask" });
    setting.git("add", "vendored");
    const outer = { command: "git status", allow: log, trusted: true };
    expect(await setting.decide(outer)).toMatchObject({ decision: "ask" });
    expect(await setting.decide({ ...outer, listed: ["vendored"] })).toMatchObject({ decision: "allow" });
  });

  test(verifies("S-82", "says how to go on, and other programs do not care"), async () => {
    const setting = createSetting();
    setting.git("config", "diff.external", setting.canary);
    const decision = await setting.decide({ command: "git diff", allow: log });
    expect(decision).toMatchObject({ advice: expect.stringContaining(`sheaf trust ${setting.root}`) });
    for (const command of ["ls git", "grep git a.txt", "echo git diff", "cat a.txt"]) {
      expect(await setting.decide({ command }), command).toMatchObject({ decision: "allow" });
    }
    for (const order of [{ force: true }, { sandbox: "enabled" as const }, { allow: ["Shell(*)"] }]) {
      expect(await setting.decide({ command: "git diff", ...order })).toMatchObject({ decision: "allow" });
    }
  });

  test(verifies("S-82", "counts submodules and worktrees as part of the repository that keeps them"), async () => {
    const setting = createSetting();
    const { git, root } = setting;
    addNested(setting, "../w-evil/lib");
    git("submodule", "--quiet", "add", join(root, "../w-evil/lib"), "lib");
    git("commit", "-qm", "lib");
    git("worktree", "add", "-q", "tree");
    for (const command of ["git status", "cd lib && git status", "cd tree && git status"]) {
      expect(await setting.decide({ command, allow: log, trusted: true }), command).toMatchObject({
        decision: "allow",
      });
      expect(await setting.decide({ command, allow: log }), command).toMatchObject({ decision: "ask" });
    }
  });

  test(verifies("S-82", "is judged by the repository of an added folder"), async () => {
    const setting = createSetting();
    const outside = join(setting.root, "../w-evil");
    addNested(setting, "../w-evil/added");
    const call = { command: "git status", allow: log, trusted: true, folder: join(outside, "added") };
    expect(await setting.decide(call)).toMatchObject({ decision: "ask", cause: { code: "untrusted_repository" } });
    expect(await setting.decide({ ...call, listed: ["../w-evil/added"] })).toMatchObject({ decision: "allow" });
  });

  test(verifies("S-82", "refuses what it cannot read"), async () => {
    const setting = createSetting();
    setting.write(".git/index", "DIRC, but broken");
    expect(await setting.decide({ command: "git status", trusted: true })).toMatchObject({ decision: "ask" });
  });
});

describe("without trust, the environment of commands", () => {
  test(verifies(["S-01", "S-82"], "switches off hooks and the file watcher, in nested repositories too"), async () => {
    const setting = createSetting();
    addNested(setting);
    setting.git("add", "vendored");
    for (const path of [".", "vendored"]) {
      setting.git("-C", path, "config", "core.fsmonitor", setting.canary);
      symlinkSync(setting.canary, join(setting.root, path, ".git/hooks/pre-commit"));
    }
    setting.isStarted();
    const commands = [
      "git status",
      "git commit --allow-empty -m x",
      "cd vendored && git status",
      "cd vendored && git commit --allow-empty -m x",
    ];
    for (const command of commands) {
      setting.run(command, true);
      expect(setting.isStarted(), command).toBe(true);
      setting.run(command, false);
      expect(setting.isStarted(), command).toBe(false);
    }
  });
});
