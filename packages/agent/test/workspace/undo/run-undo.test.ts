import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { describe, expect, test } from "vitest";
import { notRoot, skipIfMissing } from "../../../../../test/support/describe-where.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createTemporaryWorkspace, createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";
import { revertConversation, type RevertRequest } from "../../../src/run/conversations/revert.ts";
import { createUndoPorts } from "../../../src/run/conversations/undo-ports.ts";
import { removeConversationFiles } from "../../../src/workspace/conversation-folders.ts";
import { listUndoStores, toRunFolder } from "../../../src/workspace/undo/undo-store.ts";
import { createRunUndo } from "../../../src/workspace/undo/run-undo.ts";
import { start } from "../../run/fake-ports.ts";

const git = { program: "/usr/bin/git", environment: { PATH: process.env.PATH } };

/** A conversation in a folder, whose responses do what a test says. */
async function createConversation(hasGit = false) {
  const temporary = createTemporaryWorkspace();
  const { root } = temporary;
  const dataFolder = createTemporaryFolder();
  const store = createSqliteStore(":memory:");
  const run = (...words: readonly string[]) => execFileSync("git", words, { cwd: root, encoding: "utf8" });
  if (hasGit) {
    run("init", "-q");
    run("config", "user.name", "A");
    run("config", "user.email", "a@b.c");
  }
  const open = (responseId: string, program = git.program, folders = [root]) =>
    createRunUndo({
      folders,
      dataFolder,
      git: { ...git, program },
      conversationId: "conv_1",
      responseId,
      now: Date.now,
    });
  const begin = async (responseId: string, folders?: string[]) => {
    await store.createResponse({ id: responseId, conversationId: "conv_1", workspace: root, title: "", createdAt: 1 });
    await store.appendEvents(
      responseId,
      [{ type: "run_start", ...start, responseId, workspace: root, prompt: "", seq: 1, time: 1 }],
      "grouped",
    );
    return open(responseId, git.program, folders);
  };
  const end = (responseId: string) =>
    store.appendEvents(responseId, [{ type: "run_end", reason: "end_turn", seq: 2, time: 1 }], "grouped");
  const respond = async (responseId: string, work: () => void, folders?: string[]): Promise<void> => {
    const undo = await begin(responseId, folders);
    await undo.around(async () => work());
    await undo.end();
    await end(responseId);
  };
  const revert = (onConflict: RevertRequest["onConflict"] = "refuse", responseId?: string) =>
    revertConversation(
      { conversationId: "conv_1", responseId, onConflict },
      createUndoPorts({ store, conversationId: "conv_1", dataFolder, environment: git.environment }),
    );
  return { ...temporary, dataFolder, store, run, open, begin, end, respond, revert };
}

/** Changes of other times than those of the run. */
const pause = () => wait(150);

