import { mkdirSync, openSync, closeSync, symlinkSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readFileTool } from "../../src/tools/read-file.ts";
import { grepSearchTool } from "../../src/tools/grep-search.ts";
import { createSearchResults } from "../../src/tools/search-text.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createContext, createFolder, createLargeFolder, createPipe } from "./search-workspace.ts";

type Arguments = Parameters<typeof grepSearchTool.run>[0];

async function grep(root: string, args: Arguments): Promise<ToolOutcome> {
  return grepSearchTool.run(args, createContext(root));
}

/** `path:line:text` of every match. */
async function find(root: string, args: Arguments): Promise<readonly string[]> {
  const outcome = await grep(root, args);
  if (outcome.effect?.kind !== "search") throw new Error(outcome.error?.message);
  expect(outcome.status).toBe("success");
  return outcome.effect.matches.flatMap(({ path, lines }) => lines.map(({ line, text }) => `${path}:${line}:${text}`));
}

const root = createFolder({
  "a.ts": "const foo = 1;\nconst Bar = 2;\nfoo(bar);\n", "src/b.js": "foo\r\n--flag\r\n", "src/ü ß.ts": "größe 日本語\n", "-dash": "foo -e\n",
  ".hidden": "foo\n", ".github/ci.yml": "foo\n", ".git/config": "foo\n", ".gitignore": "node_modules/\n*.log\n", "node_modules/x.js": "foo\n",
  "a.log": "foo\n", "src/node_modules/y.js": "foo\n", "sub/.gitignore": "secret*\n", "sub/secret.ts": "foo\n", "sub/deep/secret.ts": "foo\n",
  "sub/deep/open.ts": "foo\n", "[x]/*.ts": "foo\n",
}); // prettier-ignore
const all = [
  "-dash:1:foo -e",
  ".github/ci.yml:1:foo",
  ".hidden:1:foo",
  "[x]/*.ts:1:foo",
  "a.ts:1:const foo = 1;",
  "a.ts:3:foo(bar);",
  "src/b.js:1:foo",
  "sub/deep/open.ts:1:foo",
];

