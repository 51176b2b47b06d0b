/** What a conversation changed, as patches, and reverting one file or one hunk (X28, X29). */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { ChangedFileState, ConversationChanges } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { createTestFolder, type Files } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const folders = createTestFolder();

const call = (tool: string, args: object) => ({ call: { tool, arguments: args } });
const edit = (file: string, from: string, to: string) =>
  call("edit_file", { target_file: file, edits: [{ old_string: from, new_string: to }] });

const lines = (...changed: readonly (readonly [number, string])[]): string =>
  Array.from({ length: 30 }, (_, index) => changed.find(([line]) => line === index + 1)?.[1] ?? `line ${index + 1}`)
    .join("\n")
    .concat("\n");

interface Place {
  readonly server: TestApp;
  readonly cwd: string;
  /** Of its changes. */
  readonly path: string;
}

type Options = NonNullable<Parameters<typeof openApp>[0]>;

/** A conversation with one response for each list of calls. */
async function converse(
  files: Files,
  responses: readonly (readonly object[])[],
  options: Options = {},
): Promise<Place> {
  const turns = responses.flatMap((events) => [
    ...events.map((event) => ({ events: [event] })),
    { events: [{ text: "Done." }] },
  ]);
  const server = await openApp({ files, script: { turns, after: "error" }, ...options });
  let conversationId: string | undefined;
  for (const _ of responses) ({ conversationId } = await server.ask({ message: "go", conversationId }));
  return { server, cwd: server.cwd, path: `/v1/conversations/${conversationId}/changes` };
}

/** A conversation of two responses that edits, creates, renames and deletes. */
const change = (): Promise<Place> =>
  converse({ "a.txt": lines(), "gone.txt": "bye\n", "same.txt": "same\n", "old.txt": "moved\n" }, [
    [edit("a.txt", "line 3\n", "LINE 3\n"), call("write_file", { target_file: "new.txt", content: "new\n" })],
    [
      edit("a.txt", "line 25\n", "LINE 25\nmore\n"),
      call("delete_file", { target_file: "gone.txt" }),
      edit("same.txt", "same", "other"),
      edit("same.txt", "other", "same"),
      call("rename_file", { source_file: "old.txt", destination_file: "moved.txt" }),
    ],
  ]);

const read = async (server: TestApp, path: string): Promise<readonly ChangedFileState[]> => {
  const answer = await server.read<ConversationChanges>(path);
  expect(answer).toHaveProperty("files");
  return answer.files;
};

const revert = (server: TestApp, path: string, body: object): Promise<Response> =>
  server.send("POST", `${path}/revert`, body);

test(verifies("X28", "each file is compared with the start of the conversation"), async () => {
  const { server, path } = await change();
  const files = await read(server, path);
  expect(
    files.map(({ filePath, operation, linesAdded, linesRemoved }) => [filePath, operation, linesAdded, linesRemoved]),
  ).toEqual([
    ["a.txt", "edit", 3, 2],
    ["new.txt", "create", 1, 0],
    ["gone.txt", "delete", 0, 1],
    ["old.txt", "rename", 0, 0],
  ]);
  const [a, created, gone, moved] = files;
  expect(moved).toMatchObject({ newFilePath: "moved.txt", hash: expect.any(String) as string });
  expect(a!.patch).toMatch(/^--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@ -1,6 \+1,6 @@\n(?:.|\n)*@@ -22,7 \+22,8 @@\n/);
  expect(created!.patch).toContain("--- /dev/null\n+++ b/new.txt\n");
  expect(gone).toMatchObject({ patch: expect.stringContaining("+++ /dev/null\n") as string });
  expect(gone).not.toHaveProperty("hash");
  expect(files.every((file) => file.changedSince === undefined && file.problem === undefined)).toBe(true);
});

test(verifies("X29", "a hunk, then the file, then others are as at the start"), async () => {
  const { server, cwd, path } = await change();
  const [a] = await read(server, path);
  const answer = (await (
    await revert(server, path, { filePath: "a.txt", hash: a!.hash, hunk: 0 })
  ).json()) as ConversationChanges;
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(lines([25, "LINE 25\nmore"]));
  expect(answer.files[0]).toMatchObject({ filePath: "a.txt", linesAdded: 2, linesRemoved: 1, changedSince: true });
  const stale = await revert(server, path, { filePath: "a.txt", hash: a!.hash });
  expect([stale.status, await stale.json()]).toMatchObject([409, { error: { errorCode: "FILES_CHANGED" } }]);
  for (const file of answer.files) {
    const { status } = await revert(server, path, { filePath: file.filePath, ...(file.hash && { hash: file.hash }) });
    expect([file.filePath, status]).toEqual([file.filePath, 200]);
  }
  expect(await read(server, path)).toEqual([]);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(lines());
  expect(readFileSync(join(cwd, "gone.txt"), "utf8")).toBe("bye\n");
  expect(readFileSync(join(cwd, "old.txt"), "utf8")).toBe("moved\n");
  expect(["new.txt", "moved.txt"].filter((name) => existsSync(join(cwd, name)))).toEqual([]);
});

