import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { SheafError } from "../../src/errors.ts";
import { writeFileAtomically } from "../../src/files/atomic-write.ts";
import { createWorkspace } from "../../src/files/workspace.ts";
import { moveFile, removeFile, resolveEntry } from "../../src/files/move-file.ts";
import { readWholeFile } from "../../src/files/read-file.ts";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "./temporary-workspace.ts";

const SECRET = "what must not be reached";

let folder: TemporaryWorkspace;

/** `w` is the workspace, `w-evil` lies beside it. */
beforeEach(() => {
  folder = createTemporaryWorkspace();
  const { root, outside } = folder;
  folder.write("a.txt", "a");
  folder.write("dir/b.txt", "b");
  folder.write("dir/sub/c.txt", "c");
  mkdirSync(join(outside, "inner"));
  writeFileSync(join(outside, "secret.txt"), SECRET);
  writeFileSync(join(outside, "inner", "secret.txt"), SECRET);
  const links: readonly (readonly [string, string])[] = [
    ["file-out", "../w-evil/secret.txt"],
    ["file-out-absolute", join(outside, "secret.txt")],
    ["folder-out", "../w-evil"],
    ["folder-out-absolute", outside],
    ["dangling-out", "../w-evil/new.txt"],
    ["dangling-out-deep", "../w-evil/new/folder/new.txt"],
    ["chain-1", "chain-2"],
    ["chain-2", "dir/chain-3"],
    ["dir/chain-3", "../folder-out"],
    ["up", ".."],
    ["dir/up-twice", "../.."],
    ["system", "/"],
    ["process-root", "/proc/self/root"],
    ["process-folder", "/proc/self/cwd"],
    ["through", "folder-in/../../w-evil"],
    ["through-missing", "missing/../../w-evil"],
    ["through-file", "a.txt/../../w-evil/secret.txt"],
    ["dots", "./.././w-evil/./secret.txt"],
    ["twin", `${root}-evil/secret.txt`],
    ["loop", "loop"],
    ["loop-1", "loop-2"],
    ["loop-2", "loop-1"],
    ["file-in", "dir/b.txt"],
    ["folder-in", "dir"],
    ["dangling-in", "dir/new.txt"],
    ["self", "."],
    ["out-and-in", "../w/a.txt"],
    ["in-absolute", join(root, "dir", "b.txt")],
  ];
  for (const [name, target] of links) symlinkSync(target, join(root, name));
});

type Spelling = string | ((folder: TemporaryWorkspace) => string);

const toText = (spelling: Spelling) => (typeof spelling === "string" ? spelling : spelling(folder));
const toTitle = (spelling: Spelling) => (typeof spelling === "string" ? JSON.stringify(spelling) : spelling.toString());

