/** What the guides promise about trust is proved: each sentence stands in its document, and the test that proves it exists. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTests } from "./support/repository-files.ts";

const root = join(import.meta.dirname, "..");

/** By document: the sentence, and the title of a test that fails when it is not true. */
const promises: Readonly<Record<string, readonly (readonly [sentence: string, proof: string])[]>> = {
  "docs/guide/trust.md": [
    [
      "Its settings, hooks, variables, endpoints, tool servers, permissions and sandbox settings have no effect.",
      "changes no setting, and nothing of it runs: 0 markers",
    ],
    ["Sheaf starts no program of it.", "executes no file of it, and nothing by a name that PATH could lead there"],
    [
      "Sheaf starts helper programs and `git` by absolute paths, and `git` without the programs in the repository's settings.",
      "executes no file of it, and nothing by a name that PATH could lead there",
    ],
    [
      "The workspace's denials (`.sheaf/config.json`) take effect: they can only forbid more.",
      "a workspace can only deny, and only where it is trusted",
    ],
    [
      "Otherwise trust grants no rights: flags, rules and the sandbox limit the tools.",
      "a workspace can only deny, and only where it is trusted",
    ],
    [
      "So trust alone, by `--trust`, `SHEAF_TRUST=1` or `sheaf trust`, never starts one.",
      "starts none of its servers, whatever else is allowed; the first line says so",
    ],
    [
      "Your approval applies to exactly this entry, in this repository.",
      "applies to the content and the repository that it was given for",
    ],
    [
      "If the entry changes, Sheaf leaves the server out until you approve it again.",
      "applies to the content and the repository that it was given for",
    ],
    [
      "Sheaf never starts an entry that points into the workspace (`./server.js`), even if you approve it",
      "not by a yes to an entry that leads into it",
    ],
    [
      "Nested repositories and worktrees need their own trust, as does a repository whose `.git` has changed its kind or target.",
      "holds for one repository: nested ones, worktrees and another .git ask anew",
    ],
    [
      "Run Sheaf there without `--trust`: then no file of the branch configures or instructs it.",
      "changes no setting, and nothing of it runs: 0 markers",
    ],
    [
      "Without a terminal, an approval needs the digest of the content",
      "without a terminal names the digest of the content",
    ],
    ["Still no server starts.", "starts none of its servers, whatever else is allowed; the first line says so"],
    [
      "Sheaf instructs it to follow the text only as to style, layout and how to build and check the code.",
      "without trust the text is quoted behind a fence that it cannot close",
    ],
    [
      "Until you trust it, you can let Sheaf work in a repository that you don't know, and no file of it configures Sheaf or instructs the model.",
      "changes no setting, and nothing of it runs: 0 markers",
    ],
  ],
  "docs/reference/trust.md": [
    [
      "When a run starts, Sheaf itself reads only the instruction files below, `.gitignore`, `.sheafignore`, and `.git/HEAD` for the name of the branch.",
      "reads its AGENTS.md and what tells its branch, nothing else",
    ],
    [
      "Without trust Sheaf tells the model to follow them only as to style, layout and how to build and check the code.",
      "without trust the text is quoted behind a fence that it cannot close",
    ],
    [
      "Links are followed inside the repository only.",
      "a link is followed inside the repository only, and a pipe is not waited for",
    ],
    [
      "Your git hooks run in the sandbox when a command of the model commits, with and without trust.",
      "without trust they run in the sandbox, and no watcher does",
    ],
    [
      "`core.fsmonitor` runs only in a trusted workspace.",
      "without trust they run in the sandbox, and no watcher does",
    ],
    [
      "Commands find programs in folders of the repository that are in your `PATH`, such as `node_modules/.bin`.",
      "a program of an untrusted workspace does not replace one of the system",
    ],
    [
      "Without the sandbox, git commands that only read need no rule at the root of the repository",
      "git counts only at the root of a trusted workspace",
    ],
    [
      "Sheaf reads the tool servers of `.mcp.json` and `.cursor/mcp.json`, but never starts one by itself.",
      "starts none of its servers, whatever else is allowed; the first line says so",
    ],
    [
      "hidden characters appear as codes (`<U+202E>`).",
      "is given to all that would start, with hidden characters visible",
    ],
    [
      "Approved tool servers start in your home folder, with a `PATH` without the workspace.",
      "not in the place of a server of the user's: neither by its folder nor by PATH",
    ],
    [
      "If it cannot be read, or other users can open it, the run ends with `CONFIG_INVALID`.",
      "cannot be made from a damaged list, one that others can write, or another word",
    ],
    [
      "Nested repositories and worktrees need their own trust, as does a repository whose `.git` has changed its kind or target.",
      "holds for one repository: nested ones, worktrees and another .git ask anew",
    ],
    [
      "The server (`sheaf serve`), editors (`sheaf acp`) and programs (`createAgent`) decide in the same way.",
      "starts none for the server, for editors and for programs either",
    ],
    [
      "`createAgent` finds an approval only in its `dataFolder`.",
      "starts none for the server, for editors and for programs either",
    ],
    [
      "`.sheafignore` has the same form and leaves out more, but it can't bring back files that git ignores.",
      "of .sheafignore leave out more than git does, and never bring anything back",
    ],
  ],
  "docs/guide/mcp.md": [
    [
      "Sheaf uses one only if you trust the repository and have approved this server",
      "needs the trust in the workspace besides, and is withdrawn",
    ],
    [
      "Trust alone, such as `--trust`, starts no server.",
      "starts none of its servers, whatever else is allowed; the first line says so",
    ],
    [
      "If a server changes, you must approve it again.",
      "applies to the content and the repository that it was given for",
    ],
    [
      "If you have a server with the same name, Sheaf uses yours.",
      "a server of the user's takes precedence over one of the same name",
    ],
    [
      "in ask and plan mode it starts and reaches no server",
      "not in ask and plan mode, in which no server starts at all",
    ],
    ["but it doesn't see your keys", "a server gets no variable beyond a few and its own"],
  ],
  "docs/reference/mcp.md": [
    [
      "With `.` the workspace must be [trusted](../guide/trust.md)",
      "not in the place of a server of the user's: neither by its folder nor by PATH",
    ],
  ],
  "docs/guide/sandbox.md": [
    ["and its program can't be in the workspace.", "not by a yes to an entry that leads into it"],
    [
      'If the sandbox is switched on but cannot start, the first line says `"sandbox":"unavailable"`, and Sheaf refuses every command with the reason, even with `--force`.',
      "commands are refused, also with --force, and the result names the ways out",
    ],
  ],
  "docs/guide/permissions.md": [
    [
      "A deny rule compares commands, so it isn't a wall.",
      "the table has at least 150 lines of every day and 300 evasions, each once",
    ],
    ["and no workspace widens it.", "a workspace can only deny, and only where it is trusted"],
    ["A workspace can only add denials", "a workspace can only deny, and only where it is trusted"],
    [
      "no rule and no `--force` starts one.",
      "starts none of its servers, whatever else is allowed; the first line says so",
    ],
  ],
  "docs/reference/permission-rules.md": [
    [
      "`git status`, `git log`, `git diff` and others are on the list only at the root of a trusted workspace",
      "git counts only at the root of a trusted workspace",
    ],
  ],
  "docs/README.md": [
    [
      "nothing: its settings, hooks and servers have no effect until `sheaf trust`, and you approve each server.",
      "starts none of its servers, whatever else is allowed; the first line says so",
    ],
  ],
};

