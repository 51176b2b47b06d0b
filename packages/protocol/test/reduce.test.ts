import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeWithFixtures } from "../../../test/support/fixtures.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createReducer, createStreamDecoder, reduce, type StreamEvent, toSnapshot } from "../src/index.ts";
import { done, response, responseStart, stream, toStream, usage } from "./event-log.ts";

/** Foreign events: whatever a server sends. */
function toForeign(events: readonly unknown[]): StreamEvent[] {
  return events as StreamEvent[];
}

describe("reducing", () => {
  test(
    verifies(["N53", "R2", "R15", "R16", "N46", "N47", "N50", "X4", "X6"], "a stream adds up to its response"),
    () => {
      const reducer = createReducer();
      for (const event of stream) reducer.push(event);
      expect(reducer.response).toEqual(response);
      expect(Object.keys(reducer.response)).toEqual(Object.keys(response));
      expect(reducer.lastEventId).toBe(stream.length);
      expect(reducer.ignored).toBe(0);
    },
  );

  test(verifies(["N1", "N3"], "an open document has status in_progress and what has arrived"), () => {
    expect(reduce(stream.slice(0, 3)).documents).toEqual([
      {
        id: "doc_001",
        type: "text",
        sequence: 1,
        content: "Hello ",
        metadata: { format: "markdown" },
        status: "in_progress",
      },
    ]);
    const [, call, command] = reduce(stream.slice(0, 13)).documents;
    expect(call?.metadata).toEqual({
      toolName: "read_file",
      toolCallId: "call_1",
      arguments: { a: 1 },
      draftOutput: "live",
    });
    expect(command).toMatchObject({
      content: null,
      metadata: { command: "ls", output: "one\ntwo\n" },
      status: "in_progress",
    });
  });

  test(verifies(["N1", "N53"], "before anything has come the response is streaming, with counts of 0"), () => {
    expect(reduce([])).toEqual({
      id: "",
      conversationId: "",
      model: "",
      mode: "agent",
      created: "",
      status: "streaming",
      documents: [],
      usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
      metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0 },
    });
  });

  test.each([
    ["", ["text", "code_reference", "code_block", "plan", "clarification", "error"]],
    [null, ["file_edit", "tool_call", "terminal_command", "todo_update"]],
  ] as const)(verifies("N11", "content starts as %j in %j"), (content, types) => {
    for (const type of types) {
      const start = { event: "document_start", data: { id: "doc_001", type, sequence: 1 } } as const;
      expect(reduce(toStream([start])).documents[0]?.content).toBe(content);
    }
  });

  test(verifies("N55", "without the final content the joined deltas count"), () => {
    const events = toStream([
      { event: "document_start", data: { id: "doc_001", type: "text", sequence: 1 } },
      { event: "content_delta", data: { documentId: "doc_001", delta: "ab" } },
      { event: "document_end", data: { documentId: "doc_001", finalContentSha256: "00", finalContentLength: 2 } },
    ]);
    expect(reduce(events).documents[0]).toEqual({
      id: "doc_001",
      type: "text",
      sequence: 1,
      content: "ab",
      metadata: {},
    });
  });

  test(verifies("N2", "a base done tells no status: then the last document does"), () => {
    const base = { event: "done", data: { usage } } as const;
    const start = (type: "text" | "error") =>
      ({ event: "document_start", data: { id: "doc_001", type, sequence: 1 } }) as const;
    expect(reduce(toStream([start("text"), base]))).toMatchObject({ status: "completed", usage });
    expect(reduce(toStream([start("error"), base])).status).toBe("error");
  });

  test("the value that was read does not change, and unchanged documents stay the same objects", () => {
    const reducer = createReducer();
    for (const event of stream.slice(0, 10)) reducer.push(event);
    const before = reducer.response;
    const copy = structuredClone(before);
    expect(reducer.response).toBe(before);
    for (const event of stream.slice(10)) reducer.push(event);
    expect(before).toEqual(copy);
    expect(reducer.response.documents[0]).toBe(before.documents[0]);
    expect(reducer.response.documents[1]).not.toBe(before.documents[1]);
  });

  test("an event that is about no document leaves the list the same object", () => {
    const reducer = createReducer();
    for (const event of stream.slice(0, 10)) reducer.push(event);
    const { documents } = reducer.response;
    reducer.push({ id: 10_000, event: "reasoning_delta", data: { delta: "hm" } });
    expect(reducer.ignored).toBe(0);
    expect(reducer.response.documents).toBe(documents);
  });
});

