/** Whatever a hostile command exports: git's checks hold, or nothing of it comes back, and a sentence shows the reason. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseRows } from "../../../../test/support/depth.ts";
import { type GitState, readGitState } from "../../src/git/git-state.ts";
import { type Border, createBorder } from "./border.ts";
import {
  createBlob,
  createCommit,
  createPack,
  createThinPack,
  createTree,
  type HostileExport,
  type HostileObject,
  toId,
  writeExport,
} from "./hostile-export.ts";

const blob = createBlob();
const empty = createTree([]);

interface Known {
  /** Ids in the user's repository. */
  readonly head: string;
  readonly blob: string;
  readonly tree: string;
  /** The exported file, if nothing changed. */
  readonly index: string;
}

/** A branch `main` at a commit of this tree, with all objects. */
function commitTree(tree: HostileObject, { head }: Known, more: readonly HostileObject[] = []): HostileExport {
  const commit = createCommit(toId(tree), [head]);
  return { refs: `${toId(commit)} refs/heads/main \n`, pack: createPack([blob, empty, tree, commit, ...more]) };
}

/** A tree with one hostile name. */
function commitName(name: string | Buffer, mode = "100644", id = toId(blob)): (known: Known) => HostileExport {
  return (known) => commitTree(createTree([[mode, name, id]]), known);
}

function commitModules(text: string): (known: Known) => HostileExport {
  return (known) => {
    const modules = createBlob(text);
    return commitTree(createTree([["100644", ".gitmodules", toId(modules)]]), known, [modules]);
  };
}

function withRef(line: (known: Known) => string): (known: Known) => HostileExport {
  return (known) => ({ refs: `${known.head} refs/heads/main \n${line(known)}` });
}

function withIndex(...records: string[]): (known: Known) => HostileExport {
  return ({ blob: id, index }) => ({
    index: index + records.map((record) => `${record.replace("ID", id)}\0`).join(""),
  });
}

type Row = readonly [what: string, make: (known: Known) => HostileExport];

