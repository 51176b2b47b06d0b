import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { skipIfMissing, unless } from "../../../../test/support/describe-where.ts";
import { listDirTool } from "../../src/tools/list-dir.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createContext, createFolder, createPipe } from "./search-workspace.ts";

async function list(root: string, folder?: string): Promise<ToolOutcome> {
  return listDirTool.run(folder === undefined ? {} : { target_directory: folder }, createContext(root));
}

describe("list_dir", () => {
  test("packages are opened only if the call names them", async () => {
    const root = createFolder({ "a/node_modules/x/i.js": "", "node_modules/y/i.js": "" });
    expect(await list(root)).toMatchObject({
      output: "a/\n  node_modules/\nnode_modules/",
      note: "node_modules is not opened: name it as target_directory to see it.",
    });
    expect(await list(root, "node_modules")).toMatchObject({ output: "y/\n  i.js" });
  });

  test("a tree, sorted, folders with a slash, links with their target", async () => {
    const root = createFolder({
      "b.txt": "",
      "a/y.txt": "",
      "a/x/z.txt": "",
      ".env": "",
      "empty/": "",
      "with space/ü.txt": "",
    });
    symlinkSync("b.txt", join(root, "link"));
    symlinkSync("/etc", join(root, "out"));
    symlinkSync("nowhere", join(root, "dangling"));
    const outcome = await list(root);
    expect(outcome).toEqual({
      status: "success",
      output: [
        ".env",
        "a/",
        "  x/",
        "    z.txt",
        "  y.txt",
        "b.txt",
        "dangling -> nowhere",
        "empty/",
        "link -> b.txt",
        "out -> /etc",
        "with space/",
        "  ü.txt",
      ].join("\n"),
      effect: { kind: "list" },
    });
  });

  test("what .gitignore leaves out is not shown, unless it is named", async () => {
    const root = createFolder({
      ".gitignore": "node_modules/\n*.log\n!keep.log\n",
      ".git/HEAD": "",
      "node_modules/x/a.js": "",
      "a.log": "",
      "keep.log": "",
      "sub/.gitignore": "*.tmp",
      "sub/a.tmp": "",
      "sub/b.ts": "",
    });
    const outcome = await list(root);
    expect(outcome.output).toBe([".gitignore", "keep.log", "sub/", "  .gitignore", "  b.ts"].join("\n"));
    expect(outcome.note).toBe("Excluded by .gitignore: a.log, node_modules/, sub/a.tmp.");
    expect((await list(root, "node_modules")).output).toBe("x/\n  a.js");
    expect((await list(root, "sub")).output).toBe(".gitignore\nb.ts");
  });

  test("three levels are opened, and the note says so", async () => {
    const root = createFolder({ "a/b/c/d/e.txt": "" });
    const outcome = await list(root);
    expect(outcome.output).toBe("a/\n  b/\n    c/");
    expect(outcome.note).toContain("level 3");
    expect((await list(root, "a/b")).output).toBe("c/\n  d/\n    e.txt");
  });

  test(verifies("N36", "at most 500 entries are shown, level by level, and what is not is counted"), async () => {
    const files = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`a/${index}.txt`, ""]));
    const root = createFolder({ ...files, "b/c.txt": "", "z.txt": "" });
    const outcome = await list(root);
    const lines = outcome.output.split("\n");
    expect(lines).toHaveLength(501);
    expect(lines.slice(-3)).toEqual(["  ... 103 more", "b/", "z.txt"]);
    expect(outcome).toMatchObject({ truncated: true, note: expect.stringContaining("first 500 entries") });
  });

  test("exactly 500 entries are all of it", async () => {
    const outcome = await list(
      createFolder(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${index}.txt`, ""]))),
    );
    expect(outcome).not.toHaveProperty("truncated");
    expect(outcome).not.toHaveProperty("note");
  });

  test(verifies("S-92", "names with control characters stay on their line"), async () => {
    const outcome = await list(createFolder({ "a\nb/": "", "c\u001b[31m.txt": "", "\u2028": "" }));
    expect(outcome.output).toBe('"a\\nb"/\n"c\\u001b[31m.txt"\n"\\u2028"');
  });

  test(verifies("R-15", "a pipe and a loop of links are shown, not opened"), async () => {
    const root = createFolder({ "a/": "" });
    await createPipe(join(root, "pipe"));
    symlinkSync("..", join(root, "a", "up"));
    symlinkSync("self", join(root, "self"));
    const start = performance.now();
    expect((await list(root)).output).toBe("a/\n  up -> ..\npipe\nself -> self");
    expect(performance.now() - start).toBeLessThan(1000);
  });

  test("failures are outcomes that say what to do", async () => {
    const root = createFolder({ "source/a.txt": "" });
    symlinkSync("/etc", join(root, "out"));
    expect(await list(root, "sourc")).toMatchObject({
      status: "error",
      error: { code: "FILE_NOT_FOUND", message: expect.stringContaining("source") },
    });
    expect(await list(root, "source/a.txt")).toMatchObject({
      error: { code: "NOT_A_DIRECTORY", message: expect.stringContaining("read_file") },
    });
    expect(await list(root, "..")).toMatchObject({ error: { code: "PATH_OUTSIDE_WORKSPACE" } });
    expect(await list(root, "out")).toMatchObject({ error: { code: "PATH_OUTSIDE_WORKSPACE" } });
    expect(await list(root, "")).toMatchObject({ status: "success" });
    expect((await list(createFolder())).output).toBe("The folder is empty.");
  });

  test("an abort ends it", async () => {
    const outcome = await listDirTool.run(
      {},
      createContext(createFolder({ "a/b": "" }), { signal: AbortSignal.abort() }),
    );
    expect(outcome).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" } });
  });

  test("a folder that may not be read is said to be so", async () => {
    skipIfMissing(unless(process.getuid?.() !== 0, "root may read every folder"));
    const root = createFolder({ "closed/a": "" });
    chmodSync(join(root, "closed"), 0);
    expect((await list(root)).output).toBe("closed/\n  (not readable: PERMISSION_DENIED)");
    chmodSync(join(root, "closed"), 0o700);
  });
});
