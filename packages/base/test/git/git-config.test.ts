/** Real git judges the reading of its configuration. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseRuns } from "../../../../test/support/soak.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { type GitSetting, listUserConfigFiles, parseGitConfig, readGitConfig } from "../../src/git/git-config.ts";
import { createTemporaryWorkspace } from "../files/temporary-workspace.ts";

/** `key\nvalue` or `key` for each setting, as `git config --list -z` prints them; undefined if git refuses the file. */
function readWithGit(file: string, options: readonly string[] = []): string[] | undefined {
  const { status, stdout } = spawnSync("git", ["config", "-f", file, ...options, "--list", "-z"], { encoding: "utf8" });
  return status === 0 ? stdout.split("\0").slice(0, -1).map(toComparableLine) : undefined;
}

function toLine({ key, value }: Omit<GitSetting, "file">): string {
  return toComparableLine(value === undefined ? key : `${key}\n${value}`);
}

/** Before version 2.45, git replaced each blank in a value with a space. */
function toComparableLine(line: string): string {
  return line.replaceAll(/[\t\r]/g, " ");
}

const table: readonly string[] = [
  "",
  "x",
  "x = 1",
  "\uFEFF[a]\n\tb = 1\n",
  "[a] b = 1",
  "[A.B \"C\"] E-f2 = G",
  '[a "b]c.d"]\ne',
  '[a "x\\y\\"z\\\\"]\nb',
  '[a \t"b"]c=1',
  "[a]\nb = one two\t three  ; no\nc=#no\nd = a#no\ne = \"a;b\" c\n",
  '[a]b = a "" b\nc = "" b\nd = " b "\n',
  "[a]b = one\\\n two \\\n\\\nthree\nc = x\\",
  "[a]b = \\t\\b\\n\\\\\\\"\n",
  "[a]b=1\r\nc=\r\n[d]\r\ne\r\n; f\r\n",
  "[a]b=1\rc\n",
  "[a]b =",
  "[a]b",
  "# only\n; comments",
  "[a]b=x\0y\nc=1",
  '[a "\\\\"]b=1\n[-]c=2',
  "[include]\npath = other\n",
]; // prettier-ignore

/** What git refuses as a whole. */
const broken: readonly string[] = [
  "[]x=1", '[a]b = "x\ny"', "[a]b=\\q", "[ a]b=1", '[a "b" ]c=1', "[a]1b=2", "[a]b #c", "[a_b]c=1", "[a]b_c=1", '[a "x\ny"]c=1', "[a", '[a "b', "[a]\n\uFEFFb=1", "]", "=", "[a] b c = 1",
]; // prettier-ignore

const piece = fc.oneof(
  fc.constantFrom("[a]", "[A.b]", '[c "D e"]', '[c "\\"x\\\\"]', "\n", "\r\n", "key", "Key-2", "=", " = ", '"', "\\", "\\\n", "\\n", ";", "#", " ", "\t", "\r", "é", "\u2028", "x y"),
  fc.string({ maxLength: 4 }),
); // prettier-ignore
const line = fc.tuple(
  fc.constantFrom("key = ", "k=", "[a]\nb =", '[x "y"]\n', "; ", ""),
  fc.array(piece, { maxLength: 5 }),
);
const contents = fc
  .array(line, { maxLength: 6 })
  .map((lines) => lines.map(([start, rest]) => start + rest.join("")).join("\n"));

describe("a configuration file", () => {
  test.each(table.map((content) => [content]))(verifies("S-80", "is read as git reads it: %j"), (content) => {
    const file = createTemporaryWorkspace().write("config", content);
    expect(parseGitConfig(content).map(toLine)).toEqual(readWithGit(file));
  });

  test.each(broken.map((content) => [content]))(
    verifies("S-80", "that is broken hides nothing that follows: %j"),
    (content) => {
      const file = createTemporaryWorkspace().write("config", `[s]first\n${content}\n[core]\nhooksPath = x\n`);
      expect(readWithGit(file)).toBeUndefined();
      const settings = parseGitConfig(`[s]first\n${content}\n[core]\nhooksPath = x\n`).map(toLine);
      expect(settings[0]).toBe("s.first");
      expect(settings.at(-1)).toMatch(/hookspath\nx$/);
    },
  );

  test(verifies("S-80", "of any content is read as git reads it"), () => {
    const { write } = createTemporaryWorkspace();
    const numRuns = chooseRuns(300);
    let understood = 0;
    fc.assert(
      fc.property(contents, (content) => {
        const settings = parseGitConfig(content).map(toLine);
        const judged = readWithGit(write("config", content));
        if (judged === undefined) return;
        understood += 1;
        expect(settings).toEqual(judged);
      }),
      { numRuns },
    );
    expect(understood).toBeGreaterThan(numRuns / 10);
  });

  test(verifies("S-80", "that is huge takes a bounded time"), () => {
    const { write } = createTemporaryWorkspace();
    const hostile = [" ", "#", "\\x", '[a "', "[a]\nb", '"', "b = x ", "\\\n", "\n", "[", "a "];
    for (const text of hostile) {
      const file = write("config", `[a]\nb = ${text.repeat(1_100_000 / text.length)}`);
      const { unread } = readGitConfig([file], "");
      expect(unread, text).toEqual([file]);
    }
  });
});