const hostileObjects: readonly Row[] = [
  ["a tree with .git", commitName(".git")],
  ["a tree with .GIT", commitName(".GIT", "40000", toId(empty))],
  ["a tree with git~1", commitName("git~1", "40000", toId(empty))],
  ["a tree with .git and a dot", commitName(".git.")],
  ["a tree with .git and a stream", commitName(".git::$INDEX_ALLOCATION")],
  ["a tree with .git and a character that HFS+ ignores", commitName(".g\u200cit")],
  ["a tree with ..", commitName("..", "40000", toId(empty))],
  ["a tree with .", commitName(".")],
  ["a tree with ../x", commitName("../x")],
  ["a tree with /etc/x", commitName("/etc/x")],
  ["a tree with a/.GIT/x", commitName("a/.GIT/x")],
  ["a tree with an empty name", commitName("")],
  ["a tree below a tree with .git", (known) => {
    const inner = createTree([["100644", ".git", toId(blob)]]);
    return commitTree(createTree([["40000", "a", toId(inner)]]), known, [inner]);
  }],
  ["a tree with a name twice", (known) =>
    commitTree(createTree([["100644", "a", toId(blob)], ["40000", "a", toId(empty)]]), known)],
  ["a tree with a link and a folder of one name", (known) =>
    commitTree(createTree([["120000", "a", toId(blob)], ["40000", "a", toId(empty)]]), known)],
  ["a tree that is not sorted", (known) =>
    commitTree(createTree([["100644", "b", toId(blob)], ["100644", "a", toId(blob)]]), known)],
  ["a tree with the id 0", commitName("a", "100644", "0".repeat(40))],
  ["a tree that is cut", (known) => {
    const tree = createTree([["100644", "a", toId(blob)]]);
    return commitTree({ type: "tree", content: tree.content.subarray(0, -5) }, known);
  }],
  ["a submodule whose address is an option", commitModules('[submodule "x"]\npath = x\nurl = --upload-pack=touch x\n')],
  ["a submodule whose path is an option", commitModules('[submodule "x"]\npath = -x\nurl = ./x\n')],
  ["a submodule whose name leads out", commitModules('[submodule "../../x"]\npath = x\nurl = ./x\n')],
  ["a submodule that runs a command", commitModules('[submodule "x"]\npath = x\nurl = ./x\nupdate = !touch x\n')],
  [".gitmodules as a link", commitName(".gitmodules", "120000")],
  ["a commit without an author", (known) => {
    const commit: HostileObject = { type: "commit", content: Buffer.from(`tree ${known.tree}\n\nx\n`) };
    return { refs: `${toId(commit)} refs/heads/main \n`, pack: createPack([commit]) };
  }],
  ["a commit whose tree is a file", (known) => {
    const commit = createCommit(known.blob, [known.head]);
    return { refs: `${toId(commit)} refs/heads/main \n`, pack: createPack([commit]) };
  }],
  ["a commit whose tree is missing", (known) => {
    const commit = createCommit("1".repeat(40), [known.head]);
    return { refs: `${toId(commit)} refs/heads/main \n`, pack: createPack([commit]) };
  }],
  ["a commit whose parent is missing", (known) => {
    const commit = createCommit(known.tree, ["1".repeat(40)]);
    return { refs: `${toId(commit)} refs/heads/main \n`, pack: createPack([commit]) };
  }],
  ["a commit whose file is missing", commitName("a", "100644", "1".repeat(40))],
  ["a commit whose pack is missing", () => ({ refs: `${"1".repeat(40)} refs/heads/main \n` })],
  ["a tag to an object of another type", (known) => {
    const tag: HostileObject = { type: "tag", content: Buffer.from(`object ${known.blob}\ntype commit\ntag x\ntagger A <a@b> 1 +0000\n\nx\n`) };
    return { refs: `${known.head} refs/heads/main \n${toId(tag)} refs/tags/x \n`, pack: createPack([tag]) };
  }],
  ["a branch at a file", ({ blob: id }) => ({ refs: `${id} refs/heads/main \n` })],
  ["a pack that is cut", (known) => {
    const whole = commitName("b")(known);
    return { ...whole, pack: whole.pack!.subarray(0, -30) };
  }],
  ["a pack with a wrong checksum", (known) => {
    const whole = commitName("b")(known);
    return { ...whole, pack: Buffer.concat([whole.pack!.subarray(0, -1), Buffer.from([whole.pack!.at(-1)! ^ 1])]) };
  }],
  ["a pack with fewer objects than it claims", (known) => ({ ...commitName("b")(known), pack: createPack([blob], 3) })],
  ["a pack with two billion objects", (known) => ({ ...commitName("b")(known), pack: createPack([blob], 2_000_000_000) })],
  ["a file that is no pack", (known) => ({ ...commitName("b")(known), pack: Buffer.from("[core]\nfsmonitor = touch x\n".repeat(10)) })],
  ["a pack of an object that grows without end", (known) => ({
    ...commitName("b")(known),
    // From the first byte of an existing object, two thousand million bytes that are copied.
    pack: createThinPack(known.blob, Buffer.from([4, 0x80, 0xd0, 0xac, 0xf3, 0x0e, 0x90, 4])),
  })],
  ["a thin pack on an object that does not exist", (known) => ({
    ...commitName("b")(known), pack: createThinPack("1".repeat(40), Buffer.from([4, 4, 0x90, 4])),
  })],
]; // prettier-ignore

