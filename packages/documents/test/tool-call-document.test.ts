import { Buffer } from "node:buffer";
import type { RunEventBody } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble, toResponse } from "../src/assembler.ts";
import { endTurn, toCall, toDocuments, toResult, toRunLog, toTurn } from "./run-log.ts";

test(
  verifies(
    ["R16", "N44", "N45", "X6", "N46"],
    "the series: start, arguments as they come, live output, result, end with everything",
  ),
  () => {
    const events = assemble(
      toRunLog([
        ...toTurn(1, toCall("call_1", "read_file", { a: 1 }, { size: 4, providerCallId: "toolu_9" })),
        { type: "tool_output_delta", callId: "call_1", stream: "stderr", delta: "half" },
        toResult("call_1", { output: "text", durationMs: 45 }),
        endTurn,
      ]),
    );
    const documentId = "doc_001";
    const origin = { toolName: "read_file", toolCallId: "call_1", providerToolCallId: "toolu_9" };
    const result = { status: "success", data: "text" };
    expect(events.slice(1, -1).map(({ event, data }) => ({ event, data }))).toEqual([
      { event: "document_start", data: { id: documentId, type: "tool_call", sequence: 1, metadata: origin } },
      { event: "tool_call_start", data: { documentId, toolName: "read_file", toolCallId: "call_1" } },
      { event: "arguments_delta", data: { documentId, delta: '{"a"' } },
      { event: "arguments_delta", data: { documentId, delta: ":1}" } },
      { event: "tool_call_arguments", data: { documentId, arguments: { a: 1 } } },
      { event: "output_delta", data: { documentId, stream: "stderr", delta: "half" } },
      { event: "tool_result", data: { documentId, result } },
      {
        event: "document_end",
        data: { documentId, metadata: { ...origin, arguments: { a: 1 }, result, duration_ms: 45 } },
      },
    ]);
  },
);

test(verifies(["R8", "N29"], "the document holds name, our id, the provider's id, arguments, result and time"), () => {
  const [document] = toDocuments([
    ...toCall("call_1", "grep_search", { pattern: "x" }, { providerCallId: "call_0" }),
    toResult("call_1", { output: "a:1", durationMs: 3 }),
  ]);
  expect(document).toEqual({
    id: "doc_001",
    type: "tool_call",
    sequence: 1,
    content: null,
    metadata: {
      toolName: "grep_search",
      toolCallId: "call_1",
      providerToolCallId: "call_0",
      arguments: { pattern: "x" },
      result: { status: "success", data: "a:1" },
      duration_ms: 3,
    },
  });
});

test(verifies("N30", "arguments that do not parse are {} with what the model wrote"), () => {
  const start = toCall("call_1", "read_file", {}).slice(0, 1);
  const unparsed: RunEventBody = {
    type: "tool_call_arguments",
    callId: "call_1",
    arguments: {},
    rawArguments: "{oops",
  };
  const error = { code: "INVALID_ARGUMENTS", message: "No JSON", details: "" };
  const [document] = toDocuments([...start, unparsed, toResult("call_1", { status: "error", error })]);
  expect(document?.metadata).toMatchObject({ arguments: {}, rawArguments: "{oops", result: { status: "error" } });
});

test.each([
  ["error", "FILE_NOT_FOUND", true],
  ["rejected", "PERMISSION_DENIED", true],
  ["cancelled", "CANCELLED", undefined],
] as const)(
  verifies(["N36", "N39", "R12"], "a call with status %s has result error, and an error document right behind it"),
  (status, code, recoverable) => {
    const error = { code, message: "It failed: src/a.ts", details: "more" };
    const [document, failure] = toDocuments([
      ...toCall("call_1", "read_file", { target_file: "src/a.ts" }),
      toResult("call_1", { status, error }),
    ]);
    expect(document?.metadata).toMatchObject({
      result: { status: "error", data: { errorCode: code, message: "It failed: src/a.ts" } },
    });
    expect(failure).toEqual({
      id: "doc_002",
      type: "error",
      sequence: 2,
      content: "It failed: src/a.ts",
      metadata: {
        errorCode: code,
        source: "read_file",
        details: "more",
        relatedDocumentId: "doc_001",
        ...(recoverable === undefined ? {} : { recoverable }),
      },
    });
  },
);

test(verifies("N39", "a failure that tells nothing still has a code and a message"), () => {
  const documents = toDocuments([...toCall("call_1", "read_file", {}), toResult("call_1", { status: "rejected" })]);
  expect(documents[1]).toMatchObject({
    content: "read_file ended with status rejected",
    metadata: { errorCode: "PERMISSION_DENIED", details: "" },
  });
});

test(verifies("N36", "cut data says so"), () => {
  const [document] = toDocuments([
    ...toCall("call_1", "read_file", {}),
    toResult("call_1", { output: "begin", truncated: true, bytes: 5000 }),
  ]);
  expect(document?.metadata).toMatchObject({
    result: { status: "success", data: "begin", truncated: true, bytes: 5000 },
  });
});

test(verifies(["N36", "N55"], "data that does not fit into one event is cut"), () => {
  const output = "ü".repeat(300_000);
  const log = toRunLog([...toTurn(1, toCall("call_1", "read_file", {})), toResult("call_1", { output }), endTurn]);
  const result = assemble(log).find(({ event }) => event === "tool_result");
  expect(Buffer.byteLength(JSON.stringify(result?.data))).toBeLessThanOrEqual(256 * 1024);
  expect(result?.data).toMatchObject({ result: { truncated: true, bytes: 600_000 } });
});

test(verifies(["N48", "N10"], "parallel calls are open side by side, in order of their start"), () => {
  const log = toRunLog([
    ...toTurn(1, [...toCall("call_1", "read_file", { n: 1 }), ...toCall("call_2", "read_file", { n: 2 })]),
    toResult("call_2", { output: "two" }),
    toResult("call_1", { output: "one" }),
    endTurn,
  ]);
  const { documents } = toResponse(log);
  expect(documents.map(({ id, metadata }) => [id, "result" in metadata && metadata.result.data])).toEqual([
    ["doc_001", "one"],
    ["doc_002", "two"],
  ]);
  expect(verify(assemble(log))).toBeUndefined();
});

test("a call that was never started, started twice or is over does nothing", () => {
  const call = toCall("call_1", "read_file", { a: 1 });
  const output: RunEventBody = { type: "tool_output_delta", callId: "call_1", stream: "stdout", delta: "x" };
  const log = toRunLog([
    ...toTurn(1, [toResult("call_9"), output, ...call.slice(0, 1), output, ...call, ...call]),
    toResult("call_1"),
    toResult("call_1"),
    output,
    endTurn,
  ]);
  expect(verify(assemble(log), { requireExtensions: true })).toBeUndefined();
  expect(toResponse(log).documents).toHaveLength(1);
});
