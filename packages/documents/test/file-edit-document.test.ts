import { type Document, type FileChange, reduce, type RunEventBody, type StreamEvent } from "@sheaf/protocol";
import { isDocument } from "@sheaf/protocol/validate";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble } from "../src/assembler.ts";
import { endTurn, toCall, toDocuments, toResult, toRunLog, toTurn } from "./run-log.ts";

const content = 'print("hi")\n# 🙂\n';
const write = { target_file: "/w/src/a.py", content };

function changed(...changes: readonly Partial<FileChange>[]): RunEventBody {
  const rest = {
    operation: "create",
    filePath: "src/a.py",
    path: "/w/src/a.py",
    content: null,
    linesAdded: 0,
    linesRemoved: 0,
    bytes: 9,
  } as const;
  return toResult("call_1", {
    effect: { kind: "file_edit", changes: changes.map((change) => ({ ...rest, ...change })) },
  });
}

function toEvents(bodies: readonly RunEventBody[]): StreamEvent[] {
  return assemble(toRunLog([...toTurn(1, bodies)]));
}

function toDeltas(events: readonly StreamEvent[]): string[] {
  return events.flatMap(({ event, data }) => (event === "content_delta" ? [data.delta] : []));
}

describe("while the model writes", () => {
  test(verifies(["N46", "N44", "R7", "N21"], "write_file starts with its path and shows its content"), () => {
    const events = toEvents(toCall("call_1", "write_file", write, { size: 4 }).slice(0, -1));
    expect(events[1]?.data).toEqual({
      id: "doc_001",
      type: "file_edit",
      sequence: 1,
      metadata: {
        filePath: "src/a.py",
        language: "python",
        operation: "create",
        toolName: "write_file",
        toolCallId: "call_1",
      },
    });
    expect(toDeltas(events).length).toBeGreaterThan(3);
    expect(toDeltas(events).join("")).toBe(content);
    expect(toDeltas(events).every((delta) => delta.isWellFormed())).toBe(true);
  });

  test("content before the path waits for it", () => {
    const events = toEvents(toCall("call_1", "write_file", { content, target_file: "a.py" }, { size: 4 }));
    expect(events.slice(1).map(({ event }) => event)).toEqual(["document_start", "content_delta"]);
    expect(toDeltas(events)).toEqual([content]);
  });

  test(verifies("N46", "edit_file shows the new strings of its edits"), () => {
    const one = { target_file: "a.py", edits: [{ old_string: "x", new_string: content }] };
    expect(toDeltas(toEvents(toCall("call_1", "edit_file", one, { size: 5 }))).join("")).toBe(content);
    const two = { target_file: "a.py", edits: [...one.edits, { new_string: "second", old_string: "y" }] };
    const written = toEvents(toCall("call_1", "edit_file", two, { size: 5 }).slice(0, -1));
    expect(toDeltas(written).join("")).toBe(`${content}\nsecond`);
  });

  test("a second path changes nothing any more", () => {
    const [start = { type: "turn_start" as const, turn: 1 }] = toCall("call_1", "write_file", {});
    const delta = '{"target_file":"a.py","path":"b.py","content":"x';
    const events = toEvents([start, { type: "tool_call_arguments_delta", callId: "call_1", delta }]);
    expect(events[1]?.data).toMatchObject({ metadata: { filePath: "a.py" } });
  });

  test(verifies("N44", "delete_file and rename_file show no content; a rename waits for its destination"), () => {
    const remove = toEvents(toCall("call_1", "delete_file", { target_file: "a.py" }, { size: 3 }).slice(0, -1));
    expect(remove[1]?.data).toMatchObject({ metadata: { filePath: "a.py", operation: "delete" } });
    const rename = toCall("call_1", "rename_file", { source_file: "a.py", destination_file: "b.ts" }, { size: 3 });
    expect(toEvents(rename.slice(0, -1))).toHaveLength(1);
    expect(toEvents(rename)[1]?.data).toMatchObject({
      metadata: { filePath: "a.py", operation: "rename", newFilePath: "b.ts", language: "typescript" },
    });
  });

  test("arguments that come in one piece are shown at once, for a person who has to approve them", () => {
    const events = toEvents(toCall("call_1", "write_file", write));
    expect(events.slice(1).map(({ event }) => event)).toEqual(["document_start", "content_delta"]);
    expect(toDeltas(events)).toEqual([content]);
  });

  test(verifies(["N13", "N28"], "a tool of another name that writes a file is one too"), () => {
    const call = toCall(
      "call_1",
      "str_replace",
      { path: "a.py", content: "x" },
      { documentType: "file_edit", size: 3 },
    );
    const [document] = toDocuments([...call, toResult("call_1")]);
    expect(document).toMatchObject({
      type: "file_edit",
      content: "x",
      metadata: { filePath: "a.py", operation: "create", state: "applied", toolName: "str_replace" },
    });
  });
});