describe("included files", () => {
  test(verifies("S-80", "are read as git reads them, whatever their condition says"), () => {
    const { root, write } = createTemporaryWorkspace();
    const file = write(
      "a/config",
      "[include]\npath = b\n[s]a\n[include]\npath = missing\npath = ../c/d\npath = ~/home-file\n",
    );
    write("a/b", "[s]b\n[include]\npath = b\n");
    write("c/d", '[s]d\n[includeIf "gitdir:/never"]\npath = e\n');
    write("c/e", "[s]e\n");
    write("home-file", "[s]home\n");
    const { settings, unread } = readGitConfig([file], root);
    const keys = settings
      .map(({ key }) => key)
      .filter((key) => key.startsWith("s."))
      .toSorted();
    expect(keys).toEqual(["s.a", "s.b", "s.d", "s.e", "s.home"]);
    expect(unread).toEqual([]);
    expect(settings.find(({ key }) => key === "s.e")?.file).toBe(`${root}/a/../c/e`);
  });

  test(verifies("S-80", "are read in bounds: depth, number, pipes, devices, links, circles"), () => {
    const { root, write } = createTemporaryWorkspace();
    execFileSync("mkfifo", [join(root, "pipe")]);
    symlinkSync("real", join(root, "link"));
    write("real", "[s]linked\n");
    symlinkSync("loop", join(root, "loop"));
    mkdirSync(join(root, "folder"));
    const paths = ["pipe", "/dev/zero", "link", "loop", "folder", "../../../../../../dev/tty", "self"];
    const file = write("self", `[include]\n${paths.map((path) => `path = ${path}\n`).join("")}`);
    const { settings, unread } = readGitConfig([file], root);
    expect(settings.map(({ key }) => key)).toContain("s.linked");
    expect(unread).toEqual([join(root, "pipe"), "/dev/zero", join(root, "loop"), `${root}/../../../../../../dev/tty`]);

    for (let depth = 0; depth < 20; depth += 1) write(`d${depth}`, `[s]d${depth}\n[include]\npath = d${depth + 1}\n`);
    expect(readGitConfig([join(root, "d0")], root).unread).toEqual([join(root, "d11")]);
    writeFileSync(
      join(root, "many"),
      `[include]\n${"path = x\n".repeat(10)}${Array.from({ length: 500 }, (_, n) => `path = n${n}\n`).join("")}`,
    );
    expect(readGitConfig([join(root, "many")], root).unread).toHaveLength(1);
  });
});

test(verifies("S-80", "the user's files are those that git reads"), () => {
  const environment = { HOME: "/h", XDG_CONFIG_HOME: "/x", GIT_CONFIG_GLOBAL: "/g", GIT_CONFIG_SYSTEM: "/s" };
  const files = listUserConfigFiles(environment);
  expect(files).toEqual(expect.arrayContaining(["/h/.gitconfig", "/x/git/config", "/g", "/s"]));
  expect(listUserConfigFiles({ HOME: "/h" })).toEqual(
    expect.arrayContaining(["/etc/gitconfig", "/h/.config/git/config"]),
  );
  expect(listUserConfigFiles({ HOME: "/h", GIT_CONFIG_NOSYSTEM: "1" })).toEqual([
    "/h/.gitconfig",
    "/h/.config/git/config",
  ]);
  expect(listUserConfigFiles({ HOME: "/h", GIT_CONFIG_GLOBAL: "relative" })).not.toContain("relative");
});
