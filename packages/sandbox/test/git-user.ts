/** Repositories of tests, and the user who works in them with git outside of the sandbox. */
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { createFolder } from "./sandbox-run.ts";

const identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"];

/** Runs git as the user would. @throws Error with its messages when it fails. */
export function git(folder: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = tryGit(folder, ...words);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

export function tryGit(folder: string, ...words: readonly string[]): SpawnSyncReturns<string> {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_EDITOR: "true", GIT_CONFIG_NOSYSTEM: "1" };
  return spawnSync("git", [...identity, ...words], { cwd: folder, encoding: "utf8", env, timeout: 20_000 });
}

/** What a command in the sandbox needs to commit. */
export const gitVariables = `export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.com GIT_EDITOR=true; `;

/** A workspace with two branches that change the same file. */
export function createRepository(name = "repository", files: Readonly<Record<string, string>> = {}): string {
  const folder = createFolder(name, { "file.txt": "one\n", ...files });
  git(folder, "init", "-q", "-b", "main");
  git(folder, "add", ".");
  git(folder, "commit", "-qm", "first");
  git(folder, "checkout", "-qb", "side");
  for (const text of ["two\n", "three\n"]) commitText(folder, text);
  git(folder, "checkout", "-q", "main");
  commitText(folder, "four\n");
  return folder;
}

function commitText(folder: string, text: string): void {
  spawnSync("sh", ["-c", 'printf %s "$0" > file.txt', text], { cwd: folder });
  git(folder, "commit", "-qam", text.trim());
}
