/** The change in the form of a review: the base is the workspace, and the head is data beside it (C220). */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { findRepository } from "@sheaf/base/files/repository";
import { removeTree } from "@sheaf/base/files/remove-tree";
import { askGit, type GitSetup, runGit } from "@sheaf/base/git/run-git";
import type { Environment } from "@sheaf/base/paths";
import { findProgram } from "@sheaf/sandbox/programs";
import { borrowObjects, openMirror, readCommit, toLocalRemote } from "@sheaf/agent/workspace/trees/mirror";

export interface ReviewedChange {
  /** Folder of the base: the workspace, with its configuration and instructions. */
  readonly base: string;
  /** Folder with `head/`, the files after the change, and `change.diff`. */
  readonly change: string;
  /** The diff, or the list of its files if it is long. */
  readonly text: string;
  remove(): Promise<void>;
}

/** Length up to which a diff is part of the prompt, in characters. */
const MAX_DIFF = 200_000;

/** Attributes that override a commit's, so that none hides a diff or changes a byte. */
const ATTRIBUTES = "* !diff !text !eol !crlf !ident !filter !working-tree-encoding\n";

/** Opens the change. @throws SheafError USAGE for a missing commit or an empty change. */
export async function openChange(
  { workspace, base, head }: { readonly workspace: string; readonly base: string; readonly head: string },
  environment: Environment,
): Promise<ReviewedChange> {
  const program = findProgram("git", environment);
  if (!program) throw new SheafError("USAGE", "sheaf review needs git, which is not installed: install it");
  const repository = findRepository(workspace);
  toLocalRemote(repository, environment);
  const source: GitSetup = { program, environment, gitFolder: repository.gitFolder };
  const [baseCommit, headCommit] = [await findCommit(source, base), await findCommit(source, head)];
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-review-")));
  const remove = () => removeTree(folder);
  try {
    const mirror: GitSetup = { ...source, gitFolder: join(folder, "mirror.git") };
    await openMirror(mirror);
    borrowObjects(mirror, repository);
    mkdirSync(join(mirror.gitFolder, "info"), { recursive: true });
    writeFileSync(join(mirror.gitFolder, "info/attributes"), ATTRIBUTES);
    const ask = async (...words: string[]) => (await askGit(mirror, words, { purpose: "read the change" })).toString();
    const { stdout, exitCode } = await runGit(mirror, ["merge-base", baseCommit, headCommit]);
    const fork = stdout.toString().trim();
    if (exitCode !== 0) {
      throw new SheafError("USAGE", `${base} and ${head} share no commit that is here: run git fetch --unshallow`);
    }
    const words = ["diff-tree", "-p", "-r", "--full-index", "--no-ext-diff", "--no-textconv", "--find-renames"];
    const diff = await ask(...words, fork, headCommit);
    if (diff === "") throw new SheafError("USAGE", `${head} has no changes since ${base}: name other commits`);
    const [baseFolder, change] = [join(folder, "base"), join(folder, "change")];
    await writeTree(mirror, baseCommit, baseFolder);
    await writeTree(mirror, headCommit, join(change, "head"), true);
    writeFileSync(join(change, "change.diff"), diff);
    const list = diff.length > MAX_DIFF ? await ask("diff-tree", "-r", "--stat", fork, headCommit) : undefined;
    return { base: baseFolder, change, text: list ?? diff, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function findCommit(source: GitSetup, name: string): Promise<string> {
  const commit = await readCommit(source, name);
  if (commit !== undefined) return commit;
  throw new SheafError("USAGE", `the repository has no commit ${JSON.stringify(name)}: fetch it, or name another one`);
}

/** Writes the head's links as files with their targets, and leaves out its ignore files, so that neither can hide a file. */
async function writeTree(mirror: GitSetup, commit: string, folder: string, isData = false): Promise<void> {
  const index = join(mirror.gitFolder, `${commit}.index`);
  const options = { index, workTree: folder, purpose: `write the files of ${commit}` };
  mkdirSync(folder, { recursive: true });
  await askGit(mirror, ["read-tree", commit], options);
  if (isData) {
    const names = (await askGit(mirror, ["ls-files", "-z"], options)).toString().split("\0");
    const ignoring = names.filter((name) => /(^|\/)\.(git|sheaf)ignore$/i.test(name));
    await askGit(mirror, ["update-index", "-z", "--force-remove", "--stdin"], {
      ...options,
      input: ignoring.join("\0"),
    });
  }
  await askGit(mirror, ["-c", `core.symlinks=${!isData}`, "checkout-index", "--all"], options);
}
