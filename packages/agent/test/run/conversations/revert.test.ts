import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { chooseRuns } from "../../../../../test/support/soak.ts";
import { openConversation } from "../../../src/run/conversations/open-conversation.ts";
import { revertConversation } from "../../../src/run/conversations/revert.ts";
import { createUndoPorts } from "../../../src/run/conversations/undo-ports.ts";
import { createToolSession, move, remove, replace, write, type Call } from "./tool-session.ts";

/** Contents and permission bits of all files below a folder. */
function readTree(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files
      .toSorted()
      .map((file) => [
        file.slice(root.length + 1),
        `${(statSync(file).mode & 0o777).toString(8)} ${readFileSync(file, "latin1")}`,
      ]),
  );
}

const anyName = fc.constantFrom("a", "b", "c/d", "c/e");
const content = fc.constantFrom("one\n", "two\n", "three\n");
const call = fc.oneof(
  fc.tuple(anyName, content).map(([path, text]) => write(path, text)),
  fc.tuple(anyName, content, content).map(([path, from, to]) => replace(path, from.trim(), to.trim())),
  anyName.map((path) => remove(path)),
  fc.tuple(anyName, anyName).map(([from, to]) => move(from, to)),
);
/** Files of a workspace before the first response. */
const firstFiles = fc.dictionary(anyName, content);