describe("an applied change", () => {
  const origin = { toolName: "write_file", toolCallId: "call_1" };

  test(verifies(["R7", "N11", "N31", "N35", "X16"], "create: the whole content, no diff"), () => {
    const result = changed({ content, linesAdded: 2, patch: "--- /dev/null\n", bytes: 18 });
    expect(toDocuments([...toCall("call_1", "write_file", write, { size: 4 }), result])).toEqual([
      {
        id: "doc_001",
        type: "file_edit",
        sequence: 1,
        content,
        metadata: {
          filePath: "src/a.py",
          operation: "create",
          language: "python",
          patch: "--- /dev/null\n",
          linesAdded: 2,
          linesRemoved: 0,
          state: "applied",
          bytes: 18,
          ...origin,
        },
      },
    ]);
  });

  test(
    verifies(["N31", "R7", "N46"], "edit carries the exact diff of the result, also when a write turns out to be one"),
    () => {
      const diff = { oldString: "a\nb", newString: "a\nc", startLine: 3, endLine: 4 };
      const result = changed({ operation: "edit", content: diff.newString, diff, linesAdded: 1, linesRemoved: 1 });
      for (const toolName of ["write_file", "edit_file"]) {
        const [document] = toDocuments([...toCall("call_1", toolName, { ...write, edits: [] }, { size: 6 }), result]);
        expect(document).toMatchObject({ content: "a\nc", metadata: { operation: "edit", diff } });
      }
    },
  );

  test(verifies("N31", "an insertion has an empty old string and ends before its start"), () => {
    const diff = { oldString: "", newString: "new\n", startLine: 5, endLine: 4 };
    const [document] = toDocuments([
      ...toCall("call_1", "edit_file", write),
      changed({ operation: "edit", content: "new\n", diff }),
    ]);
    expect(document?.metadata).toMatchObject({ diff });
  });

  test(verifies("N31", "an edit whose result tells no diff has that of the arguments"), () => {
    const values = { target_file: "src/a.py", edits: [{ old_string: "x", new_string: "y" }] };
    const [document] = toDocuments([
      ...toCall("call_1", "edit_file", values),
      changed({ operation: "edit", content: "y" }),
    ]);
    expect(document?.metadata).toMatchObject({ diff: { oldString: "x", newString: "y", startLine: 0, endLine: 0 } });
  });

  test(
    verifies(["N34", "N31"], "a diff that was too large is left out, and the document says that something is missing"),
    () => {
      const result = changed({ operation: "edit", content: "new" });
      const [document] = toDocuments([...toCall("call_1", "write_file", write), result]);
      expect(document).toMatchObject({ content: "new", metadata: { operation: "edit", truncated: true } });
      expect(document?.metadata).not.toHaveProperty("diff");
      expect(isDocument(document)).toBe(true);
    },
  );

  test(
    verifies(["N32", "N11", "X16"], "rename: the old path, the new one, the language of the new name, no content"),
    () => {
      const values = { source_file: "src/a.py", destination_file: "src/b.ts" };
      const [document] = toDocuments([
        ...toCall("call_1", "rename_file", values, { size: 3 }),
        changed({ operation: "rename", newFilePath: "src/b.ts" }),
      ]);
      expect(document).toMatchObject({
        content: null,
        metadata: { filePath: "src/a.py", newFilePath: "src/b.ts", operation: "rename", language: "typescript" },
      });
      expect(document?.metadata).not.toHaveProperty("diff");
    },
  );

  test(verifies("N32", "a rename that changes the content too has content and diff"), () => {
    const diff = { oldString: "a", newString: "b", startLine: 1, endLine: 1 };
    const [document] = toDocuments([
      ...toCall("call_1", "rename_file", { source_file: "src/a.py", destination_file: "src/b.py" }),
      changed({ operation: "rename", newFilePath: "src/b.py", content: "b", diff }),
    ]);
    expect(document).toMatchObject({ content: "b", metadata: { diff } });
  });

  test(verifies(["N33", "N11"], "delete has null, an empty file has an empty string"), () => {
    const remove = [
      ...toCall("call_1", "delete_file", { target_file: "src/a.py" }),
      changed({ operation: "delete", linesRemoved: 4 }),
    ];
    expect(toDocuments(remove)[0]).toMatchObject({ content: null, metadata: { operation: "delete", linesRemoved: 4 } });
    expect(toDocuments(remove)[0]?.metadata).not.toHaveProperty("bytes");
    const empty = [
      ...toCall("call_1", "write_file", { target_file: "src/a.py", content: "" }),
      changed({ content: "" }),
    ];
    expect(toDocuments(empty)[0]).toMatchObject({ content: "", metadata: { operation: "create" } });
    expect(toEvents(empty).some(({ event }) => event === "content_delta")).toBe(false);
  });

  test(verifies("N34", "a binary file has null and its size; content above 1 MiB is cut"), () => {
    const binary = [
      ...toCall("call_1", "delete_file", { target_file: "src/a.py" }),
      changed({ operation: "edit", binary: true, bytes: 77 }),
    ];
    expect(toDocuments(binary)[0]).toMatchObject({ content: null, metadata: { binary: true, bytes: 77 } });
    const large = "é".repeat(600_000);
    const [document] = toDocuments([
      ...toCall("call_1", "write_file", { ...write, content: large }),
      changed({ content: large }),
    ]);
    expect(document?.content).toBe("é".repeat(524_288));
    expect(document?.metadata).toMatchObject({ truncated: true });
  });

  test(verifies(["N28", "N29"], "several changed files are one document each, with the same call"), () => {
    const call = toCall("call_1", "apply_patch", { path: "src/b.py" }, { documentType: "file_edit" });
    const documents = toDocuments([
      ...call,
      changed(
        { filePath: "src/a.py", content: "A" },
        { filePath: "src/b.py", content: "B" },
        { filePath: "c.ts", operation: "delete" },
      ),
    ]);
    expect(documents.map(toSummary)).toEqual([
      ["doc_001", "src/b.py", "B", "call_1"],
      ["doc_002", "src/a.py", "A", "call_1"],
      ["doc_003", "c.ts", null, "call_1"],
    ]);
  });

  test(verifies("N35", "without an effect the arguments are what was done"), () => {
    const [document] = toDocuments([...toCall("call_1", "write_file", write), toResult("call_1")]);
    expect(document).toMatchObject({
      content,
      metadata: { state: "applied", operation: "create", filePath: "src/a.py" },
    });
  });
});