const leadingOut: readonly Spelling[] = [
  // dots
  "..", "../", "../.", "..//", "./..", "../w-evil", "../w-evil/secret.txt", "../w-evil/new.txt", "./../w-evil/secret.txt",
  "dir/../../w-evil/secret.txt", "dir/sub/../../../w-evil/secret.txt", "dir//..//..//w-evil//secret.txt",
  "missing/../../w-evil/secret.txt", "a.txt/../../w-evil/secret.txt", "../w/../w-evil/secret.txt",
  "../../../../../../../../../../etc/passwd", `${"../".repeat(200)}etc/passwd`, "dir/./.././../w-evil/./secret.txt",
  // absolute paths
  "/", "//", "/.", "/etc/passwd", "//etc/passwd", "///etc///passwd", "/etc/../etc/passwd", "/./etc/passwd", "/tmp",
  "/dev/null", "/dev/stdin", "/dev/fd/0", "/dev/tty", "/proc/self/root/etc/passwd", "/proc/self/cwd", "/proc/self/environ",
  "/proc/self/fd/0", "/proc/1/root/etc/passwd", "/proc/thread-self/root", "/sys/kernel", "/root/.bashrc", "/home",
  ({ outside }) => outside,
  ({ outside }) => join(outside, "secret.txt"),
  ({ outside }) => `/${outside}/secret.txt`,
  ({ root }) => dirname(root),
  // twins of the prefix
  ({ root }) => `${root}-evil`,
  ({ root }) => `${root}-evil/secret.txt`,
  ({ root }) => `${root}2/secret.txt`,
  ({ root }) => `${root}.`,
  ({ root }) => `${root} /a.txt`,
  ({ root }) => `${root}\\..\\w-evil`,
  ({ root }) => `${root}/../w-evil/secret.txt`,
  ({ root }) => `${root}/dir/../../w-evil/secret.txt`,
  ({ root }) => `/proc/self/root${root}/a.txt`,
  ({ root }) => root.slice(0, -1),
  ({ root }) => `${dirname(root)}/W/a.txt`,
  // links
  "file-out", "file-out-absolute", "folder-out", "folder-out/", "folder-out/secret.txt", "folder-out/inner/secret.txt",
  "folder-out/new.txt", "folder-out/new/folder/new.txt", "folder-out-absolute/secret.txt", "dangling-out",
  "dangling-out-deep", "chain-1", "chain-1/secret.txt", "chain-1/new.txt", "chain-2/inner/secret.txt", "dir/chain-3/secret.txt",
  "up", "up/w-evil/secret.txt", "dir/up-twice/w-evil/secret.txt", "folder-in/up-twice/w-evil/secret.txt", "system/etc/passwd",
  "process-root/etc/passwd", "process-folder/package.json", "through", "through/secret.txt", "through-missing/secret.txt",
  "through-file", "dots", "twin", "self/folder-out/secret.txt", "self/self/self/up", "./folder-out/./secret.txt",
  "dir/../folder-out/secret.txt", "folder-out/../w-evil/../folder-out/secret.txt", "out-and-in/../folder-out/secret.txt",
  ({ root }) => join(root, "folder-out", "secret.txt"),
  ({ root }) => join(root, "chain-1"),
]; // prettier-ignore

const invalid: readonly Spelling[] = [
  "", " ", "\t", "\n", " \n ", "\0", "a.txt\0", "a.txt\0.png", "\0/etc/passwd", "../w-evil/secret.txt\0", "dir\0/../b.txt",
  "a\nb", "a\rb", "\u001b[2Ja.txt", "a\u007f", "a\u0085b", "\ud83c", "dir/\udf88/x", "~/.bashrc", "~/", "~root/.bashrc",
  "~user/x", "x".repeat(4097), "x/".repeat(2049), "é".repeat(2049), "x".repeat(256), "loop", "loop/x", "loop-1/x", "dir/../loop-2",
]; // prettier-ignore

/** Spellings that only look as if they led somewhere else: each names just what it says, in the workspace. */
const literal: readonly string[] = [
  "%2e%2e/w-evil/secret.txt", "..%2fw-evil%2fsecret.txt", "%2e%2e%2fw-evil", "..%252fw-evil", "..%c0%afw-evil", "%00",
  "..\\w-evil\\secret.txt", "dir\\..\\..\\w-evil", "\\\\server\\share\\x", "C:\\Windows\\win.ini", "C:/Windows/win.ini",
  "․․/w-evil/secret.txt", "．．/w-evil/secret.txt", "..／w-evil", "..∕w-evil", "..⁄w-evil", "…/w-evil", "\u200b../w-evil",
  "..\u200b/w-evil/secret.txt", ".\u00ad./w-evil", "..\u202e/w-evil", "..\ufe00/w-evil", ".../w-evil", "..../w-evil",
  ".. /w-evil/secret.txt", ". ./w-evil", " ../w-evil", "..w-evil", "~", "~.txt", "dir/~/x", "-rf", "--help", "*", "a?b", "[a]",
  "$HOME/.x", "${HOME}/x", "$(id)", "`id`", "|id", ";id", "a.txt.", "a.txt ", "a.txt::$DATA", "NUL", "con", "{a,b}", "'x'", '"x"',
]; // prettier-ignore