const hostileRefs: readonly Row[] = [
  ["a ref HEAD", withRef(({ head }) => `${head} HEAD \n`)],
  ["a branch HEAD", withRef(({ head }) => `${head} refs/heads/HEAD \n`)],
  ["a branch that is an option", withRef(({ head }) => `${head} refs/heads/-x \n`)],
  ["a tag that is an option", withRef(({ head }) => `${head} refs/tags/-x \n`)],
  ["a branch that leads out", withRef(({ head }) => `${head} refs/heads/../../config \n`)],
  ["a ref that leads out", withRef(({ head }) => `${head} refs/../config \n`)],
  ["a branch with two dots", withRef(({ head }) => `${head} refs/heads/a..b \n`)],
  ["a branch that is a lock", withRef(({ head }) => `${head} refs/heads/main.lock \n`)],
  ["a branch with a control character", withRef(({ head }) => `${head} refs/heads/a\u0007 \n`)],
  ["a branch with NUL and a second line for git", withRef(({ head }) => `${head} refs/heads/a\0delete refs/heads/main \n`)],
  ["a branch that looks like an id", withRef(({ head }) => `${head} refs/heads/${head} \n`)],
  ["a tag that is a pattern", withRef(({ head }) => `${head} refs/tags/* \n`)],
  ["a tag that leads out", withRef(({ head }) => `${head} refs/tags/../../x \n`)],
  ["a replacement of a commit", withRef(({ head }) => `${head} refs/replace/${head} \n`)],
  ["notes", withRef(({ head }) => `${head} refs/notes/commits \n`)],
  ["a ref of a remote", withRef(({ head }) => `${head} refs/remotes/origin/main \n`)],
  ["a symbolic branch", withRef(({ head }) => `${head} refs/heads/x refs/heads/main\n`)],
  ["a symbolic ref in the place of a branch", ({ head }) => ({ refs: `${head} refs/heads/main refs/heads/other\n` })],
  ["a ref twice", withRef(({ head }) => `${head} refs/heads/main \n`)],
  ["the id 0", withRef(() => `${"0".repeat(40)} refs/heads/x \n`)],
  ["an id with capitals", withRef(({ head }) => `${head.toUpperCase()} refs/heads/x \n`)],
  ["an id that is short", withRef(({ head }) => `${head.slice(0, 8)} refs/heads/x \n`)],
  ["an expression in the place of an id", withRef(() => "HEAD refs/heads/x \n")],
  ["more refs than a person makes", withRef(({ head }) => Array.from({ length: 100_000 }, (_, n) => `${head} refs/heads/b${n} \n`).join(""))],
  ["HEAD at a file", ({ head }) => ({ head: "../../../etc/passwd", refs: `${head} refs/heads/main \n` })],
  ["HEAD at a tag", ({ head }) => ({ head: "refs/tags/x", refs: `${head} refs/heads/main \n` })],
  ["HEAD at a branch with two lines", ({ head }) => ({ head: "refs/heads/a\nrefs/heads/b", refs: `${head} refs/heads/main \n` })],
  ["HEAD at a branch with two dots", ({ head }) => ({ head: "refs/heads/a..b", refs: `${head} refs/heads/main \n` })],
  ["HEAD at a file's id", ({ head, blob: id }) => ({ head: id, refs: `${head} refs/heads/main \n` })],
  ["HEAD at a missing commit", ({ head }) => ({ head: "1".repeat(40), refs: `${head} refs/heads/main \n` })],
  ["no HEAD", ({ head }) => ({ head: "", refs: `${head} refs/heads/main \n` })],
  ["a stash that is missing", ({ head }) => ({ refs: `${head} refs/heads/main \n`, stash: `${"1".repeat(40)} x\0` })],
  ["a stash that is a file", ({ head, blob: id }) => ({ refs: `${head} refs/heads/main \n`, stash: `${id} x\0` })],
  ["a stash with two lines", ({ head }) => ({ refs: `${head} refs/heads/main \n`, stash: `${head} x\ny\0` })],
  ["a thousand stashes", ({ head }) => ({
    refs: `${head} refs/heads/main \n`, stash: Array.from({ length: 1000 }, (_, n) => `${n.toString(16).padStart(40, "1")} x\0`).join(""),
  })],
  ["an upstream at an address", ({ head }) => ({ refs: `${head} refs/heads/main \n`, settings: "branch.main.remote\next::touch x\0" })],
  ["an upstream at an unknown remote", ({ head }) => ({ refs: `${head} refs/heads/main \n`, settings: "branch.main.remote\norigin\0" })],
  ["an upstream that is no branch", ({ head }) => ({ refs: `${head} refs/heads/main \n`, settings: "branch.main.remote\n.\0branch.main.merge\n--x\0" })],
]; // prettier-ignore

const hostileIndexes: readonly Row[] = [
  ["a path in .git", withIndex("100755 ID 0\t.git/hooks/post-checkout")],
  ["a path in .GIT", withIndex("100644 ID 0\ta/.GIT/x")],
  ["a path in git~1", withIndex("100644 ID 0\tgit~1/x")],
  ["a path that leads out", withIndex("100644 ID 0\t../x")],
  ["a path that leads out later", withIndex("100644 ID 0\ta/../../x")],
  ["an absolute path", withIndex("100644 ID 0\t/etc/x")],
  ["a path with an empty part", withIndex("100644 ID 0\ta//b")],
  ["an empty path", withIndex("100644 ID 0\t")],
  ["a path with a dot", withIndex("100644 ID 0\t./a")],
  ["a submodule in .git", withIndex("160000 ID 0\t.git/logs/y")],
  ["a submodule that leads out", withIndex("160000 ID 0\t../y")],
  [".gitmodules as a link", withIndex("120000 ID 0\t.gitmodules")],
  ["a mode of a folder", withIndex("040000 ID 0\ta")],
  ["a mode with more bits", withIndex("104755 ID 0\ta")],
  ["a mode for everyone", withIndex("100777 ID 0\ta")],
  ["a mode that is no number", withIndex("x ID 0\ta")],
  ["a stage that does not exist", withIndex("100644 ID 4\ta")],
  ["a path that is merged and unmerged", withIndex("100644 ID 1\ta", "100644 ID 2\ta")],
  ["a path twice", withIndex("100644 ID 0\ta", "100755 ID 0\ta")],
  ["a missing file", withIndex(`100644 ${"1".repeat(40)} 0\ta`)],
  ["no tab", withIndex("100644 ID 0 a")],
  ["a record without an id", withIndex("100644  0\ta")],
]; // prettier-ignore

