import { reduce, type RunEvent } from "@sheaf/protocol";
import { explainChatResponse } from "@sheaf/protocol/validate";
import { verify } from "@sheaf/protocol/verify";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble, createAssembler, toResponse } from "../src/assembler.ts";
import { eventSoup, modelText, runLog } from "./run-log-arbitrary.ts";
import { endTurn, toCall, toResult, toRunLog, toTextDeltas, toTurn } from "./run-log.ts";
import { checkLaws, clauses } from "./stream-laws.ts";

describe("laws of the stream", () => {
  test(verifies([...clauses, "N9", "N10", "N13", "N45", "N46", "N50", "N51", "R14"], "hold for any run"), () => {
    const check = (log: readonly RunEvent[]): void => {
      expect(checkLaws(log).status).not.toBe("streaming");
    };
    fc.assert(fc.property(runLog, check), { numRuns: chooseRuns(200) });
  });

  test(
    verifies(
      ["N44", "N48", "S-71"],
      "whatever the log holds and however the model's arguments look, the grammar holds",
    ),
    () => {
      fc.assert(
        fc.property(eventSoup, (log) => {
          const events = assemble(log);
          expect(verify(events, { requireExtensions: true })).toBeUndefined();
          expect(explainChatResponse(throughJson(toResponse(log)))).toBeUndefined();
        }),
        { numRuns: chooseRuns(2000) },
      );
    },
  );

  test(verifies("N25", "chunk law: the cuts of the text do not change the documents"), () => {
    fc.assert(
      fc.property(modelText, fc.integer({ min: 1, max: 9 }), (text, size) => {
        const whole = toResponse(toRunLog([...toTurn(1, toTextDeltas(text)), endTurn]));
        const pieces = toResponse(toRunLog([...toTurn(1, toTextDeltas(text, size)), endTurn]));
        expect(pieces.documents).toEqual(whole.documents);
      }),
      { numRuns: chooseRuns(1000) },
    );
  });
});