const accepted: readonly (readonly [Spelling, string])[] = [
  ["a.txt", "a.txt"],
  ["./a.txt", "a.txt"],
  [".//a.txt", "a.txt"],
  ["dir/../a.txt", "a.txt"],
  ["dir/b.txt", "dir/b.txt"],
  ["dir//b.txt", "dir/b.txt"],
  ["dir/./sub/../b.txt", "dir/b.txt"],
  ["missing/../a.txt", "a.txt"],
  ["new.txt", "new.txt"],
  ["new/folder/new.txt", "new/folder/new.txt"],
  ["..hidden", "..hidden"],
  ["...", "..."],
  ["with blanks/ü 日本 🎈.txt", "with blanks/ü 日本 🎈.txt"],
  [".", "."],
  ["./", "."],
  ["dir/..", "."],
  ["../w/a.txt", "a.txt"],
  ["file-in", "dir/b.txt"],
  ["folder-in/b.txt", "dir/b.txt"],
  ["folder-in/new.txt", "dir/new.txt"],
  ["dangling-in", "dir/new.txt"],
  ["self/self/a.txt", "a.txt"],
  ["out-and-in", "a.txt"],
  ["in-absolute", "dir/b.txt"],
  ["up/w/a.txt", "a.txt"],
  ["folder-out/../a.txt", "a.txt"],
  [({ root }) => root, "."],
  [({ root }) => `${root}/`, "."],
  [({ root }) => join(root, "a.txt"), "a.txt"],
  [({ root }) => `${root}/dir/../a.txt`, "a.txt"],
  [({ root }) => `/${root}//a.txt`, "a.txt"],
  [({ root }) => `${root}-evil/../w/a.txt`, "a.txt"],
];

test(verifies("S-20", "the table has at least 80 paths"), () => {
  const spellings = [...leadingOut, ...invalid, ...literal, ...accepted.map(([spelling]) => spelling)];
  expect(leadingOut.length + invalid.length).toBeGreaterThanOrEqual(80);
  expect(new Set(spellings.map(toTitle)).size).toBe(spellings.length);
});

describe("a path that leads out", () => {
  test.each(leadingOut.map((spelling) => [toTitle(spelling), spelling] as const))(
    verifies("S-20", "is refused: %s"),
    (_title, spelling) => {
      const path = toText(spelling);
      const resolved = folder.workspace.resolve(path);
      expect(resolved).toMatchObject({ ok: false, error: { code: "PATH_OUTSIDE_WORKSPACE" } });
      if (resolved.ok) return;
      expect(resolved.error.message).toContain(path);
      expect(resolved.error.message).toContain("only paths inside it");
      expect(resolved.error.message).not.toContain("\n");
      expect(resolveEntry(folder.workspace, path).ok).toBe(false);
    },
  );
});

test("the refusal of a path names the link that leads out", () => {
  const messages = ["folder-in/up-twice/w-evil", "file-out", "../w-evil"].map((path) => {
    const resolved = folder.workspace.resolve(path);
    return resolved.ok ? "" : resolved.error.message;
  });
  const { root } = folder;
  expect(messages).toEqual([
    `"folder-in/up-twice/w-evil" leads out of the workspace ${root} through the link "folder-in/up-twice": only paths inside it can be used`,
    `"file-out" leads out of the workspace ${root} through the link "file-out": only paths inside it can be used`,
    `"../w-evil" leads out of the workspace ${root}: only paths inside it can be used`,
  ]);
});

describe("a path that is none", () => {
  test.each(invalid.map((spelling) => [toTitle(spelling).slice(0, 60), spelling] as const))(
    verifies("S-20", "is refused: %s"),
    (_title, spelling) => {
      const resolved = folder.workspace.resolve(toText(spelling));
      expect(resolved).toMatchObject({ ok: false, error: { code: "PATH_INVALID" } });
      if (!resolved.ok) expect(resolved.error.message).not.toMatch(/\p{Cc}/u);
    },
  );
});

describe("a path inside", () => {
  test.each(accepted.map(([spelling, relative]) => [toTitle(spelling), relative, spelling] as const))(
    "is accepted: %s is %s",
    (_title, relative, spelling) => {
      const resolved = folder.workspace.resolve(toText(spelling));
      const absolute = relative === "." ? folder.root : join(folder.root, relative);
      expect(resolved).toMatchObject({ ok: true, path: { relative, absolute } });
    },
  );

  test.each(literal)(verifies("S-20", "is taken as it stands: %j"), (path) => {
    const resolved = folder.workspace.resolve(path);
    expect(resolved).toMatchObject({ ok: true, path: { relative: path, absolute: join(folder.root, path) } });
  });

  test(verifies("N21", "is named as it was written, with its links"), () => {
    expect(folder.path("./folder-in/b.txt")).toMatchObject({ named: "folder-in/b.txt", relative: "dir/b.txt" });
    expect(folder.path(join(folder.root, "folder-in"))).toMatchObject({ named: "folder-in", relative: "dir" });
  });
});