function readKnown({ git }: Border, { index }: HostileExport): Known {
  return {
    index: String(index),
    head: git("rev-parse", "HEAD"),
    blob: git("rev-parse", "HEAD:a"),
    tree: git("rev-parse", "HEAD^{tree}"),
  };
}

/** All files of the repository but its objects. */
function listFiles({ setup }: Border): string[] {
  return readdirSync(setup.gitFolder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith("objects"),
  );
}

/** The export that leaves everything as it is. */
function toNeutral(state: GitState): HostileExport {
  return {
    head: state.head,
    refs: [...state.refs].map(([name, id]) => `${id} ${name} \n`).join(""),
    index: [...state.index].map(([key, value]) => `${value} ${key[0]}\t${key.slice(2)}\0`).join(""),
  };
}

describe("a hostile export", () => {
  test.each(chooseRows([...hostileObjects, ...hostileRefs, ...hostileIndexes], 40))(
    "changes nothing: %s",
    async (_, make) => {
      const border = createBorder();
      const before = await readGitState(border.setup);
      const files = listFiles(border);
      const neutral = toNeutral(before);
      writeExport(border.out, { ...neutral, ...make(readKnown(border, neutral)) });
      const notes = await border.apply(before).catch((error: Error) => [error.message]);
      expect(notes).toEqual([expect.stringMatching(/stays?[, ]|exported file/)]);
      expect(await readGitState(border.setup)).toEqual(before);
      expect(listFiles(border)).toEqual(files);
      expect(border.git("fsck", "--strict", "--no-dangling")).toBe("");
      expect(border.git("status", "--porcelain")).toBe("");
    },
  );
});

describe("exported files", () => {
  const kinds: readonly (readonly [kind: string, make: (file: string) => void])[] = [
    ["a link", (file) => symlinkSync("/etc/passwd", file)],
    ["a pipe", (file) => execFileSync("mkfifo", [file])],
    ["a folder", (file) => mkdirSync(file)],
    ["a device", (file) => symlinkSync("/dev/zero", file)],
    ["missing", () => undefined],
    ["larger than the disk", (file) => (writeFileSync(file, ""), truncateSync(file, 2 ** 40))],
  ];
  test.each(kinds)("end an import if one is %s", async (_, make) => {
    const border = createBorder();
    const before = await readGitState(border.setup);
    for (const name of ["head", "refs", "stash", "index", "settings", "pack"]) {
      writeExport(border.out, toNeutral(before));
      rmSync(join(border.out, name));
      make(join(border.out, name));
      const notes = await border.apply(before).catch((error: Error) => [error.message]);
      expect(notes, name).toEqual([
        expect.stringMatching(name === "pack" ? "stays as it was" : `exported file ${name}`),
      ]);
    }
    expect(await readGitState(border.setup)).toEqual(before);
  });
});

test("an object that git refused once is not there when a later commit names it", async () => {
  const border = createBorder();
  const before = await readGitState(border.setup);
  const known = readKnown(border, toNeutral(before));
  const modules = createBlob('[submodule "x"]\npath = x\nurl = --upload-pack=touch x\n');
  const tree = createTree([["100644", ".gitmodules", toId(modules)]]);
  const commit = createCommit(toId(tree), [known.head]);
  for (const objects of [[modules, tree, commit], [modules], [tree, commit], [commit]]) {
    const main = `${toId(commit)} refs/heads/main \n`;
    writeExport(border.out, { ...toNeutral(before), refs: main, pack: createPack(objects) });
    expect(await border.apply(before)).toEqual([expect.stringContaining("stays as it was")]);
  }
  expect(readdirSync(join(border.setup.gitFolder, "objects")).filter((name) => name.startsWith("tmp"))).toEqual([]);
  expect(border.git("count-objects")).toMatch(/^5 objects/);
});