describe("files", () => {
  test(verifies("S-96", "are as they were before an edit and before the formatter that followed it"), async () => {
    const session = createToolSession((root) => {
      for (const name of readdirSync(root)) {
        writeFileSync(join(root, name), `${readFileSync(join(root, name), "utf8").trimEnd()} // formatted\n`);
      }
    });
    session.write("a.ts", "one\ntwo\n");
    const before = readTree(session.root);
    const outcomes = await session.respond("chat_1", [
      replace("a.ts", "two", "three"),
      replace("a.ts", "three", "four"),
    ]);
    expect(outcomes.map(({ status, note }) => [status, note])).toEqual(outcomes.map(() => ["success", undefined]));
    expect(session.read("a.ts")).toBe("one\nfour // formatted // formatted\n");
    expect(await session.revert()).toMatchObject({ conflicts: [], files: [{ filePath: "a.ts", action: "restored" }] });
    expect(readTree(session.root)).toEqual(before);
    await session.respond("chat_2", [write("new.ts", "new")]);
    expect(await session.revert()).toMatchObject({
      files: [
        { filePath: "a.ts", action: "restored" },
        { filePath: "new.ts", action: "removed" },
      ],
    });
  });

  test("are as they were before the response: changed, new, deleted and moved ones", async () => {
    const session = createToolSession();
    session.write("edited.txt", "one\r\ntwo\r\n");
    session.write("deleted.sh", "#!/bin/sh\n");
    session.write("moved.bin", Buffer.from([0, 1, 2, 255]));
    session.write("kept.txt", "kept");
    for (const name of ["deleted.sh", "moved.bin"]) chmodSync(join(session.root, name), 0o755);
    await session.respond("chat_1", [write("first.txt", "of the first response")]);
    const before = readTree(session.root);
    const outcomes = await session.respond("chat_2", [
      replace("edited.txt", "two", "three"),
      replace("edited.txt", "three", "four"),
      remove("deleted.sh"),
      move("moved.bin", "deep/er/moved.bin"),
      write("new.txt", "new"),
      replace("first.txt", "first", "second"),
    ]);
    expect(outcomes.map(({ status, note }) => [status, note])).toEqual(outcomes.map(() => ["success", undefined]));
    expect(await session.revert()).toEqual({
      reverted: true,
      responseIds: ["chat_2"],
      files: [
        { filePath: "deleted.sh", action: "restored" },
        { filePath: "edited.txt", action: "restored" },
        { filePath: "first.txt", action: "restored" },
        { filePath: "moved.bin", action: "restored" },
        { filePath: "deep/er/moved.bin", action: "removed" },
        { filePath: "new.txt", action: "removed" },
      ],
      conflicts: [],
    });
    expect(readTree(session.root)).toEqual(before);
  });

  test("two files that changed places get them back", async () => {
    const session = createToolSession();
    session.write("a.txt", "a");
    session.write("b.txt", "b");
    await session.respond("chat_1", [move("a.txt", "t"), move("b.txt", "a.txt"), move("t", "b.txt")]);
    expect([session.read("a.txt"), session.read("b.txt")]).toEqual(["b", "a"]);
    expect((await session.revert()).conflicts).toEqual([]);
    expect([session.read("a.txt"), session.read("b.txt")]).toEqual(["a", "b"]);
  });

  test(verifies("C252", "each branch of any tree gets its files and its history again"), async () => {
    const responses = fc.array(fc.tuple(fc.nat(), fc.array(call, { maxLength: 4 })), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(firstFiles, responses, async (files, chosen) => {
        const session = createToolSession();
        for (const [path, text] of Object.entries(files)) session.write(path, text);
        const ends: { id: string | undefined; tree: Record<string, string>; length: number }[] = [
          { id: undefined, tree: readTree(session.root), length: 0 },
        ];
        const goTo = async ({ id, tree, length }: (typeof ends)[number]): Promise<void> => {
          const before = readTree(session.root);
          const { files: planned } = await session.show(id, { dryRun: true });
          expect(readTree(session.root)).toEqual(before);
          expect(await session.show(id)).toMatchObject({ files: planned, conflicts: [] });
          expect(readTree(session.root)).toEqual(tree);
          const { messages } = await openConversation(session.store, "conv_1", Date.now);
          expect(messages.filter(({ role }) => role === "user")).toHaveLength(length);
        };
        for (const [place, [choice, calls]] of chosen.entries()) {
          const parent = ends[choice % ends.length]!;
          if (place > 0) await goTo(parent);
          await session.respond(`chat_${place}`, calls);
          ends.push({ id: `chat_${place}`, tree: readTree(session.root), length: parent.length + 1 });
        }
        for (const end of ends.toReversed()) await goTo(end);
      }),
      { numRuns: chooseRuns(12, 100) },
    );
  });

  test(verifies("C252", "a file that changed since is a conflict on the way to another branch, too"), async () => {
    const session = createToolSession();
    session.write("a.txt", "a");
    await session.respond("chat_1", [write("a.txt", "one"), write("b.txt", "b")]);
    await session.show(undefined);
    session.write("a.txt", "mine");
    const conflicts = [{ filePath: "a.txt", reason: "something else has changed it since" }];
    expect(await session.show("chat_1")).toMatchObject({ reverted: false, conflicts });
    expect(await session.show("chat_1", { dryRun: true })).toMatchObject({ reverted: false, conflicts });
    expect(await session.show("chat_1", { onConflict: "leave" })).toMatchObject({ reverted: true, conflicts });
    expect([session.read("a.txt"), session.read("b.txt")]).toEqual(["mine", "b"]);
    expect(await session.show(undefined, { onConflict: "keep" })).toMatchObject({ reverted: true, files: [] });
    expect(session.read("b.txt")).toBe("b");
    expect(await session.show("chat_1", { onConflict: "overwrite" })).toMatchObject({ reverted: true, conflicts: [] });
    expect(session.read("a.txt")).toBe("one");
  });

  test("any row of changes is reverted from any response on", async () => {
    const responses = fc.array(fc.array(call, { maxLength: 6 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(firstFiles, responses, fc.nat(), async (files, calls, choice) => {
        const session = createToolSession();
        for (const [path, text] of Object.entries(files)) session.write(path, text);
        const trees: Record<string, string>[] = [];
        for (const [place, list] of calls.entries()) {
          trees.push(readTree(session.root));
          await session.respond(`chat_${place}`, list);
        }
        const target = choice % calls.length;
        expect((await session.revert(`chat_${target}`)).conflicts).toEqual([]);
        expect(readTree(session.root)).toEqual(trees[target]);
        const { messages } = await openConversation(session.store, "conv_1", Date.now);
        expect(messages.filter(({ role }) => role === "user")).toHaveLength(target);
      }),
      { numRuns: chooseRuns(60, 150) },
    );
  });
});

describe("a file that is not what Sheaf left", () => {
  test("is a conflict: nothing is changed, or the rest, or all", async () => {
    const session = createToolSession();
    session.write("a.txt", "a");
    session.write("b.txt", "b");
    await session.respond("chat_1", [replace("a.txt", "a", "A"), replace("b.txt", "b", "B")]);
    session.write("a.txt", "the user's own");
    const conflicts = [{ filePath: "a.txt", reason: "something else has changed it since" }];
    expect(await session.revert()).toEqual({ reverted: false, responseIds: [], files: [], conflicts });
    expect([session.read("a.txt"), session.read("b.txt")]).toEqual(["the user's own", "B"]);
    expect((await session.store.listResponses("conv_1")).map(({ reverted }) => reverted)).toEqual([false]);

    const files = [{ filePath: "b.txt", action: "restored" }];
    expect(await session.revert(undefined, "leave")).toMatchObject({ reverted: true, files, conflicts });
    expect([session.read("a.txt"), session.read("b.txt")]).toEqual(["the user's own", "b"]);

    await session.respond("chat_2", [write("a.txt", "A")]);
    session.write("a.txt", "changed again");
    expect(await session.revert(undefined, "overwrite")).toMatchObject({ reverted: true, conflicts: [] });
    expect(session.read("a.txt")).toBe("the user's own");
  });

  test("also when the user changed it between two changes: nothing of it is lost", async () => {
    const session = createToolSession();
    session.write("a.txt", "one\n");
    await session.respond("chat_1", [replace("a.txt", "one", "two")]);
    session.write("a.txt", "two\nof the user\n");
    await session.respond("chat_2", [["read_file", { target_file: "a.txt" }], replace("a.txt", "two", "three")]);
    expect(session.read("a.txt")).toBe("three\nof the user\n");
    const reason = "something else changed it between two changes of Sheaf";
    expect(await session.revert("chat_1")).toMatchObject({ reverted: false, conflicts: [{ reason }] });
    // The last response alone is Sheaf's own.
    expect(await session.revert("chat_2")).toMatchObject({ reverted: true, conflicts: [] });
    expect(session.read("a.txt")).toBe("two\nof the user\n");
  });

  test("is no conflict when it is as it was before already, so that a second try goes on", async () => {
    const session = createToolSession();
    session.write("a.txt", "a");
    session.write("b.txt", "b");
    await session.respond("chat_1", [replace("a.txt", "a", "A"), replace("b.txt", "b", "B"), write("c.txt", "c")]);
    session.write("a.txt", "a");
    unlinkSync(join(session.root, "c.txt"));
    expect(await session.revert()).toMatchObject({
      reverted: true,
      files: [
        { filePath: "a.txt", action: "unchanged" },
        { filePath: "b.txt", action: "restored" },
        { filePath: "c.txt", action: "unchanged" },
      ],
      conflicts: [],
    });
  });

  test(verifies("R-78", "that cannot be restored keeps the history, so that a second revert continues"), async () => {
    const session = createToolSession();
    for (const name of ["a.txt", "b.txt"]) session.write(name, "one");
    await session.respond("chat_1", [write("a.txt", "two"), write("b.txt", "two!"), write("c.txt", "new")]);
    const revert = (onConflict: "refuse" | "overwrite" | "leave") => {
      const { store, dataFolder } = session;
      const ports = createUndoPorts({ store, conversationId: "conv_1", dataFolder, environment: {} });
      const contents = { findSize: () => 3, read: async () => undefined };
      const request = { conversationId: "conv_1", responseId: "chat_1", onConflict };
      return revertConversation(request, { ...ports, contents });
    };
    const reason = "its content of that time is damaged";
    for (const onConflict of ["refuse", "overwrite"] as const) {
      const { reverted, conflicts } = await revert(onConflict);
      expect([reverted, conflicts]).toEqual([
        false,
        [
          { filePath: "a.txt", reason },
          { filePath: "b.txt", reason },
        ],
      ]);
    }
    expect(await session.revert()).toMatchObject({ reverted: true, responseIds: ["chat_1"], conflicts: [] });
    expect(session.read("b.txt")).toBe("one");
  });

  test("became a folder, or lies behind a link that leads out, is left; a link in its place is replaced, never followed", async () => {
    const session = createToolSession();
    for (const path of ["link.txt", "folder.txt", "sub/out.txt"]) session.write(path, "before");
    await session.respond(
      "chat_1",
      ["link.txt", "folder.txt", "sub/out.txt"].map((path) => replace(path, "before", "after")),
    );
    const target = join(session.outside, "secret.txt");
    writeFileSync(target, "after");
    writeFileSync(join(session.outside, "out.txt"), "after");
    unlinkSync(join(session.root, "link.txt"));
    symlinkSync(target, join(session.root, "link.txt"));
    unlinkSync(join(session.root, "folder.txt"));
    mkdirSync(join(session.root, "folder.txt"));
    renameSync(join(session.root, "sub"), join(session.root, "sub2"));
    symlinkSync(session.outside, join(session.root, "sub"));
    const result = await session.revert(undefined, "overwrite");
    expect(result.files).toEqual([{ filePath: "link.txt", action: "restored" }]);
    expect(session.read("link.txt")).toBe("before");
    expect(result.conflicts.map(({ filePath }) => filePath)).toEqual(["folder.txt", "sub/out.txt"]);
    expect(readFileSync(target, "utf8")).toBe("after");
    expect(readFileSync(join(session.outside, "out.txt"), "utf8")).toBe("after");
  });

  test("became a pipe, or nobody may read it any more, is replaced only if the user overwrites it", async () => {
    const session = createToolSession();
    const paths = ["closed.txt", "pipe.txt"];
    for (const path of paths) session.write(path, "before");
    await session.respond(
      "chat_1",
      paths.map((path) => replace(path, "before", "after")),
    );
    unlinkSync(join(session.root, "pipe.txt"));
    execFileSync("mkfifo", [join(session.root, "pipe.txt")]);
    chmodSync(join(session.root, "closed.txt"), 0);
    const refused = await session.revert();
    expect([refused.reverted, refused.conflicts.map(({ filePath }) => filePath)]).toEqual([false, paths]);
    expect(await session.revert(undefined, "overwrite")).toMatchObject({ reverted: true, conflicts: [] });
    expect(paths.map((path) => session.read(path))).toEqual(["before", "before"]);
  });

  test("in a workspace that is gone is left", async () => {
    const session = createToolSession();
    await session.respond("chat_1", [write("a.txt", "a")]);
    rmSync(session.root, { recursive: true });
    const result = await session.revert(undefined, "leave");
    expect(result).toMatchObject({ reverted: true, files: [], conflicts: [{ filePath: "a.txt" }] });
    expect(existsSync(session.root)).toBe(false);
  });
});

describe("the history", () => {
  test("ends before the response: messages, tasks and what was read are those of before", async () => {
    const session = createToolSession();
    const todo = (id: string): Call => ["todo_write", { todos: [{ id, content: id, status: "pending" }], merge: true }];
    await session.respond("chat_1", [todo("first"), write("a.txt", "a")]);
    await session.respond("chat_2", [todo("second"), replace("a.txt", "a", "b")]);
    await session.revert();
    const { messages, state } = await openConversation(session.store, "conv_1", Date.now);
    expect(messages).toEqual([{ role: "user", text: "chat_1" }]);
    expect(state.todos.map(({ id }) => id)).toEqual(["first"]);
    // The file may be changed again without reading it: it is what Sheaf left.
    const [outcome] = await session.respond("chat_3", [replace("a.txt", "a", "c")]);
    expect(outcome).toMatchObject({ status: "success" });
    await session.revert();
    await session.revert();
    expect(existsSync(join(session.root, "a.txt"))).toBe(false);
    await expect(session.revert()).rejects.toMatchObject({ code: "USAGE" });
  });

  test("an unknown response, and one that was reverted already, is an error", async () => {
    const session = createToolSession();
    await expect(session.revert()).rejects.toThrow(/is not stored/);
    await session.respond("chat_1", []);
    await session.respond("chat_2", []);
    await session.revert("chat_2");
    await expect(session.revert("chat_2")).rejects.toThrow(/the response chat_2/);
    await expect(session.revert("chat_9")).rejects.toThrow(/the response chat_9/);
  });
});
