/** Working trees and their states, with real git. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createHostileRepository } from "../../../../../test/support/hostile-repository.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { recordState } from "../../../src/workspace/trees/record-state.ts";
import { removeTree } from "@sheaf/base/files/remove-tree";
import { createTree, toTreePlace } from "../../../src/workspace/trees/working-tree.ts";
import { createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";
import { git, gitProgram, openTree, type TestTree } from "./repository.ts";

const now = Date.UTC(2026, 1, 23);

function createRepository(): string {
  const source = createTemporaryFolder();
  git(source, "init", "-q", "-b", "main");
  mkdirSync(join(source, "src"));
  writeFileSync(join(source, "src/a.txt"), "one\n");
  writeFileSync(join(source, "src/b.txt"), "two\n");
  writeFileSync(join(source, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(source, ".gitignore"), "*.log\nout/\n");
  symlinkSync("src/a.txt", join(source, "link"));
  git(source, "add", "-A");
  git(source, "commit", "-qm", "Begin");
  return source;
}

const record = ({ mirror, place, base }: TestTree, parent = base) =>
  recordState(mirror, place, { parent, message: "State", now });

const list = ({ mirror }: TestTree, commit: string): string[] =>
  git(mirror.gitFolder, "ls-tree", "-r", "--name-only", commit).split("\n");

test(verifies("S-125", "a state has tracked and new files, and no ignored ones"), async () => {
  const tree = await openTree(createRepository());
  const { files } = tree.place;
  expect(readFileSync(join(files, "src/a.txt"), "utf8")).toBe("one\n");
  expect(readlinkSync(join(files, "link"))).toBe("src/a.txt");
  expect(lstatSync(join(files, "run.sh")).mode & 0o111).toBe(0o111);
  expect(await record(tree)).toEqual({ commit: tree.base, leftOut: [] });
  writeFileSync(join(files, "src/a.txt"), "uno\n");
  writeFileSync(join(files, "new file\n.txt"), "new\n");
  writeFileSync(join(files, "noise.log"), "no\n");
  rmSync(join(files, "src/b.txt"));
  mkdirSync(join(files, "out"));
  writeFileSync(join(files, "out/x"), "no\n");
  const first = await record(tree);
  expect(git(tree.mirror.gitFolder, "diff-tree", "-r", "-z", "--name-status", tree.base, first.commit)).toBe(
    "A\0new file\n.txt\0M\0src/a.txt\0D\0src/b.txt\0",
  );
  expect(git(tree.mirror.gitFolder, "log", "-1", "--format=%P %an %ct", first.commit)).toBe(
    `${tree.base} Sheaf ${now / 1000}`,
  );
  expect(await record(tree, first.commit)).toEqual({ commit: first.commit, leftOut: [] });
  // A folder where a file was, a file where a folder was, and the same size at the same moment.
  rmSync(join(files, "run.sh"));
  mkdirSync(join(files, "run.sh"));
  writeFileSync(join(files, "run.sh/inner"), "x\n");
  rmSync(join(files, "src"), { recursive: true });
  writeFileSync(join(files, "src"), "a file\n");
  const second = await record(tree, first.commit);
  expect(list(tree, second.commit)).toEqual([".gitignore", "link", '"new file\\n.txt"', "run.sh/inner", "src"]);
});

test(verifies("S-125", "a state is restored elsewhere, files and links, with the start as HEAD"), async () => {
  const tree = await openTree(createRepository());
  writeFileSync(join(tree.place.files, "src/a.txt"), "uno\n");
  rmSync(join(tree.place.files, "src/b.txt"));
  symlinkSync("/etc", join(tree.place.files, "etc"));
  const { commit } = await record(tree);
  const place = toTreePlace(join(createTemporaryFolder(), "other"));
  await createTree(tree.mirror, place, { base: tree.base, state: commit, branch: "main" });
  expect(readFileSync(join(place.files, "src/a.txt"), "utf8")).toBe("uno\n");
  expect(existsSync(join(place.files, "src/b.txt"))).toBe(false);
  expect(readlinkSync(join(place.files, "etc"))).toBe("/etc");
  expect(git(place.files, "status", "--porcelain")).toBe("M src/a.txt\n D src/b.txt\n?? etc");
  expect(await record({ ...tree, place }, commit)).toEqual({ commit, leftOut: [] });
});

test(verifies("S-125", "no link is followed, and sizes are bounded"), async () => {
  const tree = await openTree(createRepository());
  const { files } = tree.place;
  const secret = createTemporaryFolder();
  writeFileSync(join(secret, "a.txt"), "secret\n");
  rmSync(join(files, "src"), { recursive: true });
  symlinkSync(secret, join(files, "src"));
  symlinkSync(join(secret, "a.txt"), join(files, "direct"));
  mkdirSync(join(files, "inner"));
  git(join(files, "inner"), "init", "-q");
  writeFileSync(join(files, "inner/x"), "x");
  writeFileSync(join(files, "large"), "x".repeat(2000));
  writeFileSync(join(files, "small"), "x".repeat(900));
  const limits = { fileBytes: 1000, totalBytes: 1500, files: 10 };
  const { commit, leftOut } = await recordState(tree.mirror, tree.place, {
    parent: tree.base,
    message: "State",
    now,
    limits,
  });
  expect(leftOut).toEqual(["inner/: it has its own repository", "large: it is larger than 1000 bytes"]);
  expect(list(tree, commit)).toEqual([".gitignore", "direct", "link", "run.sh", "small", "src"]);
  expect(git(tree.mirror.gitFolder, "show", `${commit}:src`)).toBe(secret);
});

test(
  verifies("S-125", "files that make a repository, or that another system takes for .git, are left out"),
  async () => {
    const tree = await openTree(createRepository());
    const paths = [
      "vend/HEAD",
      "vend/config",
      "vend/objects/x",
      "vend/refs/x",
      "vend/in/ner",
      "a/.GIT/config",
      "git~1/x",
    ];
    for (const path of [...paths, "ok/HEAD", "ok/refs/x"]) {
      mkdirSync(join(tree.place.files, path, ".."), { recursive: true });
      writeFileSync(join(tree.place.files, path), "x\n");
    }
    const { commit, leftOut } = await record(tree);
    expect(leftOut.map((line) => line.slice(0, line.indexOf(":"))).toSorted()).toEqual(paths.toSorted());
    expect(list(tree, commit).filter((path) => path.includes("/"))).toEqual([
      "ok/HEAD",
      "ok/refs/x",
      "src/a.txt",
      "src/b.txt",
    ]);
  },
);

test(verifies("S-124", "nothing that a hostile repository or tree names is run"), async () => {
  const folder = createTemporaryFolder();
  const hostile = createHostileRepository(join(folder, "hostile"));
  const plain = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
  const work = ["--git-dir", join(hostile.path, ".git"), "--work-tree", hostile.path, ...plain];
  writeFileSync(join(hostile.path, ".gitattributes"), "*.md filter=trap diff=trap merge=trap\n*.bin filter=lfs\n");
  writeFileSync(join(hostile.path, "big.bin"), "version https://git-lfs.github.com/spec/v1\n");
  const config = join(hostile.path, ".git/config");
  const traps = readFileSync(config, "utf8");
  writeFileSync(config, "[core]\n\trepositoryformatversion = 0\n");
  git(hostile.path, ...work, "add", "-f", ".gitattributes", ".gitmodules", "README.md", "src", "link-out", "big.bin");
  git(hostile.path, ...work, "commit", "-qm", "Begin");
  const condition = `[includeIf "gitdir:/"]\n\tpath = ${join(hostile.path, "traps/gitconfig")}\n`;
  writeFileSync(config, traps.replace("\tworktree = /", "") + condition);
  const tree = await openTree(hostile.path, join(folder, "data"));
  const { files } = tree.place;
  expect(readFileSync(join(files, "big.bin"), "utf8")).toContain("git-lfs");
  // What commands leave: settings in the tree's repository, one inside, and a file that leads to the hostile one.
  writeFileSync(join(files, ".git/config"), traps + condition);
  mkdirSync(join(files, ".git/hooks"), { recursive: true });
  for (const hook of ["post-index-change", "reference-transaction", "post-checkout", "pre-commit", "post-commit"]) {
    writeFileSync(join(files, ".git/hooks", hook), readFileSync(join(hostile.path, ".git/hooks/pre-commit")));
    chmodSync(join(files, ".git/hooks", hook), 0o755);
  }
  mkdirSync(join(files, "sub"));
  git(join(files, "sub"), "init", "-q");
  git(join(files, "sub"), "commit", "-qm", "x", "--allow-empty");
  writeFileSync(join(files, "sub/.git/config"), traps);
  mkdirSync(join(files, "linked"));
  writeFileSync(join(files, "linked/.git"), `gitdir: ${join(hostile.path, ".git")}\n`);
  writeFileSync(join(files, "linked/x.md"), "x\n");
  writeFileSync(join(files, "README.md"), "# Changed\n");
  const { commit } = await record(tree);
  expect(git(tree.mirror.gitFolder, "show", `${commit}:README.md`)).toBe("# Changed");
  const place = toTreePlace(join(folder, "other"));
  await createTree(tree.mirror, place, { base: tree.base, state: commit, branch: "main" });
  chmodSync(join(files, "src"), 0o500);
  await removeTree(tree.place.folder);
  expect(existsSync(tree.place.folder)).toBe(false);
  expect(existsSync(join(hostile.path, "README.md"))).toBe(true);
  expect(hostile.readMarkers()).toEqual([]);
  // The traps work: git as a user starts it springs some.
  spawnSync(gitProgram, ["status"], { cwd: hostile.path });
  expect(hostile.readMarkers()).not.toEqual([]);
});
