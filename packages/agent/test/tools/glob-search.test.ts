import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { globSearchTool } from "../../src/tools/glob-search.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createContext, createFolder, createLargeFolder, createPipe } from "./search-workspace.ts";

async function glob(root: string, pattern: string, folder?: string): Promise<ToolOutcome> {
  const args = { pattern, ...(folder !== undefined && { target_directory: folder }) };
  return globSearchTool.run(args, createContext(root));
}

/** The paths that were found. */
async function find(root: string, pattern: string, folder?: string): Promise<readonly string[]> {
  const outcome = await glob(root, pattern, folder);
  if (outcome.effect?.kind !== "glob") throw new Error(outcome.error?.message);
  expect(outcome.status).toBe("success");
  if (outcome.effect.files.length > 0) expect(outcome.output).toBe(outcome.effect.files.join("\n"));
  return outcome.effect.files;
}

const root = createFolder({
  "a.ts": "", "b.js": "", "src/a.ts": "", "src/deep/c.test.ts": "", "src/deep/ü ß.ts": "", ".hidden.ts": "", ".github/ci.yml": "", "src/.x/y.ts": "",
  ".gitignore": "dist/\n*.gen.ts\n", "dist/a.ts": "", "src/d.gen.ts": "", ".git/config": "", "sub/.gitignore": "secret*", "sub/secret.ts": "",
  "sub/-dash.ts": "", "sub/[x].ts": "",
}); // prettier-ignore