test(
  verifies(["X28", "X29"], "what something else changed is shown, and overwritten only as it was seen"),
  async () => {
    const { server, cwd, path } = await change();
    writeFileSync(join(cwd, "a.txt"), "entirely different\n");
    writeFileSync(join(cwd, "new.txt"), "\0binary");
    rmSync(join(cwd, "moved.txt"));
    const files = await read(server, path);
    const [a, created] = files;
    expect(a).toMatchObject({ changedSince: true, patch: expect.stringContaining("+entirely different") as string });
    expect(created).toMatchObject({ changedSince: true, problem: expect.stringContaining("not text") as string });
    expect(files.at(-1)).toMatchObject({
      filePath: "old.txt",
      operation: "delete",
      patch: expect.stringContaining("-moved") as string,
    });
    expect((await revert(server, path, { filePath: "a.txt", hash: a!.hash, hunk: 7 })).status).toBe(409);
    expect((await revert(server, path, { filePath: "a.txt", hash: a!.hash })).status).toBe(200);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(lines());
    for (const filePath of ["same.txt", "../outside", "/etc/passwd"]) {
      expect((await revert(server, path, { filePath })).status).toBe(404);
    }
  },
);

test(verifies("X28", "a folder that became a link leads nowhere"), async () => {
  const { server, cwd, path } = await converse({ "d/a.txt": "before\n" }, [[edit("d/a.txt", "before", "after")]]);
  const outside = folders.newFolder({ "a.txt": "secret\n" });
  rmSync(join(cwd, "d"), { recursive: true });
  symlinkSync(outside, join(cwd, "d"));
  mkdirSync(join(cwd, "e"));
  const files = await read(server, path);
  expect(files).toMatchObject([{ filePath: "d/a.txt", problem: "its path now leaves the workspace" }]);
  expect(JSON.stringify(files)).not.toContain("secret");
  expect((await revert(server, path, { filePath: "d/a.txt" })).status).toBe(409);
  expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("secret\n");
});

test(verifies(["X28", "X29"], "what a rule forbids to read is named, and neither shown nor reverted"), async () => {
  const names = ["a.txt", "d/key.txt", "key.txt"];
  const edits = names.map((name) => edit(name, "before", "after"));
  const store = createSqliteStore(":memory:");
  const { cwd, path } = await converse(Object.fromEntries(names.map((name) => [name, "before\n"])), [edits], {
    store,
  });
  writeFileSync(join(cwd, "key.txt"), "secret\n");
  writeFileSync(join(cwd, "d/key.txt"), "secret\n");
  rmSync(join(cwd, "a.txt"));
  linkSync(join(cwd, "key.txt"), join(cwd, "a.txt"));
  const args = ["--deny", "Read(/key.txt)", "--deny", `Read(${join(cwd, "d")})`];
  const server = await openApp({ cwd, store, args });
  const files = await read(server, path);
  const problem = "a rule of this server forbids to read it";
  expect(files).toEqual(names.map((filePath) => ({ filePath, problem })));
  expect((await revert(server, path, { filePath: "key.txt" })).status).toBe(409);
  expect(readFileSync(join(cwd, "key.txt"), "utf8")).toBe("secret\n");
});

test(verifies(["X29", "S-22"], "a hunk of a file that runs by itself now is not reverted"), async () => {
  const files = { "hooks/pre-commit": lines(), ".git/HEAD": "ref: refs/heads/a\n", ".git/refs/x": "" };
  const { server, cwd, path } = await converse(files, [[edit("hooks/pre-commit", "line 3\n", "LINE 3\n")]]);
  mkdirSync(join(cwd, ".git/objects"));
  writeFileSync(join(cwd, ".git/config"), "[core]\n\trepositoryformatversion = 0\n\thooksPath = hooks\n");
  const [file] = await read(server, path);
  const { filePath, hash } = file!;
  for (const body of [
    { filePath, hash },
    { filePath, hash, hunk: 0 },
  ]) {
    expect((await revert(server, path, body)).status).toBe(409);
  }
  expect(readFileSync(join(cwd, filePath), "utf8")).toContain("LINE 3\n");
});

test(verifies(["X28", "X29"], "a file that has grown without bound is not read to its end"), async () => {
  const { server, cwd, path } = await converse({ "a.txt": "before\n" }, [[edit("a.txt", "before", "after")]]);
  truncateSync(join(cwd, "a.txt"), 65 * 1024 * 1024);
  const [file, ...others] = await read(server, path);
  expect(others).toEqual([]);
  expect(file).toMatchObject({ filePath: "a.txt", operation: "edit", changedSince: true });
  expect(file).toMatchObject({ problem: expect.stringContaining("too large") as string });
  // Nothing says which of its contents the user has seen.
  expect(file).not.toHaveProperty("hash");
  expect((await revert(server, path, { filePath: "a.txt" })).status).toBe(409);
});
