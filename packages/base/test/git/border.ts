/** A user's repository with a private folder for commands, whose state is exported and applied as after a command. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyGitState } from "../../src/git/apply-git-state.ts";
import { decodeGitState, exportScript, formatTips, type GitState, readGitState } from "../../src/git/git-state.ts";
import type { GitSetup } from "../../src/git/run-git.ts";
import { createTemporaryFolder } from "../files/temporary-workspace.ts";

export interface Border {
  /** The working tree. */
  readonly root: string;
  readonly setup: GitSetup;
  /** Of commands. */
  readonly privateFolder: string;
  /** Of one exported state. */
  readonly out: string;
  /** Git as the user; the output without its last line end. */
  readonly git: (...words: string[]) => string;
  /** Starts a command: the state that it finds. */
  readonly start: () => Promise<GitState>;
  /** A script of sh in the working tree, whose git is the user's. */
  readonly user: (script: string) => void;
  /** The same, with the private folder. */
  readonly command: (script: string) => void;
  /** What the command left, in files. */
  readonly exportState: (before: GitState) => void;
  /** All of it around one command; `meanwhile` runs before the state comes back. */
  readonly run: (
    script: string,
    options?: { hasNetwork?: boolean; meanwhile?: () => void },
  ) => Promise<readonly string[]>;
  readonly apply: (before: GitState, hasNetwork?: boolean) => Promise<readonly string[]>;
}

const environment = {
  PATH: process.env.PATH ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@localhost",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@localhost",
};

/** `init`: words of `git init`. The repository has one commit with the files `a` and `dir/b`. */
export function createBorder(init: readonly string[] = []): Border {
  const folder = createTemporaryFolder();
  const [root, privateFolder, out] = ["w", "private", "out"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const git = (...words: string[]): string =>
    execFileSync("git", ["-C", root, ...words], { encoding: "utf8", env: environment, stdio: "pipe" }).trimEnd();
  mkdirSync(join(root, "dir"), { recursive: true });
  git("init", "-q", "-b", "main", ...init);
  writeFileSync(join(root, "a"), "one\n");
  writeFileSync(join(root, "dir/b"), "two\n");
  git("add", ".");
  git("commit", "-qm", "first");
  const gitFolder = git("rev-parse", "--absolute-git-dir");
  const setup = { program: "git", gitFolder, environment };
  const runScript = (script: string, variables: Record<string, string>): void => {
    execFileSync("sh", ["-euc", script], { cwd: root, env: { ...environment, ...variables }, stdio: "pipe" });
  };
  const border: Border = {
    root,
    setup,
    privateFolder,
    out,
    git,
    start() {
      rmSync(privateFolder, { recursive: true, force: true });
      cpSync(gitFolder, privateFolder, {
        recursive: true,
        filter: (path) => !path.startsWith(join(gitFolder, "objects")),
      });
      mkdirSync(join(privateFolder, "objects/info"), { recursive: true });
      writeFileSync(join(privateFolder, "objects/info/alternates"), `${join(gitFolder, "objects")}\n`);
      return readGitState(setup);
    },
    user: (script) => runScript(script, { G: gitFolder }),
    command: (script) => runScript(script, { GIT_DIR: privateFolder, GIT_WORK_TREE: root, P: privateFolder }),
    exportState(before) {
      rmSync(out, { recursive: true, force: true });
      mkdirSync(out);
      writeFileSync(join(out, "old"), formatTips(before));
      const { status, stderr } = spawnSync("sh", ["-c", exportScript, "sh", out, privateFolder], { env: environment });
      if (status !== 0) throw new Error(stderr.toString());
    },
    apply: async (before, hasNetwork = false) =>
      applyGitState({
        repository: setup,
        before,
        after: decodeGitState(out),
        packFile: join(out, "pack"),
        name: "t",
        hasNetwork,
      }),
    async run(script, { hasNetwork = false, meanwhile } = {}) {
      const before = await border.start();
      border.command(script);
      border.exportState(before);
      meanwhile?.();
      return border.apply(before, hasNetwork);
    },
  };
  return border;
}
