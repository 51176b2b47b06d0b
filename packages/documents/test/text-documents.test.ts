import type { RunEventBody } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble, toResponse } from "../src/assembler.ts";
import { endTurn, toCall, toDocuments, toResult, toRunLog, toTextDeltas, toTurn } from "./run-log.ts";

describe("what a text becomes", () => {
  test(verifies(["R17", "R4", "R5", "R6", "N15", "N24"], "free text, references and code blocks, in order"), () => {
    const text = "See:\n\n```12:14:src/main.py\ndef main():\n    pass\n```\n\n```js\nx()\n```\nDone.\n\n";
    expect(toDocuments(toTextDeltas(text))).toEqual([
      { id: "doc_001", type: "text", sequence: 1, content: "See:", metadata: { format: "markdown" } },
      {
        id: "doc_002",
        type: "code_reference",
        sequence: 2,
        content: "def main():\n    pass",
        metadata: { filePath: "src/main.py", startLine: 12, endLine: 14, language: "python" },
      },
      {
        id: "doc_003",
        type: "code_block",
        sequence: 3,
        content: "x()",
        metadata: { language: "js", purpose: "new_code" },
      },
      { id: "doc_004", type: "text", sequence: 4, content: "Done.", metadata: { format: "markdown" } },
    ]);
  });

  test(verifies(["N10", "N26"], "blank text makes no document, and a text starts with its first character"), () => {
    expect(toDocuments(toTextDeltas(" \n\n", 1))).toEqual([]);
    const events = assemble(toRunLog([{ type: "turn_start", turn: 1 }, ...toTextDeltas("\n\n Hi")]));
    expect(events.map(({ event }) => event)).toEqual(["response_start", "document_start", "content_delta"]);
  });

  test(verifies(["N16", "N19", "N12"], "info strings: language, info, none"), () => {
    const metadata = toDocuments(toTextDeltas('```ts title="a b"\n1\n```\n````\n```\n````\n```0:2:a.ts\n```')).map(
      (each) => each.metadata,
    );
    expect(metadata).toEqual([
      { language: "ts", purpose: "new_code", info: 'ts title="a b"' },
      { language: "", purpose: "new_code" },
      { language: "0:2:a.ts", purpose: "new_code" },
    ]);
  });

  test(verifies("N17", "nested fences stay in their text and are listed"), () => {
    const [document] = toDocuments(toTextDeltas("- a\n  ```sh\n  ls\n  ```\n"));
    expect(document).toMatchObject({ type: "text", metadata: { codeBlocks: [{ language: "sh" }] } });
  });
});

test(verifies("N55", "a delta too large for one event goes out as several, also where the text only goes on"), () => {
  const pieces = ["a", "b".repeat(300_000), `${" ".repeat(300_000)}c`, "d"];
  const log = toRunLog([
    { type: "turn_start", turn: 1 },
    ...pieces.map((text) => ({ type: "text_delta", text }) as const),
  ]);
  const deltas = assemble(log).flatMap(({ event, data }) => (event === "content_delta" ? [data.delta] : []));
  expect(deltas.map(({ length }) => length)).toEqual([1, 261_120, 38_880, 261_120, 38_881, 1]);
  expect(deltas.join("")).toBe(pieces.join(""));
});

describe("the purpose of a code block", () => {
  test.each([
    ["agent", "new_code"],
    ["debug", "new_code"],
    ["plan", "suggestion"],
    ["ask", "example"],
  ] as const)(verifies("N23", "in mode %s is %s"), (mode, purpose) => {
    const [document] = toDocuments(toTextDeltas("```\nx\n```"), { mode });
    expect(document?.metadata).toEqual({ language: "", purpose });
  });

  test(verifies("N23", "is what an info attribute says"), () => {
    const [document] = toDocuments(toTextDeltas("```js purpose=example\nx\n```"));
    expect(document?.metadata).toMatchObject({ purpose: "example" });
  });
});