/** Words of sentences that promise something. */
const promising = /\b(never|none|nothing|no|only|cannot)\b/i;

/** Sentences with such a word that describe the world, or what the user does. */
const descriptions = [
  "A server that you add yourself (`sheaf mcp add`) needs no trust.",
  "Keep the digest where the branch cannot change it, for instance in the settings of the CI.",
];

function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

const tests = readTests().filter(({ path }) => path.endsWith(".test.ts") && !import.meta.filename.endsWith(path));

const rows = Object.entries(promises).flatMap(([document, list]) =>
  list.map((promise) => [document, ...promise] as const),
);

test.each(rows)("%s: %s", (document, sentence, proof) => {
  expect(readText(document).replaceAll(/\s+/g, " ")).toContain(sentence);
  expect(
    tests.some(({ text }) => text.includes(`"${proof}"`)),
    `no test has the title "${proof}"`,
  ).toBe(true);
});

test.each(["docs/guide/trust.md", "docs/reference/trust.md"])("every promise of %s is in this list", (page) => {
  const known = [...descriptions, ...promises[page]!.map(([sentence]) => sentence)];
  const sentences = readText(page)
    .replaceAll(/```[^]*?```/g, "")
    .split(/\n|(?<=\.)\s+(?=[A-Z`])/)
    .map((sentence) => sentence.replace(/^- /, "").trim());
  const missing = sentences.filter(
    (sentence) => promising.test(sentence) && !known.some((listed) => sentence.startsWith(listed)),
  );
  expect(missing).toEqual([]);
});