describe("glob_search", () => {
  test(verifies("N62", "a note names what ignore rules left out, if it could match"), async () => {
    expect((await glob(root, "*.ts")).note).toBe("Excluded by .gitignore: dist/, sub/secret.ts, src/d.gen.ts.");
    expect((await glob(root, "src/d*")).note).toBe("Excluded by .gitignore: src/d.gen.ts.");
    expect((await glob(root, "deep/c*", "src")).note).toBeUndefined();
  });

  test.each([
    [
      "*.ts",
      undefined,
      [
        ".hidden.ts",
        "a.ts",
        "src/.x/y.ts",
        "src/a.ts",
        "src/deep/c.test.ts",
        "src/deep/ü ß.ts",
        "sub/-dash.ts",
        "sub/[x].ts",
      ],
    ],
    ["**/*.test.ts", undefined, ["src/deep/c.test.ts"]],
    ["./*.ts", undefined, [".hidden.ts", "a.ts"]],
    ["src/*.ts", undefined, ["src/a.ts"]],
    ["src/**", undefined, ["src/.x/y.ts", "src/a.ts", "src/deep/c.test.ts", "src/deep/ü ß.ts"]],
    ["*.{js,yml}", undefined, [".github/ci.yml", "b.js"]],
    ["*.ts", "src", ["src/.x/y.ts", "src/a.ts", "src/deep/c.test.ts", "src/deep/ü ß.ts"]],
    ["deep/*.ts", "src", ["src/deep/c.test.ts", "src/deep/ü ß.ts"]],
    ["ü ß.*", undefined, ["src/deep/ü ß.ts"]],
    ["-dash.ts", undefined, ["sub/-dash.ts"]],
    ["\\[x\\].ts", undefined, ["sub/[x].ts"]],
    [`${root}/src/*.ts`, undefined, ["src/a.ts"]],
    [".*.ts", undefined, [".hidden.ts"]],
    [".github/**", undefined, [".github/ci.yml"]],
    ["**/.x/*", undefined, ["src/.x/y.ts"]],
    ["A.TS", undefined, []],
    ["dist/*", undefined, []],
    ["*", "dist", ["dist/a.ts"]],
    [".git/*", undefined, []],
    ["secret.ts", undefined, []],
    ["src/../*.js", undefined, ["b.js"]],
    ["../src/deep/c*", "src", ["src/deep/c.test.ts"]],
    [`${root}/sub/../src/*.ts`, undefined, ["src/a.ts"]],
  ] as const)("%j in %j", async (pattern, folder, files) => {
    expect(await find(root, pattern, folder)).toEqual(files);
  });

  test.each([
    ["../*", undefined, "PATH_OUTSIDE_WORKSPACE"],
    ["~/**", undefined, "PATH_INVALID"],
    ["~me/*.js", "src", "PATH_INVALID"],
    ["..", undefined, "PATH_OUTSIDE_WORKSPACE"],
    ["src/../../**", undefined, "PATH_OUTSIDE_WORKSPACE"],
    ["../../*", "src", "PATH_OUTSIDE_WORKSPACE"],
    ["/etc/*", undefined, "PATH_OUTSIDE_WORKSPACE"],
    ["/*", undefined, "PATH_OUTSIDE_WORKSPACE"],
    [`${root}/../*`, undefined, "PATH_OUTSIDE_WORKSPACE"],
    [`${root}-evil/*`, undefined, "PATH_OUTSIDE_WORKSPACE"],
    ["../*.js", "src", "INVALID_PATTERN"],
    [`${root}/sub/*`, "src", "INVALID_PATTERN"],
    ["*/../../x", undefined, "INVALID_PATTERN"],
    ["{../**,src/**}", undefined, "INVALID_PATTERN"],
  ] as const)(
    verifies("S-20", "a glob that leads out is an error that says so: %j in %j"),
    async (pattern, folder, code) => {
      const { status, error } = await glob(root, pattern, folder);
      expect({ status, code: error?.code }).toEqual({ status: "error", code });
      expect(error?.message).toContain(`the glob ${JSON.stringify(pattern)}`);
    },
  );

  test("an absolute glob may enter the workspace through a link", async () => {
    const alias = join(createFolder(), "alias");
    symlinkSync(root, alias);
    expect(await find(root, `${alias}/src/*.ts`)).toEqual(["src/a.ts"]);
    expect(await find(root, `${alias}/src/*.ts`, "src")).toEqual(["src/a.ts"]);
    expect(await find(root, `${alias}/sub/[[]x]*`)).toEqual(["sub/[x].ts"]);
  });

  test("no match is a success, with a note on where it did not look", async () => {
    const outcome = await glob(root, "*.rs");
    expect(outcome).toMatchObject({
      status: "success",
      output: "No file matches.",
      effect: { files: [], totalFiles: 0, truncated: false },
    });
    expect(outcome.note).toContain(".gitignore");
  });

  test(verifies("S-20", "links: a file inside counts, folders are not followed, none outside is shown"), async () => {
    const linked = createFolder({ "real/a.ts": "", "x/": "" });
    symlinkSync("../real/a.ts", join(linked, "x", "in.ts"));
    symlinkSync("/etc/passwd", join(linked, "x", "out.ts"));
    symlinkSync("../real", join(linked, "x", "folder.ts"));
    symlinkSync("..", join(linked, "x", "loop"));
    symlinkSync("nowhere", join(linked, "x", "dangling.ts"));
    await createPipe(join(linked, "x", "pipe.ts"));
    expect(await find(linked, "*.ts")).toEqual(["real/a.ts", "x/in.ts"]);
  });

  test("failures are outcomes", async () => {
    expect(await glob(root, "")).toMatchObject({ status: "error", error: { code: "INVALID_PATTERN" } });
    expect(await glob(root, "{a,b}".repeat(30))).toMatchObject({ error: { code: "INVALID_PATTERN" } });
    expect(await glob(root, "*", "nowhere")).toMatchObject({ error: { code: "FILE_NOT_FOUND" } });
    expect(await glob(root, "*", "a.ts")).toMatchObject({ error: { code: "NOT_A_DIRECTORY" } });
    expect(await glob(root, "*", "../..")).toMatchObject({ error: { code: "PATH_OUTSIDE_WORKSPACE" } });
  });

  test("an abort ends it", async () => {
    const outcome = await globSearchTool.run({ pattern: "*" }, createContext(root, { signal: AbortSignal.abort() }));
    expect(outcome).toMatchObject({ status: "cancelled" });
  });

  test("a name with a line end does not make two paths", async () => {
    const outcome = await glob(createFolder({ "a\nb.ts": "" }), "*.ts");
    expect(outcome).toMatchObject({ output: '"a\\nb.ts"', effect: { files: ["a\nb.ts"] } });
  });

  test(verifies(["R-15", "N36"], "100,000 files: the first 1,000 of all, and other events get a turn"), async () => {
    const large = createLargeFolder();
    writeFileSync(join(large, ".gitignore"), "*.tmp\n");
    for (let folder = 0; folder < 100; folder += 1) {
      const path = join(large, `folder-${folder}`);
      mkdirSync(path);
      for (let file = 0; file < 1000; file += 1) writeFileSync(join(path, `file-${file}.ts`), "");
    }
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const outcome = await glob(large, "**/*.ts");
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    expect(outcome).toMatchObject({
      truncated: true,
      note: expect.stringContaining("1000 of 100000"),
      effect: { totalFiles: 100_000, truncated: true },
    });
    expect(outcome.output.split("\n")).toHaveLength(1000);
    expect(outcome.output.startsWith("folder-0/file-0.ts\nfolder-0/file-1.ts\n")).toBe(true);
  });
});
