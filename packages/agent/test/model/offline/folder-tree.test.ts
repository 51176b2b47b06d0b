import { expect, test } from "vitest";
import { parseTree, splitTreeNote, toTopFiles, toTopFolders } from "../../../src/model/offline/folder-tree.ts";

const output = `.github/
  workflows/
    ci.yml
docs/
  my guide.md
  ... 12 more
secret/
  (not readable: PERMISSION_DENIED)
README.md
link.md -> docs/my guide.md
src/
  a.ts

Only the first 500 entries are shown, level by level. Left out by .gitignore: 3.`;

test("a tree of list_dir", () => {
  const entries = parseTree(output);
  expect(entries.map(({ path }) => path)).toEqual([
    ".github",
    ".github/workflows",
    ".github/workflows/ci.yml",
    "docs",
    "docs/my guide.md",
    "secret",
    "README.md",
    "link.md",
    "src",
    "src/a.ts",
  ]);
  expect(toTopFolders(entries)).toEqual([".github", "docs", "secret", "src"]);
  expect(toTopFiles(entries)).toEqual(["README.md", "link.md"]);
});

test("drawn trees are understood too", () => {
  expect(parseTree("├── src/\n│   └── a.ts\n└── b.ts").map(({ path }) => path)).toEqual(["src", "src/a.ts", "b.ts"]);
});

test("the note is no entry", () => {
  expect(splitTreeNote(output).note).toBe(
    "Only the first 500 entries are shown, level by level. Left out by .gitignore: 3.",
  );
  expect(splitTreeNote("a.ts\nb.ts")).toEqual({ tree: "a.ts\nb.ts", note: "" });
  expect(parseTree("The folder is empty.")).toEqual([]);
});
