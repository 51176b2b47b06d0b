/** The workspace of a test: made from the states of a session, and created again for each run. */
import { chmodSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { parsePathGlob } from "@sheaf/base/files/glob";
import { IgnoreRules } from "@sheaf/base/files/ignore-rules";
import { createWorkspace, isBelow } from "@sheaf/base/files/workspace";
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";
import type { Environment } from "@sheaf/base/paths";
import { findProgram } from "@sheaf/sandbox/programs";
import type { SessionStates, StateFile } from "@sheaf/agent/workspace/undo/session-states";
import type { TestFile } from "./test-file.ts";

type StartFiles = NonNullable<TestFile["files"]>;
type StartFile = StartFiles[string];

/** Limits of a test's files, since people read tests in their repository. */
const MAX_FILES = 200;
const MAX_BYTES = 400_000;

/**
 * Returns the files before the first response, except ignored ones. `patterns`: only these. @throws SheafError USAGE
 * for more files than people read.
 */
export async function chooseStartFiles(
  states: Pick<SessionStates, "start" | "read">,
  workspace: string,
  patterns: readonly string[] | undefined,
): Promise<StartFiles> {
  const rules = new IgnoreRules(createWorkspace(workspace));
  const globs = patterns?.map((pattern) => parsePathGlob(pattern));
  const files: Record<string, StartFile> = {};
  let bytes = 0;
  for (const file of states.start) {
    // A test must not contain tests.
    if (file.path.startsWith(".sheaf/tests/")) continue;
    if (globs ? !globs.some((glob) => glob?.isCovering(file.path)) : await rules.isIgnored(file.path, false)) continue;
    const content = toStartFile(file, await states.read(file));
    files[file.path] = content;
    bytes += JSON.stringify(content).length;
    if (Object.keys(files).length > MAX_FILES || bytes > MAX_BYTES) {
      throw new SheafError(
        "USAGE",
        `the workspace has more than ${MAX_FILES} files or ${MAX_BYTES} bytes: choose some for the test by --files`,
      );
    }
  }
  return files;
}

export function toStartFile({ kind }: Pick<StateFile, "kind">, bytes: Buffer): StartFile {
  const text = bytes.toString();
  if (kind === "link") return { link: text };
  const isText = !text.includes("\0") && Buffer.from(text).equals(bytes);
  if (kind !== "program") return isText ? text : { base64: bytes.toString("base64") };
  return isText ? { program: text } : { base64: bytes.toString("base64") };
}

/** Writes the files of a test. @throws SheafError CONFIG_INVALID for a path that leaves the folder. */
export async function writeStartFiles(
  { files = {}, git }: Pick<TestFile, "files" | "git">,
  root: string,
  environment: Environment,
): Promise<void> {
  try {
    writeFiles(files, root);
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const message = `the files of the test cannot be written: ${(error as Error).message}`;
    throw new SheafError("CONFIG_INVALID", message, { cause: error });
  }
  if (git) await commitAll(root, environment);
}

function writeFiles(files: StartFiles, root: string): void {
  const links: [string, string][] = [];
  for (const [path, content] of Object.entries(files)) {
    const target = resolve(root, path);
    if (!isBelow(target, root) || target === root || /(^|\/)\.git(\/|$)/i.test(path)) {
      throw new SheafError("CONFIG_INVALID", `the file ${JSON.stringify(path)} of the test is not in its workspace`);
    }
    mkdirSync(dirname(target), { recursive: true });
    if (typeof content === "string") writeFileSync(target, content);
    else if ("link" in content) links.push([content.link, target]);
    else writeFileSync(target, "program" in content ? content.program : Buffer.from(content.base64, "base64"));
    if (typeof content !== "string" && "program" in content) chmodSync(target, 0o755);
  }
  // Write links at the end, so that no file is written through a link.
  for (const [to, target] of links) symlinkSync(to, target);
}

async function commitAll(root: string, environment: Environment): Promise<void> {
  const program = findProgram("git", environment);
  if (!program) throw new SheafError("CONFIG_INVALID", "the test needs git, which is not installed: install it");
  const setup: GitSetup = { program, environment, gitFolder: join(root, ".git") };
  const options = { purpose: "prepare a test", workTree: root, now: 0 };
  await askGit(setup, ["init", "-q", "--template=", "--initial-branch=main"], options);
  for (const [name, value] of Object.entries({ name: "Test", email: "test@localhost" })) {
    await askGit(setup, ["config", `user.${name}`, value], options);
  }
  await askGit(setup, ["add", "--all"], options);
  await askGit(setup, ["commit", "-q", "--allow-empty", "-m", "Start of the test"], options);
}

/** Returns the text of a file after a run; null if the workspace lacks it. */
export function readEndFile(root: string, path: string): string | null {
  try {
    const target = realpathSync(resolve(root, path));
    return isBelow(target, root) ? readFileSync(target, "utf8") : null;
  } catch {
    return null;
  }
}