describe("what is found", () => {
  test.each([
    [{ pattern: "foo" }, all],
    [{ pattern: "foo", path: "." }, all],
    [{ pattern: "foo", path: "" }, all],
    [{ pattern: "foo", path: root }, all],
    [{ pattern: "foo", path: "src" }, ["src/b.js:1:foo"]],
    [{ pattern: "foo", path: "./src/../a.ts" }, ["a.ts:1:const foo = 1;", "a.ts:3:foo(bar);"]],
    [{ pattern: "foo", path: "-dash" }, ["-dash:1:foo -e"]],
    [{ pattern: "foo", path: "[x]" }, ["[x]/*.ts:1:foo"]],
    [{ pattern: "foo", path: "sub/deep" }, ["sub/deep/open.ts:1:foo"]],
    [{ pattern: "bar" }, ["a.ts:3:foo(bar);"]],
    [{ pattern: "bar", case_insensitive: true }, ["a.ts:2:const Bar = 2;", "a.ts:3:foo(bar);"]],
    [{ pattern: "BAR" }, []],
    [{ pattern: "--flag" }, ["src/b.js:2:--flag"]],
    [{ pattern: "-e" }, ["-dash:1:foo -e"]],
    [{ pattern: "-" , path: "-dash" }, ["-dash:1:foo -e"]],
    [{ pattern: "größe 日本" }, ["src/ü ß.ts:1:größe 日本語"]],
    [{ pattern: "日", path: "src/ü ß.ts" }, ["src/ü ß.ts:1:größe 日本語"]],
    [{ pattern: "^foo\\(\\w+\\);$" }, ["a.ts:3:foo(bar);"]],
    [{ pattern: "\\bfoo$" }, all.filter((line) => line.endsWith(":foo") && !line.startsWith("src"))],
    [{ pattern: "foo", glob: "*.js" }, ["src/b.js:1:foo"]],
    [{ pattern: "foo", glob: "!*.js" }, all.filter((line) => !line.startsWith("src"))],
    [{ pattern: "foo", glob: "src/**" }, ["src/b.js:1:foo"]],
    [{ pattern: "foo", glob: "**/*", path: "src" }, ["src/b.js:1:foo"]],
    [{ pattern: "foo", glob: "--pre=sh" }, []],
    [{ pattern: "foo", glob: "/src/*" }, ["src/b.js:1:foo"]],
    [{ pattern: "foo", glob: "/*.ts" }, ["a.ts:1:const foo = 1;", "a.ts:3:foo(bar);"]],
    [{ pattern: "foo", glob: `${root}/src/*` }, ["src/b.js:1:foo"]],
    [{ pattern: "foo", glob: `${root}/[[]x]/*` }, ["[x]/*.ts:1:foo"]],
    [{ pattern: "foo", glob: "src/../a.*" }, ["a.ts:1:const foo = 1;", "a.ts:3:foo(bar);"]],
    [{ pattern: "foo", glob: "!../**" }, all],
    [{ pattern: "foo", glob: "" }, all],
  ] as const)("%j", async (args, matches) => {
    expect(await find(root, args)).toEqual(matches);
  }); // prettier-ignore

  test(
    verifies(
      "N62",
      "what .gitignore leaves out is found only by its name, names with a dot are like others, .git never",
    ),
    async () => {
      expect(await find(root, { pattern: "foo", path: "node_modules" })).toEqual(["node_modules/x.js:1:foo"]);
      expect(await find(root, { pattern: "foo", path: "a.log" })).toEqual(["a.log:1:foo"]);
      expect(await find(root, { pattern: "foo", path: ".hidden" })).toEqual([".hidden:1:foo"]);
      expect(await find(root, { pattern: "foo", path: ".github" })).toEqual([".github/ci.yml:1:foo"]);
      expect(await find(root, { pattern: "foo", glob: ".github/**" })).toEqual([".github/ci.yml:1:foo"]);
      expect(await find(root, { pattern: "foo", glob: "*.log" })).toEqual([]);
      expect(await find(root, { pattern: "foo", glob: "node_modules/**" })).toEqual([]);
      expect(await find(root, { pattern: "foo", glob: ".git/**" })).toEqual([]);
    },
  );

  test("ignore rules count as they do for the other tools: only those of the workspace, in a repository or not", async () => {
    const outer = createFolder({
      ".gitignore": "*\n",
      ".ignore": "*\n",
      "ws/.ignore": "*.ts\n",
      "ws/.rgignore": "*.ts\n",
      "ws/a.ts": "foo\n",
    });
    expect(await find(join(outer, "ws"), { pattern: "foo" })).toEqual(["a.ts:1:foo"]);
    mkdirSync(join(outer, "ws", ".git", "info"), { recursive: true });
    writeFileSync(join(outer, "ws", ".git", "info", "exclude"), "*.ts\n");
    expect(await find(join(outer, "ws"), { pattern: "foo" })).toEqual(["a.ts:1:foo"]);
  });

  test("output modes", async () => {
    expect((await grep(root, { pattern: "foo" })).output).toBe(
      "-dash\n1: foo -e\n\n.github/ci.yml\n1: foo\n\n.hidden\n1: foo\n\n[x]/*.ts\n1: foo\n\na.ts\n1: const foo = 1;\n3: foo(bar);\n\nsrc/b.js\n1: foo\n\nsub/deep/open.ts\n1: foo",
    );
    const files = await grep(root, { pattern: "foo", output_mode: "files_with_matches" });
    expect(files).toMatchObject({
      output: "-dash\n.github/ci.yml\n.hidden\n[x]/*.ts\na.ts\nsrc/b.js\nsub/deep/open.ts",
      effect: { totalFiles: 7, totalMatches: 8, truncated: false },
    });
    const count = await grep(root, { pattern: "foo", output_mode: "count" });
    expect(count).toMatchObject({
      output: "-dash: 1\n.github/ci.yml: 1\n.hidden: 1\n[x]/*.ts: 1\na.ts: 2\nsrc/b.js: 1\nsub/deep/open.ts: 1",
      effect: { totalFiles: 7, totalMatches: 8 },
    });
  });

  test("lines around matches are shown, and are no matches", async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join("\n");
    const folder = createFolder({ "a.txt": lines, "b.txt": "foo\n" });
    const outcome = await grep(folder, { pattern: "line (5|20)$|foo", before: 1, after: 2 });
    expect(outcome.output).toBe(
      "a.txt\n4- line 4\n5: line 5\n6- line 6\n7- line 7\n--\n19- line 19\n20: line 20\n21- line 21\n22- line 22\n\nb.txt\n1: foo",
    );
    expect(outcome.effect).toMatchObject({
      matches: [{ lines: [{ line: 5, text: "line 5" }, { line: 20 }] }, { path: "b.txt" }],
      totalMatches: 3,
    });
    const first = await grep(folder, { pattern: "line (5|20)$", after: 99, max_results: 1 });
    expect(first.output.split("\n")).toEqual([
      "a.txt",
      "5: line 5",
      ...lines
        .split("\n")
        .slice(5, 19)
        .map((line, index) => `${index + 6}- ${line}`),
    ]);
    expect(first.note).toContain("the first 1 of 2 matching lines");
  });

  test("a match may span lines if the call says so, or the pattern has a line end", async () => {
    const folder = createFolder({ "a.ts": "foo(\n  1,\n);\nbar\n" });
    expect(await find(folder, { pattern: "foo.*?1", multiline: true })).toEqual(["a.ts:1:foo(", "a.ts:2:  1,"]);
    expect(await find(folder, { pattern: "\\);\\nbar" })).toEqual(["a.ts:3:);", "a.ts:4:bar"]);
    expect(await find(folder, { pattern: "foo.*1" })).toEqual([]);
  });

  test("no match is a success", async () => {
    const outcome = await grep(root, { pattern: "nowhere-to-be-found" });
    const effect = { kind: "search", matches: [], totalFiles: 0, totalMatches: 0, truncated: false };
    const note = "Excluded by .gitignore: a.log, node_modules/.";
    expect(outcome).toEqual({ status: "success", output: "No matches.", note, effect });
  });

  test("names with a line end, and bytes that are no UTF-8", async () => {
    const odd = createFolder({
      "a\nb.txt": "foo\n",
      "c.txt": Buffer.from("foo \xff\n", "latin1"),
      "d.txt": Buffer.from("\ufefffoo\n", "utf16le"),
    });
    expect(await find(odd, { pattern: "foo" })).toEqual(["a\nb.txt:1:foo", "c.txt:1:foo \ufffd", "d.txt:1:foo"]);
    expect((await grep(odd, { pattern: "foo" })).output.startsWith('"a\\nb.txt"\n1: foo\n')).toBe(true);
  });

  test("binary files are left out, also when the binary part comes late", async () => {
    const late = `foo\n${"z\n".repeat(200_000)}`;
    const files = { "a.bin": "foo\0bar\n", "b.late": `${late}\0`, "c.txt": "foo\n" };
    const found = await find(createFolder(files), { pattern: "foo" });
    expect(found.filter((line) => !line.startsWith("b.late"))).toEqual(["c.txt:1:foo"]);
  });
});