describe("a code reference", () => {
  test(
    verifies(["N20", "N21"], "has its path relative to the workspace, keeps the original, and its language by name"),
    () => {
      const text = "```1:2:/w/src/a.ts\nx\n```\n```1:2:/elsewhere/b.unknown\ny\n```\n";
      const documents = toDocuments(toTextDeltas(text));
      expect(documents.map(({ metadata }) => metadata)).toEqual([
        { filePath: "src/a.ts", startLine: 1, endLine: 2, language: "typescript", rawPath: "/w/src/a.ts" },
        { filePath: "/elsewhere/b.unknown", startLine: 1, endLine: 2, language: "" },
      ]);
    },
  );

  test(verifies("N21", "of a workspace on Windows has slashes"), () => {
    const [document] = toDocuments(toTextDeltas("```1:2:C:\\w\\src\\a.c\nx\n```"), { workspace: "c:\\w" });
    expect(document?.metadata).toMatchObject({ filePath: "src/a.c", rawPath: "C:\\w\\src\\a.c", language: "c" });
  });

  test(verifies("N22", "tells whether it stands in the file, by its number in the turn"), () => {
    const check = (index: number, verified: boolean): RunEventBody => ({ type: "reference_check", index, verified });
    const reference = "```1:1:a.ts\nx\n```\n";
    const documents = toResponse(
      toRunLog([
        ...toTurn(1, [
          check(0, true),
          ...toTextDeltas(reference),
          ...toCall("call_1", "read_file", {}),
          check(1, false),
          ...toTextDeltas(reference),
        ]),
        toResult("call_1"),
        ...toTurn(2, toTextDeltas(reference)),
        ...toTurn(3, [check(0, true), ...toTextDeltas("```js\nx\n```\n"), ...toTextDeltas(reference)]),
        endTurn,
      ]),
    ).documents;
    expect(documents.map(({ type, metadata }) => [type, "verified" in metadata ? metadata.verified : "?"])).toEqual([
      ["code_reference", true],
      ["tool_call", "?"],
      ["code_reference", false],
      ["code_reference", "?"],
      ["code_block", "?"],
      ["code_reference", true],
    ]);
  });

  test(verifies("N61", "has the right lines, and those that the model wrote"), () => {
    const correction = { quoted: "1:2:a.ts", startLine: 7, endLine: 8 };
    const [document] = toResponse(
      toRunLog([
        ...toTurn(1, [
          { type: "reference_check", index: 0, verified: true, correction },
          ...toTextDeltas("```1:2:a.ts\nx\ny\n```\n"),
        ]),
        endTurn,
      ]),
    ).documents;
    const metadata = { filePath: "a.ts", language: "typescript", startLine: 7, endLine: 8, verified: true };
    expect(document?.metadata).toEqual({ ...metadata, writtenLines: { startLine: 1, endLine: 2 } });
  });

  test(verifies("N22", "keeps what the model wrote as its content"), () => {
    const [document] = toDocuments(toTextDeltas("```5:8:a.py\ndef a():\n    # ...\n```"));
    expect(document?.content).toBe("def a():\n    # ...");
  });
});

describe("where a text ends", () => {
  test(verifies("N18", "an open fence ends with the message or the tool call behind it"), () => {
    const documents = toDocuments([
      ...toTextDeltas("```js\nlet a"),
      ...toCall("call_1", "read_file", {}),
      ...toTextDeltas("~~~\nb"),
    ]);
    expect(documents.map(({ type, content, metadata }) => [type, content, "closed" in metadata])).toEqual([
      ["code_block", "let a", true],
      ["tool_call", null, false],
      ["code_block", "b", true],
      ["error", "The run ended before the tool did.", false],
    ]);
    expect(documents[0]?.metadata).toEqual({ language: "js", purpose: "new_code", closed: false });
  });

  test(verifies("N27", "every model request starts anew"), () => {
    const { documents } = toResponse(
      toRunLog([...toTurn(1, toTextDeltas("```js\na")), ...toTurn(2, toTextDeltas("b\n```js\nc\n```")), endTurn]),
    );
    expect(documents.map(({ type, content }) => [type, content])).toEqual([
      ["code_block", "a"],
      ["text", "b"],
      ["code_block", "c"],
    ]);
  });

  test(verifies("N27", "also where the request before never ended"), () => {
    const { documents } = toResponse(
      toRunLog([
        { type: "turn_start", turn: 1 },
        ...toTextDeltas("first"),
        ...toTurn(2, toTextDeltas(" second")),
        endTurn,
      ]),
    );
    expect(documents.map(({ content }) => content?.trim())).toEqual(["first", "second"]);
  });
});
