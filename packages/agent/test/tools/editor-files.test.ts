/** File tools where the user has the files open in an editor. */
import { linkSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, describe } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { BackgroundCommand } from "../../src/tools/background-commands.ts";
import { editFileTool } from "../../src/tools/edit-file.ts";
import { createEditorFiles, type EditorFiles, type EditorPorts } from "../../src/tools/editor-files.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { runAfterEdit } from "../../src/tools/after-edit.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { writeFileTool } from "../../src/tools/write-file.ts";
import { toHash } from "@sheaf/base/files/read-file";
import { createPolicy } from "../../../permissions/test/policy.ts";
import { createFileToolContext, toChange } from "./file-tool-context.ts";

/** Long after every change on disk. */
const later = 10_000_000_000_000;

interface FakeEditor extends EditorFiles {
  readonly asked: string[];
  readonly written: string[];
  readonly ports: EditorPorts;
}

/** `buffers`: what is open, by path. `save`: what it makes of a text. */
function createEditor(
  buffers: Map<string, string>,
  { save = (text: string): string | undefined => text, now = () => later } = {},
): FakeEditor {
  const asked: string[] = [];
  const written: string[] = [];
  const ports: EditorPorts = {
    now,
    async read(path) {
      asked.push(path);
      return buffers.get(path) ?? readFileSync(path, "utf8");
    },
    async write(path, text) {
      written.push(path);
      const saved = save(text);
      buffers.set(path, saved ?? text);
      if (saved !== undefined) writeFileSync(path, saved);
    },
  };
  return { asked, written, ports, ...createEditorFiles(ports) };
}

function createOpenFile(content: string, unsaved?: string, options?: Parameters<typeof createEditor>[1]) {
  const files = createFileToolContext();
  const path = files.write("a.txt", content);
  const buffers = new Map(unsaved === undefined ? [] : [[path, unsaved]]);
  const editor = createEditor(buffers, options);
  const kept = new Map<string, string>();
  const undo = {
    keepText: async (file: string, bytes: Uint8Array) => void kept.set(file, Buffer.from(bytes).toString()),
  } as unknown as NonNullable<ToolContext["undo"]>;
  return { ...files, context: { ...files.context, editor, undo }, path, buffers, editor, kept };
}

const edit = (old_string: string, new_string: string) => ({
  target_file: "a.txt",
  edits: [{ old_string, new_string }],
});

describe("reading", () => {
  test.each([
    ["what the user has not saved, and says so", "saved\n", "typed\n", "typed\n", /has not saved it/],
    ["the disk where the editor has the same text, whatever its line ends", "a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n", /^$/],
  ])(verifies("C57", "shows %s"), async (_title, saved, typed, shown, note) => {
    const { context } = createOpenFile(saved, typed);
    const outcome = await readFileTool.run({ target_file: "a.txt" }, context);
    expect(outcome.output).toBe(shown);
    expect(outcome.note ?? "").toMatch(note);
  });

  test(verifies("C57", "shows the disk where the editor still has what was written here before a change"), async () => {
    const { context, write, buffers, path } = createOpenFile("old\n");
    await editFileTool.run(edit("old", "written"), context);
    write("a.txt", "after\n");
    expect(buffers.get(path)).toBe("written\n");
    const outcome = await readFileTool.run({ target_file: "a.txt" }, context);
    expect(outcome.output).toBe("after\n");
  });

  test(verifies("C57", "is enough for an edit of what is not saved"), async () => {
    const { context, read } = createOpenFile("saved\n", "typed\n");
    await readFileTool.run({ target_file: "a.txt" }, context);
    toChange(await editFileTool.run(edit("typed", "changed"), context));
    expect(read("a.txt")).toBe("changed\n");
  });

  test(verifies("C57", "gives an editor time to notice a change that is just made"), async () => {
    const { context, write } = createOpenFile("x\n");
    const path = write("a.txt", "new\n");
    const answers = ["old, not noticed yet\n", "new\n"];
    const editor = createEditorFiles({
      now: () => Math.floor(statSync(path).mtimeMs) + 1990,
      read: () => Promise.resolve(answers.shift()),
    });
    const outcome = await readFileTool.run({ target_file: "a.txt" }, { ...context, editor });
    expect([outcome.output, answers]).toEqual(["new\n", []]);
  });

  test(verifies("C57", "asks for nothing outside, behind a link, missing, binary or in another encoding"), async () => {
    const { context, editor, outside, root, write } = createOpenFile("x\n");
    writeFileSync(join(outside, "b.txt"), "secret\n");
    symlinkSync(join(outside, "b.txt"), join(root, "link.txt"));
    write("binary", Buffer.from([0, 1, 2]));
    write("mark.txt", "\u{FEFF}text\n");
    for (const name of ["../w-evil/b.txt", "link.txt", "missing.txt", "binary", "mark.txt"]) {
      await readFileTool.run({ target_file: name }, context);
    }
    expect(editor.asked).toEqual([]);
  });

  test(verifies("C57", "asks for nothing while a command runs in the background"), async () => {
    const { context, editor } = createOpenFile("disk\n", "typed\n");
    const running = { outcome: undefined } as BackgroundCommand;
    const busy = { ...context, background: { ...context.background, all: [running] } };
    expect((await readFileTool.run({ target_file: "a.txt" }, busy)).output).toBe("disk\n");
    await editFileTool.run(edit("disk", "changed"), busy);
    expect([editor.asked, editor.written]).toEqual([[], []]);
    expect(readFileSync(join(context.workspace.root, "a.txt"), "utf8")).toBe("changed\n");
  });

  test.each([[undefined], ["\0"], ["\uD800"]])("%j for a text is none", async (text) => {
    const { context } = createOpenFile("disk\n");
    const editor = createEditorFiles({ now: () => later, read: () => Promise.resolve(text) });
    expect((await readFileTool.run({ target_file: "a.txt" }, { ...context, editor })).output).toBe("disk\n");
  });
});

