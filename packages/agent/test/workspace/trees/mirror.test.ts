/** Mirrors of repositories without their whole history, as CI checks them out, with real git. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { notRoot, skipIfMissing, testDeep } from "../../../../../test/support/describe-where.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { findRepository } from "@sheaf/base/files/repository";
import { fetchRef, openMirror, pushRefs, toLocalRemote } from "../../../src/workspace/trees/mirror.ts";
import { createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";
import { git, gitProgram, openTree, type TestTree } from "./repository.ts";

function addCommit(source: string, name: string): void {
  writeFileSync(join(source, `${name}.txt`), `${name}\n`);
  git(source, "add", "-A");
  git(source, "commit", "-qm", name);
}

/** A repository with three commits and a tag, and its clones. */
function createOrigin() {
  const origin = createTemporaryFolder();
  git(origin, "init", "-q", "-b", "main");
  for (const name of ["one", "two", "three"]) addCommit(origin, name);
  git(origin, "tag", "-am", "Version 1", "v1");
  const clone = (...args: string[]): string => {
    const folder = join(createTemporaryFolder(), "clone");
    git(origin, "clone", "-q", ...args, `file://${origin}`, folder);
    return folder;
  };
  return { origin, clone };
}

/** A commit after the start of the tree, pushed into the repository as a branch. */
async function pushBranch({ mirror, base }: TestTree, repository: string, branch: string) {
  const commit = git(mirror.gitFolder, "commit-tree", `${base}^{tree}`, "-p", base, "-m", branch);
  const remote = toLocalRemote(findRepository(repository), {});
  return pushRefs(mirror, remote, [`${commit}:refs/heads/${branch}`]);
}

const listSubjects = (repository: string, commit: string): string[] =>
  git(repository, "log", "--format=%s", commit).split("\n");

describe("a shallow clone", () => {
  test.each([
    ["of a branch", (clone: (...args: string[]) => string) => clone("--depth=1")],
    ["of a tag", (clone: (...args: string[]) => string) => clone("--depth=1", "--branch=v1")],
    [
      "without a branch",
      (clone: (...args: string[]) => string) => {
        const folder = clone("--depth=1");
        git(folder, "checkout", "-q", "--detach");
        return folder;
      },
    ],
    [
      "in a further worktree",
      (clone: (...args: string[]) => string) => {
        const folder = join(createTemporaryFolder(), "worktree");
        git(clone("--depth=1"), "worktree", "add", "-q", "--detach", folder);
        return folder;
      },
    ],
  ])(verifies("C70", "%s has trees, and gets their branches"), async (_, make) => {
    const source = make(createOrigin().clone);
    const tree = await openTree(source);
    expect(readFileSync(join(tree.place.files, "three.txt"), "utf8")).toBe("three\n");
    expect(listSubjects(tree.place.files, "HEAD")).toEqual(["three"]);
    expect(await pushBranch(tree, source, "work")).toEqual({ ok: true });
    expect(listSubjects(source, "work")).toEqual(["work", "three"]);
    expect(git(source, "fsck")).not.toContain("missing");
  });

  testDeep(verifies("C71", "that has become complete stays so"), async () => {
    const { origin, clone } = createOrigin();
    const source = clone("--depth=1");
    const folder = createTemporaryFolder();
    const tree = await openTree(source, folder);
    git(source, "fetch", "-q", "--unshallow");
    addCommit(origin, "four");
    git(source, "pull", "-q");
    expect(await pushBranch(tree, source, "work")).toEqual({ ok: true });
    expect(listSubjects(source, "work")).toEqual(["work", "three", "two", "one"]);
    expect(existsSync(join(source, ".git/shallow"))).toBe(false);
    const fetched = await fetchRef(tree.mirror, toLocalRemote(findRepository(source), {}), "HEAD", "refs/heads/next");
    expect(fetched).toEqual({ ok: true, commit: git(source, "rev-parse", "HEAD") });
  });
});

test(verifies("C70", "a partial clone is refused with what to do"), () => {
  const { origin, clone } = createOrigin();
  git(origin, "config", "uploadpack.allowFilter", "true");
  const source = clone("--depth=1", "--filter=blob:none");
  expect(() => toLocalRemote(findRepository(source), {})).toThrow(
    `the repository ${source} cannot be copied, it is a partial clone (remote.origin.promisor): clone it without --filter, for instance with --depth 1, or leave --worktree out`,
  );
});

// Only root can give files to another user.
test(verifies("C70", "a repository of another user has trees"), async () => {
  skipIfMissing(notRoot);
  const source = createOrigin().clone("--depth=1");
  execFileSync("chown", ["-R", "12345:12345", source]);
  const folder = createTemporaryFolder();
  const mirror = { program: gitProgram, gitFolder: join(folder, "mirror.git"), environment: { HOME: folder } };
  await openMirror(mirror);
  const remote = toLocalRemote(findRepository(source), {});
  const fetched = await fetchRef(mirror, remote, "HEAD", "refs/heads/start");
  expect(fetched).toMatchObject({ ok: true });
  expect(await pushRefs(mirror, remote, ["refs/heads/start:refs/heads/work"])).toEqual({ ok: true });
});