describe("an attempt that failed", () => {
  test.each([
    ["rejected", "rejected", "PERMISSION_DENIED"],
    ["error", "failed", "FILE_NOT_FOUND"],
    ["cancelled", "failed", "CANCELLED"],
  ] as const)(
    verifies(["N35", "N39", "N12"], "%s has state %s and an error document behind it"),
    (status, state, code) => {
      const error = { code, message: "No", details: "" };
      const documents = toDocuments([
        ...toCall("call_1", "write_file", write, { size: 4 }),
        toResult("call_1", { status, error }),
      ]);
      expect(documents.map(({ type }) => type)).toEqual(["file_edit", "error"]);
      expect(documents[0]).toMatchObject({
        content,
        metadata: { filePath: "src/a.py", operation: "create", language: "python", state },
      });
      expect(documents[1]).toMatchObject({
        metadata: { errorCode: code, source: "write_file", relatedDocumentId: "doc_001" },
      });
    },
  );

  test(verifies(["N31", "N35"], "an edit shows what was tried; the lines are 0 because nobody knows them"), () => {
    const edits = [
      { old_string: "a", new_string: "b" },
      { old_string: "c", new_string: "d" },
    ];
    const [document] = toDocuments([
      ...toCall("call_1", "edit_file", { target_file: "x.py", edits }),
      toResult("call_1", { status: "error" }),
    ]);
    expect(document).toMatchObject({
      content: "b\nd",
      metadata: { state: "failed", diff: { oldString: "a\nc", newString: "b\nd", startLine: 0, endLine: 0 } },
    });
  });

  test("what was done in spite of the error is told as done", () => {
    const call = toCall("call_1", "apply_patch", { path: "src/b.py", content: "B" }, { documentType: "file_edit" });
    const done = changed({ filePath: "src/a.py", content: "A" });
    const documents = toDocuments([...call, { ...done, status: "error" } as RunEventBody]);
    expect(documents.map(({ type, metadata }) => [type, "state" in metadata && metadata.state])).toEqual([
      ["file_edit", "failed"],
      ["file_edit", "applied"],
      ["error", false],
    ]);
  });

  test(verifies(["N30", "N47", "N12"], "arguments that broke off keep what was shown of them"), () => {
    const json = '{"target_file":"a.py","edits":[{"old_string":"x","new_string":"half';
    const documents = toDocuments([
      ...toCall("call_1", "edit_file", {}).slice(0, 1),
      { type: "tool_call_arguments_delta", callId: "call_1", delta: json },
      { type: "tool_call_arguments", callId: "call_1", arguments: {}, rawArguments: json },
      toResult("call_1", { status: "error" }),
    ]);
    expect(documents[0]).toMatchObject({
      content: "half",
      metadata: {
        filePath: "a.py",
        language: "python",
        operation: "edit",
        state: "failed",
        diff: { newString: "half" },
      },
    });
  });

  test(verifies("N12", "arguments that tell nothing leave empty strings"), () => {
    for (const [toolName, operation] of [
      ["write_file", "create"],
      ["edit_file", "edit"],
      ["rename_file", "rename"],
      ["delete_file", "delete"],
    ] as const) {
      const [document] = toDocuments([...toCall("call_1", toolName, {}), toResult("call_1", { status: "error" })]);
      expect(document?.metadata).toMatchObject({ filePath: "", language: "", operation, state: "failed" });
    }
  });

  test(verifies("S-71", "arguments of another shape break nothing"), () => {
    const values = { edits: { "99999999999999": { new_string: "x" } }, target_file: "a", content: [{ path: 1 }] };
    const [document] = toDocuments([
      ...toCall("call_1", "edit_file", values, { size: 5 }),
      toResult("call_1", { status: "error" }),
    ]);
    expect(document).toMatchObject({ type: "file_edit", metadata: { filePath: "a", diff: { oldString: "" } } });
  });

  test(verifies("N10", "a call that was cancelled before its file was known leaves no document"), () => {
    const events = toCall("call_1", "write_file", write, { size: 3 });
    expect(toDocuments([...events.slice(0, 3), toResult("call_1", { status: "cancelled" })])).toEqual([]);
  });
});

test(verifies(["N48", "N47"], "model text goes on beside a file edit, and clients take the final content"), () => {
  const log = toRunLog([
    ...toTurn(1, [...toCall("call_1", "write_file", write), { type: "text_delta", text: "Meanwhile" }]),
    changed({ content: "formatted by the tool" }),
    endTurn,
  ]);
  const events = assemble(log);
  expect(verify(events, { requireExtensions: true })).toBeUndefined();
  expect(reduce(events).documents.map((document) => document.content)).toEqual(["formatted by the tool", "Meanwhile"]);
});

function toSummary({ id, content: shown, metadata }: Document): unknown {
  return "filePath" in metadata && "toolCallId" in metadata
    ? [id, metadata.filePath, shown, metadata.toolCallId]
    : [id];
}