describe("a revert", () => {
  test(verifies("S-23", "by root leaves files and folders to the owner of the workspace"), async () => {
    skipIfMissing(notRoot);
    const { respond, revert, write, root } = await createConversation();
    chownSync(root, 1234, 4321);
    write("a/b.txt", "before");
    await respond("chat_1", () => rmSync(join(root, "a"), { recursive: true }));
    expect(await revert()).toMatchObject({ files: [{ filePath: "a/b.txt", action: "restored" }] });
    for (const name of ["a", "a/b.txt"]) expect(statSync(join(root, name))).toMatchObject({ uid: 1234, gid: 4321 });
  });

  test(
    verifies("R-78", "leaves what somebody else changed while the run did nothing, and restores the rest"),
    async () => {
      const { begin, end, revert, write, read, root } = await createConversation();
      for (const name of ["own.txt", "both.txt", "theirs.txt"]) write(name, "before\n");
      const undo = await begin("chat_1");
      await undo.around(async () => ["own.txt", "both.txt"].forEach((name) => write(name, "by the run\n")));
      undo.record();
      // It waits until the record has read the changes of the run.
      await undo.around(async () => undefined);
      await pause();
      for (const name of ["both.txt", "theirs.txt", "new of theirs.txt"]) write(name, "by the user\n");
      await pause();
      await undo.around(async () => void write("own.txt", "by the run again\n"));
      await undo.end();
      await end("chat_1");
      const conflict = { filePath: "both.txt", reason: "something else has changed it since" };
      expect(await revert()).toMatchObject({ reverted: false, conflicts: [conflict] });
      expect(await revert("leave")).toMatchObject({ conflicts: [conflict], files: [{ filePath: "own.txt" }] });
      expect(readdirSync(root).map((name) => [name, read(name)])).toEqual([
        ["both.txt", "by the user\n"],
        ["new of theirs.txt", "by the user\n"],
        ["own.txt", "before\n"],
        ["theirs.txt", "by the user\n"],
      ]);
    },
  );

  test(verifies("R-78", "leaves commits that came after those of the run"), async () => {
    const { respond, revert, write, run } = await createConversation(true);
    write("a.txt", "a\n");
    run("add", "-A");
    run("commit", "-qm", "first");
    const first = run("rev-parse", "HEAD");
    await respond("chat_1", () => void run("commit", "-q", "--amend", "-m", "amended"));
    run("commit", "-q", "--allow-empty", "-m", "the user's");
    const last = run("rev-parse", "HEAD");
    expect(await revert()).toMatchObject({ reverted: false, conflicts: [{ filePath: ".git" }] });
    expect(run("rev-parse", "HEAD")).toBe(last);
    expect(await revert("overwrite")).toMatchObject({
      conflicts: [],
      files: [{ filePath: ".git", action: "restored" }],
    });
    expect(run("rev-parse", "HEAD")).toBe(first);
  });

  test(verifies("R-78", "asks about everything since a response that was killed"), async () => {
    const { begin, end, revert, write, read } = await createConversation();
    write("a.txt", "before\n");
    const undo = await begin("chat_1");
    // It never learns that the command has ended.
    void undo.around(() => new Promise(() => write("a.txt", "by the run\n")));
    await expect.poll(() => read("a.txt")).toBe("by the run\n");
    await end("chat_1");
    expect(await revert()).toMatchObject({ reverted: false, conflicts: [{ filePath: "a.txt" }] });
    expect(await revert("overwrite")).toMatchObject({ files: [{ filePath: "a.txt", action: "restored" }] });
    expect(read("a.txt")).toBe("before\n");
  });

  test.each([
    ["records its last state", (own: string) => rmSync(join(own, "index.lock"))],
    ["ends", (own: string) => rmSync(own, { recursive: true })],
  ])(verifies("R-78", "waits while the response before it still %s"), async (_, finish) => {
    const { begin, end, revert, write, read, dataFolder } = await createConversation();
    write("a.txt", "before\n");
    const undo = await begin("chat_1");
    void undo.around(() => new Promise(() => write("a.txt", "by the run\n")));
    await expect.poll(() => read("a.txt")).toBe("by the run\n");
    await end("chat_1");
    const [{ gitFolder } = { gitFolder: "" }] = listUndoStores(dataFolder);
    const own = toRunFolder(gitFolder, "chat_1");
    writeFileSync(join(own, "index.lock"), "");
    const reverting = revert("overwrite");
    await pause();
    finish(own);
    await expect(reverting).resolves.toMatchObject({ reverted: true });
  });

  test(verifies("R-79", "never seems to work if the last state could not be recorded"), async () => {
    const { respond, revert, write, run, root, read } = await createConversation(true);
    write("a.txt", "committed\n");
    run("add", "-A");
    run("commit", "-qm", "first");
    write("a.txt", "edited\n");
    await respond("chat_1", () => {
      execFileSync("sh", ["-c", "rm -rf ./* .git"], { cwd: root });
    });
    expect(await revert()).toMatchObject({ reverted: false, conflicts: [{ filePath: "a.txt" }] });
    expect(await revert("overwrite")).toMatchObject({ files: [{ filePath: "a.txt" }] });
    expect(read("a.txt")).toBe("edited\n");
  });

  test(verifies("C57", "restores what the user had typed into an editor alone"), async () => {
    const { begin, end, revert, write, read } = await createConversation();
    const file = write("a.txt", "saved\n");
    const undo = await begin("chat_1");
    await undo.around(async () => {
      await undo.keepText(file, Buffer.from("typed\n"));
      write("a.txt", "changed\n");
    });
    await undo.end();
    await end("chat_1");
    expect(await revert()).toMatchObject({ conflicts: [], files: [{ filePath: "a.txt" }] });
    expect(read("a.txt")).toBe("typed\n");
  });

  test(verifies("R-77", "names what no state has, and leaves it"), async () => {
    const { respond, revert, write, root, run } = await createConversation(true);
    write(".gitignore", "*.bin\n.venv\ntarget\ncache\n");
    const paths = [".venv/a", "target/a", "cache/CACHEDIR.TAG", "node_modules/a", "src/target.txt", "small.bin"];
    for (const path of [...paths, ".GIT/x"]) write(path, "before\n");
    mkdirSync(join(root, "inner"));
    execFileSync("git", ["init", "-q"], { cwd: join(root, "inner") });
    run("-C", "inner", "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "inner");
    for (const end of ["txt", "bin"])
      writeFileSync(
        Buffer.concat([Buffer.from(`${root}/latin-`), Buffer.from([0xe9]), Buffer.from(`.${end}`)]),
        "before",
      );
    write("large.bin", "");
    truncateSync(join(root, "large.bin"), 201 * 1024 ** 2);
    await respond("chat_1", () => {
      execFileSync("sh", ["-c", "rm -rf ./* .venv"], { cwd: root });
    });
    const { leftOut = [], conflicts } = await revert();
    expect(conflicts).toEqual([]);
    expect(leftOut.map((line) => line.slice(0, line.indexOf(":"))).toSorted()).toEqual([
      ".GIT/x", ".venv/", "cache/", "inner/", "large.bin", "latin-\uFFFD.bin", "latin-\uFFFD.txt", "node_modules/", "target/",
    ]); // prettier-ignore
    expect(readdirSync(root).toSorted()).toEqual([".GIT", ".git", ".gitignore", "small.bin", "src"]);
  });
});

describe("states", () => {
  test(
    verifies("R-76", "are of added folders and of the folder below a repository, with its ignore rules"),
    async () => {
      const { root, run, write, respond, revert, read } = await createConversation(true);
      write(".gitignore", "*.log\n");
      write("sub/a.txt", "before\n");
      write("sub/b.log", "ignored\n");
      write("other.txt", "outside\n");
      const added = join(root, "sub");
      const removeAll = (): void => readdirSync(added).forEach((name) => rmSync(join(added, name)));
      await respond("chat_9", removeAll, [added]);
      const files = ["a.txt", "b.log"].map((name) => ({ filePath: join(added, name), action: "restored" }));
      expect(await revert()).toMatchObject({ files, conflicts: [] });
      expect([read("sub/a.txt"), read("sub/b.log")]).toEqual(["before\n", "ignored\n"]);
      await respond("chat_1", () => void write("sub/a.txt", "after\n"));
      expect(await revert()).toMatchObject({ files: [{ filePath: "sub/a.txt" }] });
      expect(run("for-each-ref")).toBe("");
    },
  );

  test(verifies(["R-80", "S-42"], "are for their user alone, and go with their conversation"), async () => {
    const { dataFolder, respond, write } = await createConversation();
    await respond("chat_1", () => void write("a.txt", "a"));
    const [store = ""] = readdirSync(join(dataFolder, "undo"));
    expect(statSync(join(dataFolder, "undo")).mode & 0o777).toBe(0o700);
    const refs = join(dataFolder, "undo", store, "refs/sheaf/conv_1");
    expect(readdirSync(refs)).toEqual(["chat_1"]);
    await removeConversationFiles(dataFolder, "conv_1");
    expect(existsSync(refs)).toBe(false);
  });

  test("a file that changes twice in one moment, at the same size, is not taken for unchanged", async () => {
    const { respond, revert, write, read, root } = await createConversation();
    for (const [place, text] of ["one", "two", "six", "ten"].entries()) {
      write("a.txt", text);
      utimesSync(join(root, "a.txt"), 1, 1);
      await respond(`chat_${place}`, () => void write("a.txt", "xxx"));
      expect(await revert()).toMatchObject({ conflicts: [], files: [{ filePath: "a.txt" }] });
      expect(read("a.txt")).toBe(text);
    }
  });

  test(verifies("R-79", "that cannot be recorded are named once, and the work is done all the same"), async () => {
    const { open, write, read, dataFolder } = await createConversation();
    const undo = open("chat_1", "/missing/git");
    await undo.around(async () => void write("a.txt", "a"));
    expect(undo.takeProblem()).toMatch(/^Sheaf could not record .* sheaf revert cannot restore its changes: .*\.$/);
    expect(undo.takeProblem()).toBeUndefined();
    await undo.end();
    rmSync(join(dataFolder, "undo"), { recursive: true, force: true });
    writeFileSync(join(dataFolder, "undo"), "a file in the way");
    const blocked = open("chat_2");
    await blocked.around(async () => void write("a.txt", "b"));
    expect([read("a.txt"), blocked.takeProblem()]).toEqual(["b", expect.stringContaining("could not record")]);
    await blocked.end();
  });

  test(verifies("R-79", "of a folder that was too large are not tried again for a day"), async () => {
    const { open, respond, write, dataFolder } = await createConversation();
    await respond("chat_1", () => void write("a.txt", "a"));
    const [name = ""] = readdirSync(join(dataFolder, "undo"));
    const mark = join(dataFolder, "undo", name, "too-large");
    const takeProblem = async (responseId: string): Promise<string | undefined> => {
      const undo = open(responseId);
      await undo.around(async () => void write("a.txt", responseId));
      await undo.end();
      return undo.takeProblem();
    };
    writeFileSync(mark, "");
    expect(await takeProblem("chat_2")).toContain("has too many files: work in a smaller folder");
    utimesSync(mark, 1, 1);
    expect(await takeProblem("chat_3")).toBeUndefined();
  });

  test(verifies("R-76", "bring a file back whose place had a pipe, once the user has removed that"), async () => {
    const { respond, revert, write, read } = await createConversation();
    const file = write("a.txt", "before\n");
    await respond("chat_1", () => {
      rmSync(file);
      execFileSync("mkfifo", [file]);
    });
    expect(await revert()).toMatchObject({ reverted: false, conflicts: [{ filePath: "a.txt" }] });
    rmSync(file);
    expect(await revert()).toMatchObject({ conflicts: [], files: [{ filePath: "a.txt" }] });
    expect(read("a.txt")).toBe("before\n");
  });

  test("of a file that nobody may read keep its bits", async () => {
    const { respond, revert, write, root } = await createConversation();
    const file = write("a.txt", "a");
    await respond("chat_1", () => chmodSync(file, 0));
    expect(await revert()).toMatchObject({ conflicts: [], files: [{ filePath: "a.txt", action: "restored" }] });
    expect(statSync(join(root, "a.txt")).mode & 0o777).toBe(0o644);
  });
});