describe("the response", () => {
  test(
    verifies(["N49", "X4", "X10", "X14", "N7"], "response_start comes first and tells everything about the response"),
    () => {
      const [first] = assemble(toRunLog([]), { heartbeatMs: 500, schema: "/schema" });
      expect(first).toEqual({
        id: 1,
        event: "response_start",
        data: {
          id: "chat_7f3a2b1c",
          conversationId: "conv_9e8d7c6b",
          model: "claude-4.6-opus",
          mode: "agent",
          created: "2026-02-23T10:30:00Z",
          status: "streaming",
          protocol: { version: "1.0", schema: "/schema" },
          heartbeat_ms: 500,
        },
      });
    },
  );

  test(verifies(["N50", "N5", "N6", "N7", "N4", "X4"], "done carries status, sums and counts"), () => {
    const events = assemble(
      toRunLog([
        ...toTurn(1, toCall("call_1", "read_file", {}), { promptTokens: 10, completionTokens: 5, reasoningTokens: 2 }),
        toResult("call_1"),
        ...toTurn(2, [{ type: "text_delta", text: "Done." }], { promptTokens: 20, completionTokens: 1 }),
        endTurn,
      ]),
    );
    expect(events.at(-1)).toMatchObject({
      event: "done",
      data: {
        id: "chat_7f3a2b1c",
        status: "completed",
        usage: { promptTokens: 30, completionTokens: 6, totalTokens: 36, reasoningTokens: 2 },
        metadata: {
          duration_ms: 90,
          toolCallCount: 1,
          turnCount: 2,
          actionCount: 1,
          contextTokensUsed: 21,
          finishReason: "end_turn",
        },
      },
    });
  });

  test(
    verifies(["N2", "N52", "R12"], "an end by anything but the agent is status error, and the last document says why"),
    () => {
      const log = toRunLog([
        { type: "turn_start", turn: 1 },
        { type: "text_delta", text: "I was" },
        {
          type: "run_end",
          reason: "cancelled",
          error: { code: "CANCELLED", message: "Cancelled by the user", source: "user", details: "", retryable: false },
        },
      ]);
      const response = toResponse(log);
      expect(response).toMatchObject({ status: "error", metadata: { finishReason: "cancelled" } });
      expect(response.documents).toEqual([
        { id: "doc_001", type: "text", sequence: 1, content: "I was", metadata: { format: "markdown" } },
        {
          id: "doc_002",
          type: "error",
          sequence: 2,
          content: "Cancelled by the user",
          metadata: { errorCode: "CANCELLED", source: "user", details: "" },
        },
      ]);
    },
  );

  test.each([
    ["cancelled", "CANCELLED"],
    ["refusal", "REFUSED"],
    ["max_tokens", "MAX_TOKENS"],
    ["budget", "BUDGET_TURNS"],
    ["error", "INTERNAL"],
  ] as const)(verifies("N2", "a run that ended with %s and tells no error has code %s"), (reason, code) => {
    const response = toResponse(toRunLog([{ type: "run_end", reason }]));
    expect(response.status).toBe("error");
    expect(response.metadata.finishReason).toBe(reason);
    expect(response.documents.at(-1)).toMatchObject({ type: "error", metadata: { errorCode: code } });
  });

  test(verifies(["N52", "N36", "N48"], "open calls end as cancelled before done"), () => {
    const log = toRunLog([
      { type: "turn_start", turn: 1 },
      ...toCall("call_1", "read_file", { target_file: "a" }),
      ...toCall("call_2", "write_file", { target_file: "b", content: "x" }).slice(0, 1),
      { type: "run_end", reason: "cancelled" },
    ]);
    const { documents } = toResponse(log);
    expect(documents.map(({ type }) => type)).toEqual(["tool_call", "error", "error"]);
    expect(documents[0]?.metadata).toMatchObject({
      result: { status: "error", data: { errorCode: "CANCELLED" } },
      duration_ms: 20,
    });
    expect(documents[1]?.metadata).toMatchObject({ errorCode: "CANCELLED", relatedDocumentId: "doc_001" });
    expect(documents[1]?.metadata).not.toHaveProperty("recoverable");
  });

  test(
    verifies(["N14", "X1"], "reasoning is no document; it is sent only on request, and ids do not depend on that"),
    () => {
      const log = toRunLog([
        { type: "turn_start", turn: 1 },
        { type: "reasoning_delta", text: "Let me see." },
        { type: "text_delta", text: "Hi" },
        endTurn,
      ]);
      const without = assemble(log);
      const including = assemble(log, { includeReasoning: true });
      expect(without.some(({ event }) => event === "reasoning_delta")).toBe(false);
      expect(including.filter(({ event }) => event !== "reasoning_delta")).toEqual(without);
      expect(including[1]).toEqual({ id: 2, event: "reasoning_delta", data: { delta: "Let me see." } });
      expect(reduce(including)).toEqual(reduce(without));
    },
  );

  test(verifies(["X8", "N7"], "approvals name the document of their call, and waiting time is told apart"), () => {
    const log = toRunLog([
      ...toTurn(1, toCall("call_1", "todo_write", { todos: [], merge: true })),
      {
        type: "approval_request",
        callId: "call_1",
        approvalId: "appr_1",
        title: "T",
        description: "D",
        subject: { type: "tool_call" },
        options: [{ id: "yes", label: "Yes", kind: "allow_once" }],
        argumentsHash: "",
        rules: [],
        expiresAt: "2026-02-23T11:00:00Z",
      },
      { type: "approval_resolved", approvalId: "appr_1", optionId: "yes", by: "user" },
      toResult("call_1"),
      endTurn,
    ]);
    const events = assemble(log);
    expect(events.map(({ event }) => event)).toEqual([
      "response_start",
      "document_start",
      "approval_request",
      "approval_resolved",
      "document_end",
      "done",
    ]);
    expect(events[2]?.data).toEqual({
      approvalId: "appr_1",
      documentId: "doc_001",
      title: "T",
      description: "D",
      subject: { type: "tool_call" },
      options: [{ id: "yes", label: "Yes", kind: "allow_once" }],
      expiresAt: "2026-02-23T11:00:00Z",
    });
    expect(reduce(events).metadata.waiting_ms).toBe(10);
    expect(reduce(events.slice(0, 3)).approvals).toHaveLength(1);
    expect(reduce(events.slice(0, 4))).not.toHaveProperty("approvals");
    expect(reduce(events)).not.toHaveProperty("approvals");
  });

  test(verifies(["N3", "N1"], "a log without its end is a streaming snapshot; unknown counts are 0"), () => {
    const log = toRunLog([
      { type: "turn_start", turn: 1 },
      { type: "text_delta", text: "Half a sen" },
    ]);
    expect(toResponse(log)).toEqual({
      id: "chat_7f3a2b1c",
      conversationId: "conv_9e8d7c6b",
      model: "claude-4.6-opus",
      mode: "agent",
      created: "2026-02-23T10:30:00Z",
      status: "streaming",
      documents: [
        {
          id: "doc_001",
          type: "text",
          sequence: 1,
          content: "Half a sen",
          metadata: { format: "markdown" },
          status: "in_progress",
        },
      ],
      usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
      metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0, lastEventId: 3 },
    });
  });

  test("nothing comes after run_end", () => {
    const assembler = createAssembler();
    for (const event of toRunLog([endTurn])) assembler.push(event);
    expect(assembler.push({ type: "text_delta", text: "late", seq: 9, time: 0 })).toEqual([]);
  });
});

describe("the cost of a delta", () => {
  test("does not grow with the answer: a long answer of small deltas keeps no text", () => {
    const assembler = createAssembler();
    for (const event of toRunLog([{ type: "turn_start", turn: 1 }])) assembler.push(event);
    let events = 0;
    for (let index = 0; index < 400_000; index += 1) {
      events += assembler.push({
        type: "text_delta",
        text: index % 16 === 0 ? "end\n" : "word",
        seq: index,
        time: 0,
      }).length;
    }
    expect(events).toBeGreaterThan(370_000);
    const [last] = assembler.push({ type: "run_end", reason: "end_turn", seq: 0, time: 0 });
    expect(last?.data).toMatchObject({ finalContentLength: 1_600_000 });
  });
});

function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
