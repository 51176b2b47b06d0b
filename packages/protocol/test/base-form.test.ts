import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { baseEventNames, toBaseEvents, toBaseResponse } from "../src/base-form.ts";
import type { ChatResponse } from "../src/index.ts";
import { explainChatResponse } from "../src/validate.ts";
import { response, stream, usage } from "./event-log.ts";

describe("a stream without extensions", () => {
  test(verifies(["N54", "R14"], "has the seven events with their base fields only"), () => {
    const events = toBaseEvents(stream);
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(baseEventNames));
    const fields = new Map(events.map(({ event, data }) => [event, Object.keys(data)]));
    expect(Object.fromEntries(fields)).toEqual({
      document_start: ["id", "type", "sequence"],
      content_delta: ["documentId", "delta"],
      tool_call_start: ["documentId", "toolName", "toolCallId"],
      tool_call_arguments: ["documentId", "arguments"],
      tool_result: ["documentId", "result"],
      document_end: ["documentId", "finalContent"],
      done: ["usage"],
    });
    expect(events.at(-1)?.data).toEqual({ usage });
  });

  test(verifies(["N54", "N36"], "loses nested extensions too, and keeps the ids of the envelope"), () => {
    const [event] = toBaseEvents([
      {
        id: 9,
        event: "tool_result",
        data: { documentId: "doc_001", result: { status: "success", data: { deep: [1] }, truncated: true, bytes: 5 } },
      },
    ]);
    expect(event).toEqual({
      id: 9,
      event: "tool_result",
      data: { documentId: "doc_001", result: { status: "success", data: { deep: [1] } } },
    });
  });
});

describe("a response without extensions", () => {
  test(verifies(["N54", "N4"], "keeps what the base text knows"), () => {
    const base = toBaseResponse(response);
    expect(base.metadata).toEqual({ duration_ms: 9, toolCallCount: 1, turnCount: 2 });
    expect(base.documents.map(({ metadata }) => Object.keys(metadata))).toEqual([
      ["format"],
      ["toolName", "toolCallId", "arguments", "result", "duration_ms"],
      ["command", "workingDirectory", "exitCode", "output", "duration_ms", "permissions"],
      ["filePath", "operation", "language", "diff"],
    ]);
    expect(explainChatResponse(base)).toBeUndefined();
    expect(toBaseResponse(base)).toEqual(base);
  });

  test(
    verifies(["N54", "N13"], "loses extensions inside lists, the status of documents and what unknown types hold"),
    () => {
      const documents = [
        {
          id: "doc_001",
          type: "clarification",
          sequence: 1,
          content: "?",
          metadata: {
            toolName: "ask_question",
            questions: [{ id: "q", text: "Q", options: [{ id: "o", label: "O", hint: 1 }], allowText: true }],
          },
          status: "in_progress",
        },
        { id: "doc_002", type: "_chart", sequence: 2, content: null, metadata: { points: [1] } },
      ];
      const odd = { ...response, documents, approvals: [] } as unknown as ChatResponse;
      expect(toBaseResponse(odd).documents).toEqual([
        {
          id: "doc_001",
          type: "clarification",
          sequence: 1,
          content: "?",
          metadata: { questions: [{ id: "q", text: "Q", options: [{ id: "o", label: "O" }] }] },
        },
        { id: "doc_002", type: "_chart", sequence: 2, content: null, metadata: {} },
      ]);
      expect(toBaseResponse(odd)).not.toHaveProperty("approvals");
    },
  );
});
