/** The commits of the user's repository that have the lines of a file, by `git blame` (C195). */
import { dirname, relative } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { findRepository } from "@sheaf/base/files/repository";
import { type GitSetup, runGit } from "@sheaf/base/git/run-git";
import { findProgram } from "@sheaf/sandbox/programs";
import { carryOrigins, toHunks, toPlainText } from "./line-origins.ts";

export interface CommittedFile {
  readonly setup: GitSetup;
  readonly commit: string;
  /** Relative to the repository. */
  readonly file: string;
}

export interface CommitLine extends CommittedFile {
  readonly author: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Line number in the commit's file, from 1. */
  readonly line: number;
}

/** Finds the commit of each line of `text`, the file now. Git runs no program of the repository for it (S-124). */
export async function readCommitLines(
  path: string,
  text: string,
  environment: Environment,
): Promise<readonly (CommitLine | undefined)[]> {
  const found = findFile(path, environment);
  if (!found) return [];
  const { setup, file } = found;
  // Git would start the repository's filters to read the file itself, so Sheaf compares it.
  const words = ["-c", "blame.ignoreRevsFile=", "blame", "--no-textconv", "--line-porcelain", "HEAD", "--", file];
  const { stdout } = await runGit(setup, words);
  const rows = stdout
    .toString()
    .matchAll(
      /^([0-9a-f]{40,64}) (\d+) .*\n(?:(?!\t).*\n)*?author (.*)\n(?:(?!\t).*\n)*?author-time (\d+)\n(?:(?!\t).*\n)*?filename (.*)\n\t(.*)$/gm,
    );
  const lines: CommitLine[] = [];
  let committed = "";
  for (const [, commit = "", line, author = "", seconds, name = "", content = ""] of rows) {
    committed += `${content.replace(/\r$/, "")}\n`;
    lines.push({ setup, commit, file: name, author, time: Number(seconds) * 1000, line: Number(line) });
  }
  return carryOrigins<CommitLine | undefined>(lines, toHunks(committed, text), undefined);
}

/** Returns the whole file in the commit, or undefined if it is binary. */
export async function readCommitText({ setup, commit, file }: CommittedFile): Promise<string | undefined> {
  const { exitCode, stdout } = await runGit(setup, ["cat-file", "blob", `${commit}:${file}`]);
  return exitCode === 0 ? toPlainText(stdout) : undefined;
}

/** Returns the file in the newest commit, or undefined if it differs now. */
export async function findCommittedFile(
  path: string,
  bytes: Uint8Array,
  environment: Environment,
): Promise<CommittedFile | undefined> {
  const found = findFile(path, environment);
  if (!found) return undefined;
  const { stdout } = await runGit(found.setup, ["rev-parse", "HEAD"]);
  const committed = { ...found, commit: stdout.toString().trim() };
  return (await readCommitText(committed)) === toPlainText(bytes) ? committed : undefined;
}

function findFile(path: string, environment: Environment): Pick<CommittedFile, "setup" | "file"> | undefined {
  const { root, gitFolder } = findRepository(dirname(path));
  const program = findProgram("git", environment);
  if (gitFolder === "" || program === undefined) return undefined;
  return { setup: { program, environment, gitFolder }, file: relative(root, path) };
}