describe("editing", () => {
  test(
    verifies("C57", "changes what the user has typed, keeps it for a revert, and lets the editor save"),
    async () => {
      const { context, read, editor, path, kept } = createOpenFile("saved\n", "typed\nmore\n");
      const change = toChange(await editFileTool.run(edit("more", "less"), context));
      expect(read("a.txt")).toBe("typed\nless\n");
      expect(editor.written).toEqual([path]);
      expect(change).toMatchObject({
        hashBefore: toHash(Buffer.from("typed\nmore\n")),
        hashAfter: toHash(Buffer.from("typed\nless\n")),
      });
      expect(kept.get(path)).toBe("typed\nmore\n");
    },
  );

  test(verifies("C57", "keeps line ends that the editor does not show"), async () => {
    const { context, read } = createOpenFile("one\r\n", "one\ntwo\n", { save: (text) => text });
    await editFileTool.run(edit("two", "three"), context);
    expect(read("a.txt")).toBe("one\r\nthree\r\n");
  });

  test(verifies("C57", "describes what the editor's formatter made of it, and asks to read it again"), async () => {
    const { context, read } = createOpenFile("a=1\n", undefined, { save: (text) => text.replace("=", " = ") });
    await readFileTool.run({ target_file: "a.txt" }, context);
    const outcome = await editFileTool.run(edit("a=1", "a=2"), context);
    expect(read("a.txt")).toBe("a = 2\n");
    expect(toChange(outcome)).toMatchObject({ hashAfter: toHash(Buffer.from("a = 2\n")), after: "a = 2\n" });
    expect(outcome.note).toContain("formatted the file");
    const blind = await writeFileTool.run({ target_file: "a.txt", content: "x" }, context);
    expect(blind.error?.code).toBe("STALE_FILE");
  });

  test(verifies("C57", "writes to the disk what the editor does not save"), async () => {
    const { context, read, editor, path } = createOpenFile("old\n", undefined, { save: () => undefined });
    toChange(await editFileTool.run(edit("old", "new"), context));
    expect([read("a.txt"), editor.written]).toEqual(["new\n", [path]]);
  });

  test(verifies("C57", "leaves new files, and files with further names, to Sheaf's own writing"), async () => {
    const { context, read, editor, path, root, outside } = createOpenFile("old\n");
    await writeFileTool.run({ target_file: "new.txt", content: "made\n" }, context);
    linkSync(path, join(outside, "same.txt"));
    await editFileTool.run(edit("old", "new"), context);
    expect([read("new.txt"), read("a.txt"), editor.written]).toEqual(["made\n", "new\n", []]);
    expect(readFileSync(join(outside, "same.txt"), "utf8")).toBe("old\n");
    expect(root).not.toBe(outside);
  });

  test(verifies("C57", "writes nothing over a file that was exchanged meanwhile"), async () => {
    const { context, editor, path, outside } = createOpenFile("old\n");
    writeFileSync(join(outside, "target"), "untouched\n");
    const swapping = createEditorFiles({
      ...editor.ports,
      read: async (name: string) => {
        rmSync(path);
        symlinkSync(join(outside, "target"), path);
        return editor.ports.read!(name, context.signal);
      },
    });
    const outcome = await editFileTool.run(edit("old", "new"), { ...context, editor: swapping });
    expect(outcome.status).toBe("error");
    expect(editor.written).toEqual([]);
    expect(readFileSync(join(outside, "target"), "utf8")).toBe("untouched\n");
  });

  test("a formatter of the configuration wins over a buffer that is behind", async () => {
    const { context, write, buffers, path, read } = createOpenFile("a=1\n");
    const done = await editFileTool.run(edit("a=1", "a=2"), context);
    const commands = {
      ...context.commands,
      run: async () => {
        write("a.txt", "a = 2\n");
        buffers.set(path, "a=2\n");
        return { output: "", exitCode: 0, refusal: "", startError: "", refusals: [], timedOut: false };
      },
    } as unknown as ToolContext["commands"];
    const permissions = createPolicy({ allow: ["Shell(*)"] });
    const formatted = await runAfterEdit(
      done,
      [{ glob: "*.txt", command: "fmt {file}" }],
      { ...context, commands },
      permissions,
    );
    expect(formatted.effect).toMatchObject({ changes: [{}, { hashAfter: toHash(Buffer.from("a = 2\n")) }] });
    expect(read("a.txt")).toBe("a = 2\n");
  });
});