describe("what is refused", () => {
  test.each([
    ["(", /unclosed group/], ["a{2,1}", /invalid repetition/], ["[z-a]", /range/], ["\\", /parse error/], ["*a", /repetition operator/],
    ["(?=x)", /look-around/], ["a{1000}{1000}{1000}", /size limit/], ["(?P<n", /.+/],
  ] as const)(verifies("S-72", "the pattern %j is INVALID_PATTERN with the reason in one line"), async (pattern, reason) => {
    const outcome = await grep(root, { pattern });
    expect(outcome).toMatchObject({ status: "error", output: "", error: { code: "INVALID_PATTERN" } });
    expect(outcome.error?.message).toMatch(reason);
    expect(outcome.error?.message).not.toMatch(/\n|\^\^/);
  }); // prettier-ignore

  test.each([
    ["../**", "PATH_OUTSIDE_WORKSPACE"], ["/etc/*", "PATH_OUTSIDE_WORKSPACE"], ["src/../../*", "PATH_OUTSIDE_WORKSPACE"], [`${root}-evil/*`, "PATH_OUTSIDE_WORKSPACE"],
    ["*/../../x", "INVALID_PATTERN"],
  ] as const)(verifies("S-20", "the glob %j leads out: %s"), async (pattern, code) => {
    const { status, error } = await grep(root, { pattern: "foo", glob: pattern });
    expect({ status, code: error?.code }).toEqual({ status: "error", code });
    expect(error?.message).toContain(`the glob ${JSON.stringify(pattern)}`);
  }); // prettier-ignore

  test("other faults", async () => {
    symlinkSync("/etc", join(root, "out"));
    await createPipe(join(root, "pipe"));
    const start = performance.now();
    expect(await grep(root, { pattern: "" })).toMatchObject({ error: { code: "INVALID_PATTERN" } });
    expect(await grep(root, { pattern: "a\0b" })).toMatchObject({ error: { code: "INVALID_PATTERN" } });
    expect(await grep(root, { pattern: "foo", glob: "[" })).toMatchObject({ error: { code: "INVALID_PATTERN" } });
    expect(await grep(root, { pattern: "foo", path: "nowhere" })).toMatchObject({ error: { code: "FILE_NOT_FOUND" } });
    expect(await grep(root, { pattern: "root", path: "out" })).toMatchObject({
      error: { code: "PATH_OUTSIDE_WORKSPACE" },
    });
    expect(await grep(root, { pattern: "root", path: "/etc" })).toMatchObject({
      error: { code: "PATH_OUTSIDE_WORKSPACE" },
    });
    expect(await grep(root, { pattern: "foo", path: "pipe" })).toMatchObject({ error: { code: "NOT_A_FILE" } });
    expect(await find(root, { pattern: "foo" })).toEqual(all);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test("an abort ends it", async () => {
    const outcome = await grepSearchTool.run({ pattern: "foo" }, createContext(root, { signal: AbortSignal.abort() }));
    expect(outcome).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" } });
  });
});

describe("bounds", () => {
  test(verifies("N36", "200 lines are shown, or as many as asked for, of all that there are"), async () => {
    const many = createFolder({ "a.txt": "foo\n".repeat(150), "b.txt": "foo\n".repeat(150), "c.txt": "foo\n" });
    const outcome = await grep(many, { pattern: "foo" });
    expect(outcome).toMatchObject({ truncated: true, effect: { totalFiles: 3, totalMatches: 301, truncated: true } });
    expect(outcome.note).toContain("the first 200 of 301 matching lines in 3 files");
    expect(await find(many, { pattern: "foo" })).toHaveLength(200);
    expect(await find(many, { pattern: "foo", max_results: 7 })).toHaveLength(7);
    expect(await find(many, { pattern: "foo", max_results: 5000 })).toHaveLength(301);
    const files = await grep(many, { pattern: "foo", max_results: 2, output_mode: "files_with_matches" });
    expect(files).toMatchObject({
      output: "a.txt\nb.txt",
      truncated: true,
      note: expect.stringContaining("2 of 3 files"),
    });
  });

  test("long lines are cut, and all of it stays small", async () => {
    const line = `foo ${"ü".repeat(2000)}\n`;
    const outcome = await grep(createFolder({ "a.txt": line.repeat(1000) }), { pattern: "foo", max_results: 1000 });
    expect(Buffer.byteLength(outcome.output)).toBeLessThan(256 * 1024);
    expect(outcome.output.split("\n")[1]).toMatch(/^1: foo ü{100,500} \[\.\.\. /);
    expect(outcome).toMatchObject({ truncated: true, effect: { totalMatches: 1000 } });
  });

  test(
    verifies("N62", "a match far into a line is shown with its surroundings; read_file reads from its column"),
    async () => {
      const folder = createFolder({ "a.js": `first\n${"ü;".repeat(5000)}needle()${";".repeat(5000)}\nneedle\n` });
      const outcome = await grep(folder, { pattern: "needle", before: 1 });
      expect(outcome.output).toMatch(
        /^a\.js\n1- first\n2: \[column 10001\] \.\.\. \S{100,200}needle\(\);{100,200} \.\.\.\n3: needle$/,
      );
      const read = await readFileTool.run(
        { target_file: "a.js", offset: 2, column: 10_001, limit: 1 },
        createContext(folder),
      );
      expect(read).toMatchObject({ output: `needle()${";".repeat(5000)}\n`, effect: { startLine: 2, endLine: 2 } });
      expect(
        await readFileTool.run({ target_file: "a.js", offset: 3, column: 900 }, createContext(folder)),
      ).toMatchObject({
        status: "success",
        output: "\n",
      });
    },
  );

  test(verifies(["R-14", "R-15"], "a line of 50 MB with as many matches, in bounded memory"), async () => {
    const large = createLargeFolder();
    writeFileSync(join(large, "b.txt"), "x\n");
    writeFileSync(join(large, "a.txt"), Buffer.alloc(50_000_000, "x"));
    const before = process.memoryUsage().rss;
    const start = performance.now();
    const outcome = await grep(large, { pattern: "x" });
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    expect(outcome).toMatchObject({ status: "success", effect: { totalFiles: 2, totalMatches: 2 } });
    expect(outcome.output.length).toBeLessThan(2000);
  });

  test(verifies("R-15", "10,000 files and one of 1 GB in less than 10 s"), async () => {
    const large = createLargeFolder();
    for (let folder = 0; folder < 100; folder += 1) {
      mkdirSync(join(large, `f${folder}`));
      for (let file = 0; file < 100; file += 1)
        writeFileSync(join(large, `f${folder}`, `${file}.txt`), "some text\nand more\n");
    }
    // A sparse file whose first part is text, so that it does not look binary at once.
    const file = openSync(join(large, "large.txt"), "w");
    for (let part = 0; part < 64; part += 1) writeSync(file, "text of a large file\n".repeat(50_000));
    closeSync(file);
    truncateSync(join(large, "large.txt"), 1024 ** 3);
    const start = performance.now();
    const outcome = await grep(large, { pattern: "and m[o]re|needle" });
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(outcome).toMatchObject({ effect: { totalFiles: 10_000, totalMatches: 10_000, truncated: true } });
  });

  test("a character of any length is cut, and the next match is there", async () => {
    const zalgo = `foo a${"\u0301".repeat(200_000)}\n`;
    const outcome = await grep(
      createFolder({ "a.txt": `foo ${"a\u0301\u0301\u0301\u0301".repeat(300)}\n`, "b.txt": zalgo, "c.txt": "foo\n" }),
      { pattern: "foo" },
    );
    const [first = "", ...behind] = outcome.output.split("\n\n");
    expect(first).toMatch(/^a\.txt\n1: foo .*\[\.\.\. .*\]$/s);
    expect(first.length).toBeLessThan(1100);
    expect(behind).toEqual(["c.txt\n1: foo"]);
  });

  test("more output than is taken ends the search, and the note says so", async () => {
    const large = createLargeFolder();
    const lines = `${"x".repeat(450)}\n`.repeat(8000);
    for (let file = 0; file < 10; file += 1) writeFileSync(join(large, `${file}.txt`), lines);
    const outcome = await grep(large, { pattern: "x" });
    expect(outcome.note).toMatch(/ended early/);
    expect(outcome).toMatchObject({ status: "success", truncated: true });
  });

  test("however its output is cut, the results are the same", () => {
    const output = Buffer.from("./a.ts\x001\0foo\n./a.ts\x002\0\n./b c\n.ts\x0010\0ü 日:x\r\n./b c\n.ts\x0011\x01y\n");
    const whole = createSearchResults(5);
    whole.append(output);
    fc.assert(
      fc.property(fc.array(fc.nat(output.length)), (cuts) => {
        const results = createSearchResults(5);
        const places = [0, ...cuts.toSorted((one, other) => one - other), output.length];
        for (const [index, place] of places.entries()) results.append(output.subarray(places[index - 1] ?? 0, place));
        expect([...results.files]).toEqual([...whole.files]);
      }),
    );
    expect([...whole.files.values()]).toEqual([
      {
        path: "a.ts",
        lines: [
          { line: 1, text: "foo" },
          { line: 2, text: "" },
        ],
        count: 2,
      },
      {
        path: "b c\n.ts",
        lines: [
          { line: 10, text: "ü 日:x" },
          { line: 11, text: "y", isContext: true },
        ],
        count: 1,
      },
    ]);
  });
});
