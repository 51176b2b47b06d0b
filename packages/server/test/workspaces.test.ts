/** Workspaces and their files, as clients see them (X30 to X32). */
import { cpSync, linkSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import type { WorkspaceCommandList, WorkspaceFile, WorkspaceFileList, WorkspaceList } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const folders = createTestFolder();
const text = Array.from({ length: 5 }, (_, index) => `line ${index + 1}\n`).join("");

const app = folders.newFolder({
  ".git/HEAD": "ref: refs/heads/topic\n",
  ".git/objects/x": "",
  ".git/refs/x": "",
  ".git/config": "[remote]\nurl = https://u:secret@example.org",
  ".gitignore": "build/\n",
  "src/user-list.ts": text,
  "src/list.ts": "",
  "src/deep/list-user.ts": "",
  "docs/überblick.md": "# Ü\n",
  "build/user.ts": "",
  ".env": "KEY=1\n",
  "hidden/list.ts": "",
  "odd\n\u001b[2Jlist.ts": "",
  "image.png": "\x89PNG\0",
});
const outside = folders.newFolder({ "secret.txt": "secret" });
symlinkSync(join(outside, "secret.txt"), join(app, "link.txt"));
symlinkSync(outside, join(app, "src", "elsewhere"));
symlinkSync(join(app, ".env"), join(app, "innocent.txt"));
symlinkSync(join(app, ".git/config"), join(app, "settings.txt"));
cpSync(join(app, ".git"), join(app, "build/bare"), { recursive: true });
linkSync(join(app, ".env"), join(app, "linked.txt"));

const start = (): Promise<TestApp> => {
  const args = ["--workspace", `app=${app}`, "--workspace", `other=${outside}`, "--deny", "Read(.env)"];
  args.push("--deny", `Read(${join(app, "hidden")})`, "--deny", `Read(${basename(app)})`);
  return openApp({ cwd: app, args });
};

test(verifies("X30", "workspaces have a name, a default and a branch"), async () => {
  const { workspaces } = await (await start()).read<WorkspaceList>("/v1/workspaces");
  expect(workspaces).toEqual([{ name: "app", default: true, branch: "topic" }, { name: "other" }]);
});

test(verifies("X31", "files are found by some of their letters, the best first"), async () => {
  const server = await start();
  const find = async (query: string, more = ""): Promise<readonly string[]> =>
    (
      await server.read<WorkspaceFileList>(`/v1/workspaces/app/files?query=${encodeURIComponent(query)}${more}`)
    ).files.map(({ path }) => path);
  expect(await find("list")).toEqual(["src/list.ts", "src/deep/list-user.ts", "src/user-list.ts"]);
  expect(await find("ulist")).toEqual(["src/user-list.ts"]);
  expect((await find("SRC/LIST.TS"))[0]).toBe("src/list.ts");
  expect(await find("über")).toEqual(["docs/überblick.md"]);
  // Neither what is ignored, nor links, nor what a rule hides.
  expect(await find("")).toEqual([
    ".gitignore",
    "docs/überblick.md",
    "image.png",
    "src/deep/list-user.ts",
    "src/list.ts",
    "src/user-list.ts",
  ]);
  expect(await find("zzz")).toEqual([]);
  expect(await server.read("/v1/workspaces/app/files?limit=2")).toMatchObject({ truncated: true });
  for (const path of ["/v1/workspaces/none/files", "/v1/workspaces/none/files/a"]) {
    expect((await server.fetch(path)).status).toBe(404);
  }
  expect((await server.fetch("/v1/workspaces/app/files?limit=0")).status).toBe(400);
});

test(verifies("X32", "lines of a text file are read"), async () => {
  const server = await start();
  const file = "/v1/workspaces/app/files/src%2Fuser-list.ts";
  const whole = await server.read<WorkspaceFile>(file);
  expect(whole).toMatchObject({ path: "src/user-list.ts", content: text, startLine: 1, totalLines: 6 });
  expect(whole.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await server.read(`${file}?startLine=2&maxLines=2`)).toMatchObject({
    content: "line 2\nline 3\n",
    startLine: 2,
    endLine: 3,
    hash: whole.hash,
  });
});

test.each([
  ["..%2Fsecret.txt", 403],
  ["%2Fetc%2Fpasswd", 403],
  ["link.txt", 403],
  ["src%2Felsewhere%2Fsecret.txt", 403],
  [".env", 403],
  ["hidden%2Flist.ts", 403],
  ["innocent.txt", 403],
  ["linked.txt", 403],
  ["src%2F..%2F.env", 403],
  [".git%2fconfig", 403],
  [".GIT%2Fconfig", 403],
  ["settings.txt", 403],
  ["build%2Fbare%2Fconfig", 403],
  ["none.txt", 404],
  ["image.png", 400],
  ["src", 400],
  ["a%00b", 403],
])(verifies(["X32", "S-20", "S-243"], "%s is refused"), async (path, status) => {
  const server = await start();
  const answer = await server.fetch(`/v1/workspaces/app/files/${path}`);
  expect(answer.status).toBe(status);
  const body = await answer.text();
  expect(body).not.toMatch(/secret["@]|KEY=1|root:/);
  // Where the workspace is on the machine is nobody's business.
  expect(body).not.toContain(app);
});

test(verifies("X88", "commands and skills are found by name; those of a workspace only with trust"), async () => {
  const home = `${folders.newFolder()}-home`;
  const workspace = folders.newFolder({
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/objects/x": "",
    ".git/refs/x": "",
    ".sheaf/commands/risks.md":
      "---\ndescription: Name the largest risks\nargument-hint: [what to think of]\n---\nSecret text $1",
    ".claude/skills/release/SKILL.md": "---\nname: release\ndescription: How a release is made\n---\nSteps.",
  });
  const find = async (query: string, ...args: readonly string[]): Promise<WorkspaceCommandList> => {
    const server = await openApp({ home, cwd: workspace, args: ["--workspace", `app=${workspace}`, ...args] });
    return server.read(`/v1/workspaces/app/commands${query}`);
  };
  const risks = { name: "risks", kind: "command", description: "Name the largest risks" };
  const release = { name: "release", kind: "skill", description: "How a release is made", argumentHint: "" };
  expect(await find("")).toEqual({ commands: [], truncated: false });
  const all = { commands: [release, { ...risks, argumentHint: "[what to think of]" }], truncated: false };
  expect(await find("", "--trust")).toEqual(all);
  expect(await find("?query=ks", "--trust")).toMatchObject({ commands: [risks] });
  expect(await find("?query=r&limit=1", "--trust")).toMatchObject({ commands: [risks], truncated: true });
  expect(JSON.stringify(all)).not.toMatch(/Secret|SKILL/);
  const server = await openApp({ home, cwd: workspace, args: ["--workspace", `app=${workspace}`] });
  expect((await server.fetch("/v1/workspaces/none/commands")).status).toBe(404);
});
