import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ChatResponse, createStreamDecoder, type RunEventBody, type StreamEvent } from "@sheaf/protocol";
import { toBaseEvents, toBaseResponse } from "@sheaf/protocol/base-form";
import { verify } from "@sheaf/protocol/verify";
import { expect, test } from "vitest";
import { describeWithFixtures } from "../../../test/support/fixtures.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble, toResponse } from "../src/assembler.ts";
import { endTurn, startTime, toCall, toResult, toRunLog, toTextDeltas, toTurn } from "./run-log.ts";

describeWithFixtures("documents", (folder) => {
  const example = JSON.parse(readFileSync(join(folder, "section-4-response.json"), "utf8")) as ChatResponse;
  const [, , , reference, , created, edited] = example.documents;
  const readStream = (name: string): StreamEvent[] => {
    const decoder = createStreamDecoder();
    return [...decoder.push(readFileSync(join(folder, name), "utf8")), ...decoder.end()];
  };

  /** The run that the example tells of. */
  const log = toRunLog([
    ...toTurn(
      1,
      [
        ...toTextDeltas(`${contentOf(example, 0)}\n`, 7),
        ...toCall("call_001", "codebase_search", argumentsOf(example, 1), { size: 5 }),
        ...toCall("call_002", "read_file", argumentsOf(example, 2)),
      ],
      { promptTokens: 1000, completionTokens: 400 },
    ),
    toResult("call_001", { output: "src/main.py:12", durationMs: 280 }),
    toResult("call_002", { output: dataOf(example, 2), durationMs: 45 }),
    ...toTurn(
      2,
      [
        ...toTextDeltas(`\`\`\`5:8:src/main.py\n${reference?.content}\n\`\`\`\n\n${contentOf(example, 4)}`, 11),
        ...toCall(
          "call_003",
          "write_file",
          { target_file: "src/middleware/auth.py", content: created?.content },
          { size: 9 },
        ),
        ...toCall("call_004", "edit_file", { target_file: "src/main.py", edits: [] }),
        ...toCall("call_005", "run_terminal_cmd", { command: "pip install PyJWT" }),
      ],
      { promptTokens: 1000, completionTokens: 1000 },
    ),
    ...toChange("call_003", "create", created),
    ...toChange("call_004", "edit", edited),
    toResult("call_005", {
      output: "Successfully installed PyJWT-2.8.0",
      durationMs: 3200,
      effect: {
        kind: "command",
        command: "pip install PyJWT",
        workingDirectory: "/w",
        exitCode: 0,
        signal: "",
        stdout: "Successfully installed PyJWT-2.8.0",
        stderr: "",
        timedOut: false,
        background: false,
        permissions: ["network"],
      },
    }),
    ...toTurn(3, toTextDeltas(contentOf(example, 8), 3), { promptTokens: 1200, completionTokens: 50 }),
    { ...endTurn, time: startTime + 8750 },
  ]);

  test(
    verifies(
      ["R1", "R2", "R3", "N4", "N15", "N38"],
      "the example of section 4 comes out, with the settled differences",
    ),
    () => {
      const response = toResponse(log);
      const documents = example.documents.map((document) => structuredClone(document) as Writable);
      // N38: the working directory is always sent. N15: the fence in the last text is a document of its own.
      Object.assign(documents[7]?.metadata ?? {}, { workingDirectory: "/w" });
      const [text = "", code = ""] = contentOf(example, 8).split("\n\n```python\n");
      documents[8] = { ...(documents[8] as Writable), content: text };
      documents.push({
        id: "doc_010",
        type: "code_block",
        sequence: 10,
        content: code.slice(0, -"\n```".length),
        metadata: { language: "python", purpose: "new_code" },
      });
      expect(toBaseResponse(response)).toEqual({ ...example, documents });
      expect(response.metadata).toMatchObject({ toolCallCount: 2, actionCount: 5, turnCount: 3 });
      expect(verify(assemble(log), { requireExtensions: true })).toBeUndefined();
    },
  );

  test(verifies(["R15", "R16", "R14", "N54"], "the series of section 5 come out"), () => {
    const text = readStream("section-5.2-text.sse");
    const toolCall = readStream("section-5.3-tool-call.sse");
    const events = assemble(
      toRunLog([
        ...toTurn(1, [
          ...["Ich analysiere ", "zuerst die bestehende ", "Projektstruktur..."].map((piece): RunEventBody => ({
            type: "text_delta",
            text: piece,
          })),
          ...toCall("call_001", "read_file", { target_file: "src/main.py" }),
        ]),
        toResult("call_001", { output: "import os\n..." }),
        endTurn,
      ]),
    );
    const base = toBaseEvents(events).map(({ event, data }) => ({ event, data }));
    // Blanks at the end of a delta wait for what comes behind them (N26), so the cuts differ; all else is equal.
    expect(base.slice(0, 5).filter(({ event }) => event !== "content_delta")).toEqual(
      text.filter(({ event }) => event !== "content_delta").map(({ event, data }) => ({ event, data })),
    );
    expect(joinDeltas(base.slice(0, 5))).toBe(joinDeltas(text));
    expect(base.slice(5, 10)).toEqual(toolCall.map(({ event, data }) => ({ event, data })));
    expect(base.slice(10)).toHaveLength(1);
  });
});

type Writable = { -readonly [Field in keyof ChatResponse["documents"][number]]: unknown } & { metadata: object };

function contentOf(response: ChatResponse, index: number): string {
  return response.documents[index]?.content ?? "";
}

function argumentsOf(response: ChatResponse, index: number): Readonly<Record<string, unknown>> {
  const document = response.documents[index];
  return document?.type === "tool_call" ? document.metadata.arguments : {};
}

function dataOf(response: ChatResponse, index: number): string {
  const document = response.documents[index];
  return document?.type === "tool_call" ? String(document.metadata.result.data) : "";
}

function toChange(
  callId: string,
  operation: "create" | "edit",
  document: ChatResponse["documents"][number] | undefined,
): RunEventBody[] {
  if (document?.type !== "file_edit") return [];
  const { filePath, diff } = document.metadata;
  const change = {
    operation,
    filePath,
    path: `/w/${filePath}`,
    content: document.content,
    ...(diff ? { diff } : {}),
    linesAdded: 1,
    linesRemoved: 0,
    bytes: 1,
  };
  return [toResult(callId, { effect: { kind: "file_edit", changes: [change] } })];
}

function joinDeltas(events: readonly Pick<StreamEvent, "event" | "data">[]): string {
  return events.map(({ data }) => ("delta" in data ? data.delta : "")).join("");
}