/** Everything below a folder, links not followed. */
function readTree(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${file}=${readFileSync(file, "utf8")}` : file;
    })
    .toSorted();
}

test(verifies("S-20", "no spelling reads, writes, deletes or moves anything outside"), async () => {
  const { workspace, root } = folder;
  const before = readTree(folder.outside);
  const spellings = [...leadingOut, ...invalid, ...literal, ...accepted.map(([spelling]) => spelling)];
  for (const path of spellings.map(toText)) {
    const resolved = workspace.resolve(path);
    if (resolved.ok) {
      expect(resolved.path.absolute === root || resolved.path.absolute.startsWith(root + sep)).toBe(true);
      const file = await readWholeFile(root, resolved.path, 1_000_000);
      expect(file.ok ? file.value.bytes.toString() : "").not.toContain(SECRET);
      await writeFileAtomically(workspace, resolved.path, Buffer.from("x"), file.ok ? file.value.identity : undefined);
    }
    const entry = resolveEntry(workspace, path);
    if (!entry.ok) continue;
    expect(realpathSync(dirname(join(root, entry.path.relative))) + sep).toMatch(new RegExp(`^${root}(/|$)`));
    await moveFile(workspace, entry.path, folder.path("moved"));
    await removeFile(workspace, folder.path("moved"));
  }
  expect(readTree(folder.outside)).toEqual(before);
  expect(readdirSync(dirname(root)).toSorted()).toEqual(["w", "w-evil"]);
});

describe("the root", () => {
  test("is made real, and its other name is taken for it", () => {
    const alias = join(dirname(folder.root), "alias");
    symlinkSync("w", alias);
    const workspace = createWorkspace(alias);
    expect(workspace.root).toBe(folder.root);
    expect(workspace.resolve(join(alias, "a.txt"))).toMatchObject({ ok: true, path: { relative: "a.txt" } });
    expect(workspace.resolve(join(folder.root, "a.txt"))).toMatchObject({ ok: true, path: { relative: "a.txt" } });
    expect(workspace.resolve(`${alias}-evil`)).toMatchObject({ ok: false });
  });

  test("is entered through any link that leads to it or into it, by an absolute path", () => {
    const { root, outside, workspace } = folder;
    symlinkSync(root, join(outside, "to-root"));
    symlinkSync("../w/dir", join(outside, "to-dir"));
    symlinkSync("inner", join(outside, "to-inner"));
    const found = [
      ["to-root", ".", "."],
      ["to-root/folder-in/b.txt", "folder-in/b.txt", "dir/b.txt"],
      ["to-dir", "dir", "dir"],
      ["to-dir/new/new.txt", "dir/new/new.txt", "dir/new/new.txt"],
      ["missing/../to-dir/b.txt", "dir/b.txt", "dir/b.txt"],
    ] as const;
    for (const [path, named, relative] of found) {
      expect(workspace.resolve(join(outside, path)), path).toMatchObject({ ok: true, path: { named, relative } });
    }
    const added = createWorkspace(root, { isAdded: true }).resolve(join(outside, "to-dir/b.txt"));
    expect(added).toMatchObject({ ok: true, path: { named: join(root, "dir/b.txt") } });
    for (const path of [
      "to-inner/secret.txt",
      "to-root/folder-out/secret.txt",
      "to-dir/up-twice/w-evil",
      "inner/x/y",
    ]) {
      expect(workspace.resolve(join(outside, path)), path).toMatchObject({
        ok: false,
        error: { code: "PATH_OUTSIDE_WORKSPACE" },
      });
    }
    // Only an absolute path names a place outside.
    expect(workspace.resolve("../w-evil/to-root/a.txt").ok).toBe(false);
  });

  test("may be the root of the system", () => {
    const workspace = createWorkspace("/");
    expect(workspace.resolve("/etc/passwd")).toMatchObject({ ok: true, path: { relative: "etc/passwd" } });
    expect(workspace.resolve("..")).toMatchObject({ ok: true, path: { relative: "." } });
  });

  test.each(["missing", "a.txt"])("must be a folder: %s", (name) => {
    const path = join(folder.root, name);
    expect(existsSync(path)).toBe(name === "a.txt");
    expect(() => createWorkspace(path)).toThrow(SheafError);
    expect(() => createWorkspace(path)).toThrow(path);
  });
});