describe("what is ignored", () => {
  test(verifies(["N53", "X1", "X2"], "events that were seen: an id that is not higher than the last"), () => {
    const twice = [...stream.slice(0, 8), ...stream.slice(2, 6), ...stream.slice(3)];
    const reducer = createReducer();
    for (const event of twice) reducer.push(event);
    expect(reducer.response).toEqual(response);
    expect(reducer.ignored).toBe(0);
  });

  test(
    verifies(
      ["N1", "X14", "N13"],
      "unknown events and fields, events for documents that are not open; they are counted",
    ),
    () => {
      const odd = toForeign([
        responseStart,
        { event: "shiny_new_event", data: { documentId: "doc_001" } },
        {
          event: "document_start",
          data: { id: "doc_001", type: "text", sequence: 1, color: "red", metadata: { mood: 1 } },
        },
        { event: "content_delta", data: { documentId: "doc_009", delta: "lost" } },
        { event: "content_delta", data: { documentId: "doc_001", delta: "kept" } },
        { event: "content_delta", data: { documentId: "doc_001", delta: 7 } },
        { event: "output_delta", data: { documentId: "doc_001", stream: "stdout", delta: "x" } },
        { event: "document_start", data: { id: "doc_001", type: "error", sequence: 2 } },
        { event: "document_end", data: { documentId: "doc_001" } },
        { event: "content_delta", data: { documentId: "doc_001", delta: "late" } },
        { event: "document_end", data: null },
        { event: "tool_result", data: "text" },
        done,
        { event: "document_start", data: { id: "doc_002", type: "text", sequence: 2 } },
      ]).map((event, index) => ({ ...event, id: index + 1 }));
      const reducer = createReducer();
      for (const event of toForeign(odd)) reducer.push(event);
      expect(reducer.response.documents).toEqual([
        { id: "doc_001", type: "text", sequence: 1, content: "kept", metadata: { mood: 1 } },
      ]);
      expect(reducer.ignored).toBe(10);
    },
  );

  test(verifies("N13", "a document of an unknown type is kept: clients render its content"), () => {
    const events = toForeign([
      { id: 1, event: "document_start", data: { id: "doc_001", type: "_chart", sequence: 1 } },
      { id: 2, event: "content_delta", data: { documentId: "doc_001", delta: "1,2" } },
    ]);
    expect(reduce(events.slice(0, 1)).documents[0]?.content).toBeNull();
    expect(reduce(events).documents[0]).toMatchObject({ type: "_chart", content: "1,2" });
  });

  test(verifies("S-71", "prototype keys of foreign JSON are plain fields"), () => {
    const text = `{"id":1,"event":"document_start","data":{"id":"__proto__","type":"text","sequence":1,"metadata":{"__proto__":{"polluted":1}}}}
{"id":2,"event":"content_delta","data":{"documentId":"__proto__","delta":"a"}}
{"id":3,"event":"document_end","data":{"documentId":"__proto__","metadata":{"__proto__":{"polluted":2},"constructor":{"prototype":{"polluted":3}}}}}
{"id":4,"event":"done","data":{"usage":{"__proto__":{"polluted":4}},"metadata":{"__proto__":{"polluted":5}}}}
{"id":5,"event":"constructor","data":{}}
{"id":6,"event":"snapshot","data":{"response":{"documents":[{"id":"toString","type":"text","sequence":1,"__proto__":{"content":"x"}}],"metadata":{"__proto__":{}}}}}`;
    const reducer = createReducer();
    for (const line of text.split("\n")) reducer.push(JSON.parse(line) as StreamEvent);
    const [document] = reducer.response.documents;
    expect(document).toMatchObject({ id: "__proto__", content: "a" });
    expect(Object.getPrototypeOf(document?.metadata)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(reducer.response.metadata)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("snapshots", () => {
  test(verifies(["N3", "X3"], "a snapshot of a streaming response names the last event it includes"), () => {
    const reducer = createReducer();
    for (const event of stream.slice(0, 7)) reducer.push(event);
    expect(toSnapshot(reducer)).toEqual({
      ...reducer.response,
      metadata: { ...reducer.response.metadata, lastEventId: 7 },
    });
    for (const event of stream) reducer.push(event);
    expect(toSnapshot(reducer)).toBe(reducer.response);
  });

  test(verifies("X3", "a snapshot replaces everything, also in the middle; merged deltas may follow"), () => {
    const snapshot: StreamEvent = { id: 50, event: "snapshot", data: { response: reduce(stream.slice(0, 3)) } };
    const delta: StreamEvent = { id: 60, event: "content_delta", data: { documentId: "doc_001", delta: "world" } };
    const reducer = createReducer();
    for (const event of [...stream.slice(0, 12), snapshot, delta]) reducer.push(event);
    expect(reducer.response.documents).toHaveLength(1);
    expect(reducer.response.documents[0]).toMatchObject({ content: "Hello world", status: "in_progress" });
    expect(reducer.lastEventId).toBe(60);
  });

  test(verifies("X3", "a snapshot of a response that has ended needs no done"), () => {
    const reducer = createReducer();
    reducer.push({ id: 9, event: "snapshot", data: { response } });
    expect(reducer.response).toEqual(response);
  });

  test(verifies("X8", "open approvals are in the snapshot"), () => {
    const request = {
      approvalId: "appr_1",
      documentId: "doc_001",
      title: "",
      description: "",
      subject: { type: "command" as const },
      options: [],
      expiresAt: "2026-02-23T11:00:00Z",
    };
    const reducer = createReducer();
    for (const event of toStream([responseStart, { event: "approval_request", data: request }])) reducer.push(event);
    expect(reducer.response.approvals).toEqual([request]);
    const other = createReducer();
    other.push({ id: 2, event: "snapshot", data: { response: toSnapshot(reducer) } });
    expect(other.response.approvals).toEqual([request]);
    other.push({ id: 3, event: "approval_resolved", data: { approvalId: "appr_1", optionId: "no", by: "user" } });
    expect(other.response).not.toHaveProperty("approvals");
  });

  test("a snapshot that is none changes nothing", () => {
    const reducer = createReducer();
    for (const event of stream.slice(0, 5)) reducer.push(event);
    const before = reducer.response;
    for (const bad of toForeign([{ response: null }, { response: {} }, { response: { documents: "x" } }])) {
      reducer.push({ id: reducer.lastEventId + 1, event: "snapshot", data: bad } as unknown as StreamEvent);
    }
    expect(reducer.response).toBe(before);
    expect(reducer.ignored).toBe(3);
  });
});

test("a long answer costs the same per delta at its end as at its beginning", () => {
  const reducer = createReducer();
  for (const event of stream.slice(0, 2)) reducer.push(event);
  for (let id = 3; id < 300_000; id += 1) {
    reducer.push({ id, event: "content_delta", data: { documentId: "doc_001", delta: "four" } });
  }
  expect(reducer.response.documents[0]?.content).toHaveLength(4 * 299_997);
});

describeWithFixtures("documents", (folder) => {
  test.each(["section-5.2-text.sse", "section-5.3-tool-call.sse"])(
    verifies(["R14", "R15", "R16", "N54"], "%s, a base stream, is read without complaint"),
    (name) => {
      const decoder = createStreamDecoder();
      const reducer = createReducer();
      for (const event of [...decoder.push(readFileSync(join(folder, name), "utf8")), ...decoder.end()])
        reducer.push(event);
      expect([decoder.unreadable, reducer.ignored]).toEqual([0, 0]);
      const [document] = reducer.response.documents;
      if (document?.type === "text") {
        expect(document.content).toBe("Ich analysiere zuerst die bestehende Projektstruktur...");
      } else {
        expect(document).toEqual({
          id: "doc_002",
          type: "tool_call",
          sequence: 2,
          content: null,
          metadata: {
            toolName: "read_file",
            toolCallId: "call_001",
            arguments: { target_file: "src/main.py" },
            result: { status: "success", data: "import os\n..." },
          },
        });
      }
    },
  );
});
