import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createCodeSearch } from "../../../src/workspace/codebase/code-search.ts";
import { cutLines, toIndexedText, toQueryWords } from "../../../src/workspace/codebase/index-text.ts";
import { codebaseSearchTool } from "../../../src/tools/codebase-search.ts";
import { createFileToolContext } from "../../tools/file-tool-context.ts";
import { createTemporaryFolder, createTemporaryWorkspace } from "../../../../base/test/files/temporary-workspace.ts";

function createSearch(isSaved = true) {
  const temporary = createTemporaryWorkspace();
  const dataFolder = createTemporaryFolder();
  const search = createCodeSearch(isSaved ? dataFolder : undefined);
  const find = async (query: string, folders = ["."]) => {
    const { places } = await search.search(
      query,
      { workspace: temporary.workspace, folders },
      new AbortController().signal,
    );
    return places.map(({ path, startLine }) => `${path}:${startLine}`);
  };
  return { ...temporary, dataFolder, search, find };
}

describe("words", () => {
  test("of joined identifiers are found whole and in parts", () => {
    expect(toIndexedText("const getUserName = HTTPServer2(a_b);")).toBe(
      "const getUserName = HTTPServer2(a_b);\nget User Name HTTP Server2",
    );
    expect(toIndexedText("plain words, snake_case")).toBe("plain words, snake_case");
    expect(toQueryWords("Where is the retryDelay of the HTTP client computed?")).toEqual([
      "retrydelay",
      "http",
      "client",
      "computed",
      "retry",
      "delay",
    ]);
    expect(toQueryWords("how does it work")).toEqual(["how", "does", "it", "work"]);
    expect(toQueryWords("Größe 大きさ x y")).toEqual(["größe", "大きさ"]);
    expect(toQueryWords('"; DROP TABLE -- NEAR(* ^')).toEqual(["drop", "table", "near"]);
    expect(toQueryWords("?! ")).toEqual([]);
    expect(toQueryWords("word ".repeat(9999) + "x".repeat(99_999))).toEqual(["word"]);
  });
});

describe("pieces", () => {
  test("cover every line once, and end where something new begins", () => {
    const functions = Array.from({ length: 20 }, (_, index) => [
      `function f${index}() {`,
      ...Array<string>(8).fill("  body();"),
      "}",
      "",
    ]);
    const pieces = cutLines(`${functions.flat().join("\n")}\n`);
    expect(pieces[0]!.startLine).toBe(1);
    for (const [index, { startLine, endLine, text }] of pieces.entries()) {
      expect(text.split("\n")).toHaveLength(endLine - startLine + 1);
      expect(endLine - startLine + 1).toBeLessThanOrEqual(40);
      expect(text).toMatch(/^function f\d+/);
      if (index > 0) expect(startLine).toBe(pieces[index - 1]!.endLine + 1);
    }
    expect(pieces.at(-1)!.endLine).toBe(220);
    expect(cutLines("")).toEqual([]);
    expect(cutLines("x".repeat(9999))).toEqual([{ startLine: 1, endLine: 1, text: "x".repeat(500) }]);
    expect(cutLines("a\n".repeat(100)).map(({ endLine }) => endLine)).toEqual([40, 80, 100]);
  });
});

describe("the index", () => {
  test("ranks places by their words: rare words count, and those of the path most", async () => {
    const { write, find } = createSearch();
    write(
      "src/retry-policy.ts",
      "/** How long to wait before the next try. */\nexport function toDelay(attempt: number) {\n  return 2 ** attempt;\n}\n",
    );
    write(
      "src/http-client.ts",
      "export class HttpClient {\n  async sendRequest(url: string) {\n    return this.retry(() => fetch(url));\n  }\n}\n",
    );
    write("src/user.ts", "export const getUserName = (user: User) => user.name;\n");
    write("docs/guide.md", "# Guide\n\nThe client sends requests. The client shows users.\n");
    write("src/noise.ts", "client client client\n".repeat(200));
    expect((await find("where is the retry delay computed?"))[0]).toBe("src/retry-policy.ts:1");
    expect((await find("user name"))[0]).toBe("src/user.ts:1");
    expect((await find("getUserName"))[0]).toBe("src/user.ts:1");
    expect((await find("send a request with the HTTP client"))[0]).toBe("src/http-client.ts:1");
    expect(await find("requests", ["docs"])).toEqual(["docs/guide.md:1"]);
    expect(await find("requests", ["docs/guide.md", "src/user.ts"])).toEqual(["docs/guide.md:1"]);
    expect(await find("kubernetes")).toEqual([]);
    expect(await find("?!")).toEqual([]);
    // A file does not take all the places.
    expect((await find("client")).filter((place) => place.startsWith("src/noise.ts"))).toHaveLength(3);
  });

  test("follows the files: changed, new, moved and deleted ones, in every process", async () => {
    const { write, find, root, workspace, dataFolder } = createSearch();
    write("a.ts", "alpha\n");
    write("b.ts", "beta\n");
    expect(await find("alpha beta")).toEqual(["a.ts:1", "b.ts:1"]);
    write("a.ts", "gamma, longer\n");
    unlinkSync(join(root, "b.ts"));
    write("c.ts", "beta\n");
    expect([await find("alpha"), await find("gamma"), await find("beta")]).toEqual([[], ["a.ts:1"], ["c.ts:1"]]);
    renameSync(join(root, "c.ts"), join(root, "d.ts"));
    const other = createCodeSearch(dataFolder);
    const { places } = await other.search("beta", { workspace, folders: ["."] }, new AbortController().signal);
    expect(places.map(({ path }) => path)).toEqual(["d.ts"]);
    // The same size, another time.
    write("d.ts", "zeta\n");
    utimesSync(join(root, "d.ts"), 1, 1);
    expect([await find("beta"), await find("zeta")]).toEqual([[], ["d.ts:1"]]);
  });

  test(verifies(["S-20", "R-15"], "holds nothing that is ignored, lies elsewhere, or is no text"), async () => {
    const { write, find, root, outside } = createSearch();
    writeFileSync(join(outside, "secret.txt"), "needle outside");
    symlinkSync(join(outside, "secret.txt"), join(root, "link.txt"));
    symlinkSync(outside, join(root, "folder"));
    write(".gitignore", "ignored/\n");
    write("ignored/a.txt", "needle");
    write(".git/config", "needle");
    write("binary.bin", Buffer.from("needle\0"));
    write("large.txt", "needle ");
    truncateSync(join(root, "large.txt"), 2_000_000_000);
    write("broken.txt", Buffer.from([0x6e, 0xff, 0xfe, 0x80]));
    write("found.txt", "the needle\n");
    expect(await find("needle")).toEqual(["found.txt:1"]);
  });

  test(verifies("S-42", "is the user's alone, and made anew when it is damaged or of another version"), async () => {
    const { write, find, dataFolder } = createSearch();
    write("a.ts", "alpha\n");
    await find("alpha");
    const folder = join(dataFolder, "index");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const name = readdirSync(folder).find((entry) => entry.endsWith(".db"))!;
    for (const entry of readdirSync(folder)) expect(statSync(join(folder, entry)).mode & 0o777).toBe(0o600);
    for (const damage of ["no database at all, however long one looks at it".repeat(100), ""]) {
      for (const entry of readdirSync(folder)) rmSync(join(folder, entry));
      writeFileSync(join(folder, name), damage);
      expect(await find("alpha"), damage.slice(0, 10)).toEqual(["a.ts:1"]);
    }
    // Pages in the middle, as a bad disk makes them.
    for (let file = 0; file < 50; file += 1) write(`more/${file}.ts`, `alpha beta${file}\n`);
    await find("alpha");
    const bytes = readFileSync(join(folder, name));
    bytes.fill(0x5a, 4096);
    writeFileSync(join(folder, name), bytes);
    expect(await find("beta7")).toEqual(["more/7.ts:1"]);
  });

  test("is searched by several at once, in one process and in others", async () => {
    const { write, search, workspace, dataFolder } = createSearch();
    for (let file = 0; file < 300; file += 1) write(`${file}.ts`, `alpha beta${file}\n`);
    const other = createCodeSearch(dataFolder);
    const { signal } = new AbortController();
    const results = await Promise.all(
      [search, search, other, other].map(async (one, place) =>
        one.search(`beta${place}`, { workspace, folders: ["."] }, signal),
      ),
    );
    expect(results.map(({ places }) => places[0]?.path)).toEqual(["0.ts", "1.ts", "2.ts", "3.ts"]);
  });

  test("indexes a part when time is short: changed files, then folders and paths of the query; never old lines", async () => {
    const { write, workspace, root } = createTemporaryWorkspace();
    const search = createCodeSearch(undefined, 0);
    const find = async (query: string, folder = ".") => {
      const scope = { workspace, folders: [folder] };
      const { places, files, waiting } = await search.search(query, scope, new AbortController().signal);
      return { paths: places.map(({ path }) => path), files, waiting };
    };
    for (let file = 0; file < 430; file += 1) write(`a/${String(file).padStart(3, "0")}.ts`, `beta alpha${file}\n`);
    write("0/retry-policy.ts", "alpha\n");
    write("1/found.ts", "alpha\n");
    expect(await find("alpha retry")).toEqual({ paths: ["0/retry-policy.ts"], files: 200, waiting: 232 });
    expect(await find("alpha", "1")).toEqual({ paths: ["1/found.ts"], files: 400, waiting: 32 });
    expect(await find("alpha7 alpha")).toMatchObject({ files: 432, waiting: 0 });
    for (let file = 0; file < 430; file += 1) {
      write(`a/${String(file).padStart(3, "0")}.ts`, `gamma and more${file}\n`);
    }
    write("x.ts", "alpha\n");
    const { paths, waiting } = await find("beta gamma x");
    expect({ waiting, isNew: paths.includes("x.ts") }).toEqual({ waiting: 231, isNew: false });
    for (const path of paths) expect(readFileSync(join(root, path), "utf8")).toContain("gamma");
    expect(await find("beta")).toMatchObject({ paths: [], waiting: 31 });
    expect(await find("alpha")).toMatchObject({ waiting: 0 });
    expect((await find("x")).paths).toEqual(["x.ts"]);
  });

  test("searches requested at once share an update; one requested later sees what changed", async () => {
    const { write, find } = createSearch();
    write("a.ts", "alpha\n");
    expect(await Promise.all([find("alpha"), find("beta"), find("alpha")])).toEqual([["a.ts:1"], [], ["a.ts:1"]]);
    const before = [find("alpha"), find("alpha")];
    await before[0];
    write("b.ts", "beta\n");
    const after = find("beta");
    expect(await before[1]).toEqual(["a.ts:1"]);
    expect(await after).toEqual(["b.ts:1"]);
    await Promise.all([find("beta"), (write("b.ts", "gamma longer\n"), find("gamma"))]);
    expect([await find("beta"), await find("gamma")]).toEqual([[], ["b.ts:1"]]);
  });

  test("keeps nothing on the disk without a data folder", async () => {
    const { write, find, dataFolder } = createSearch(false);
    write("a.ts", "alpha\n");
    expect(await find("alpha")).toEqual(["a.ts:1"]);
    write("a.ts", "beta and more\n");
    expect([await find("alpha"), await find("beta")]).toEqual([[], ["a.ts:1"]]);
    expect(readdirSync(dataFolder)).toEqual([]);
  });
});

describe("codebase_search", () => {
  test("shows the places with their lines, and says what it cannot do", async () => {
    const { context, write } = createFileToolContext();
    const codebase = createCodeSearch(undefined);
    write("src/a.ts", "one\ntwo needle\n");
    const run = (args: Parameters<typeof codebaseSearchTool.run>[0]) =>
      codebaseSearchTool.run(args, { ...context, codebase });
    expect(await run({ query: "needle" })).toEqual({ status: "success", output: "src/a.ts:1-2\none\ntwo needle" });
    expect(await run({ query: "needle", target_directories: ["src"] })).toMatchObject({ status: "success" });
    expect(await run({ query: "haystack" })).toMatchObject({
      output: "Nothing fits haystack.",
      note: expect.stringMatching(/1 files were searched/) as string,
    });
    expect(await run({ query: "x", target_directories: ["missing"] })).toMatchObject({
      error: { code: "FILE_NOT_FOUND" },
    });
    expect(await run({ query: "x", target_directories: ["../.."] })).toMatchObject({
      error: { code: "PATH_OUTSIDE_WORKSPACE" },
    });
    expect(await codebaseSearchTool.run({ query: "x" }, context)).toMatchObject({ error: { code: "SEARCH_FAILED" } });
  });
});
