import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { toBaseEvents } from "../src/base-form.ts";
import type { StreamEventBody } from "../src/index.ts";
import { createVerifier, verify } from "../src/verify.ts";
import { done, responseStart, stream, toStream, usage } from "./event-log.ts";

const start = (type: string, sequence = 1, id = `doc_00${sequence}`): StreamEventBody =>
  ({ event: "document_start", data: { id, type, sequence } }) as StreamEventBody;
const delta = (documentId = "doc_001", text = "x"): StreamEventBody => ({
  event: "content_delta",
  data: { documentId, delta: text },
});
const end = (documentId = "doc_001", data: object = { finalContent: "x" }): StreamEventBody => ({
  event: "document_end",
  data: { documentId, ...data },
});
const call = (documentId = "doc_001"): StreamEventBody => ({
  event: "tool_call_start",
  data: { documentId, toolName: "t", toolCallId: "call_1" },
});
const values: StreamEventBody = { event: "tool_call_arguments", data: { documentId: "doc_001", arguments: {} } };
const result: StreamEventBody = {
  event: "tool_result",
  data: { documentId: "doc_001", result: { status: "success", data: "" } },
};
const output: StreamEventBody = {
  event: "output_delta",
  data: { documentId: "doc_001", stream: "stdout", delta: "x" },
};
const piece: StreamEventBody = { event: "arguments_delta", data: { documentId: "doc_001", delta: "x" } };
const text = [start("text"), delta(), end()];

function clauseOf(bodies: readonly StreamEventBody[], requireExtensions = false): string | undefined {
  return verify(toStream(bodies), { requireExtensions })?.clause;
}

describe("a good stream", () => {
  test(verifies(["X13", "N44", "N48", "N49"], "has no violation, with extensions and without"), () => {
    expect(verify(stream, { requireExtensions: true })).toBeUndefined();
    expect(verify(stream)).toBeUndefined();
    expect(verify(toBaseEvents(stream))).toBeUndefined();
  });

  test(
    verifies(
      ["X14", "N13"],
      "may hold unknown events; a base stream may hold unknown types, Sheaf's only private ones",
    ),
    () => {
      const odd = toStream([
        responseStart,
        { event: "news", data: {} } as never,
        start("_chart"),
        delta(),
        end("doc_001", { metadata: {} }),
        done,
      ]);
      expect(verify(odd, { requireExtensions: true })).toBeUndefined();
      const chart = [responseStart, start("chart"), end("doc_001", { metadata: {} }), done];
      expect(clauseOf(chart)).toBeUndefined();
      expect(clauseOf(chart, true)).toBe("N13");
    },
  );
});

describe("ids and places", () => {
  test.each<[string, number[]]>([
    ["fall", [1, 3, 2]],
    ["repeat", [1, 2, 2]],
    ["start at 0", [0, 1, 2]],
    ["are no integers", [1, 1.5, 2]],
    ["do not start at 1", [5, 6, 7]],
  ])(verifies("X1", "ids that %s"), (_, ids) => {
    const events = toStream([responseStart, ...text, done]).map((event, index) => ({
      ...event,
      id: ids[index] ?? 9 + index,
    }));
    expect(verify(events)?.clause).toBe("X1");
  });

  test(verifies(["N50", "N51"], "done is there, once, and last"), () => {
    expect(clauseOf([...text, done, done])).toBe("N50");
    expect(clauseOf([...text, done, start("text", 2)])).toBe("N50");
    expect(clauseOf(text)).toBe("N51");
    expect(clauseOf([])).toBe("N51");
    expect(clauseOf([...text, { event: "done", data: {} } as never])).toBe("N50");
  });

  test(verifies(["N50", "N6"], "done of Sheaf carries the whole response but the documents; totals add up"), () => {
    const base: StreamEventBody = { event: "done", data: { usage } };
    expect(clauseOf([...text, base])).toBeUndefined();
    expect(
      clauseOf([responseStart, start("text"), end("doc_001", { finalContent: "", metadata: {} }), base], true),
    ).toBe("N50");
    expect(clauseOf([...text, { event: "done", data: { usage: { ...usage, totalTokens: 8 } } }])).toBe("N6");
  });

  test(verifies("N49", "response_start is first, once, whole, and sent by Sheaf"), () => {
    expect(clauseOf([...text, done], true)).toBe("N49");
    expect(clauseOf([...text, responseStart])).toBe("N49");
    expect(clauseOf([responseStart, responseStart])).toBe("N49");
    expect(clauseOf([{ event: "response_start", data: { id: "chat_1" } } as never])).toBe("N49");
  });

  test(verifies("N44", "there is at least one item"), () => {
    expect(clauseOf([responseStart, done])).toBe("N44");
  });

  test(verifies("N2", "status error has an error document at the end"), () => {
    const failed = { event: "done", data: { usage, status: "error" } } as const;
    expect(clauseOf([...text, failed])).toBe("N2");
    expect(clauseOf([start("error"), end("doc_001", { finalContent: "" }), failed])).toBeUndefined();
  });

  test(verifies("N10", "sequences are dense, from 1"), () => {
    expect(clauseOf([start("text", 2)])).toBe("N10");
    expect(clauseOf([...text, start("text", 3)])).toBe("N10");
    expect(clauseOf([...text, start("text", 1)])).toBe("N10");
  });

  test(verifies("N9", "ids of documents are doc_ and the sequence"), () => {
    expect(clauseOf([start("text", 1, "doc_1")])).toBe("N9");
    expect(clauseOf([start("text", 1, "a")])).toBe("N9");
  });
});

describe("the series of a document", () => {
  test(verifies("N48", "nothing before its start or after its end, and all are ended before done"), () => {
    expect(clauseOf([delta()])).toBe("N48");
    expect(clauseOf([...text, delta()])).toBe("N48");
    expect(clauseOf([...text, end()])).toBe("N48");
    expect(clauseOf([start("text"), done])).toBe("N48");
  });

  test(verifies("N48", "one document made of model text at a time; those of tools beside it"), () => {
    expect(clauseOf([start("text"), start("code_block", 2)])).toBe("N48");
    expect(clauseOf([start("file_edit"), start("code_reference", 2), start("plan", 3), start("text", 4)])).toBe("N48");
    const beside = [start("file_edit"), start("text", 2), delta(), delta("doc_002"), end(), end("doc_002"), done];
    expect(clauseOf(beside)).toBeUndefined();
  });

  test(verifies("N45", "tool events belong to tool calls only"), () => {
    for (const type of ["text", "file_edit", "terminal_command", "plan"]) {
      for (const event of [call(), piece, values, result]) expect(clauseOf([start(type), event])).toBe("N45");
    }
  });

  test.each<[string, StreamEventBody[]]>([
    ["a delta of a tool call", [start("tool_call"), delta()]],
    ["a delta of a command", [start("terminal_command"), delta()]],
    ["a delta of a todo update", [start("todo_update"), delta()]],
    ["output of a text", [start("text"), output]],
    ["arguments before the start of the call", [start("tool_call"), values]],
    ["a result before the arguments", [start("tool_call"), call(), result]],
    ["pieces behind the arguments", [start("tool_call"), call(), values, piece]],
    ["output before the arguments", [start("tool_call"), call(), output]],
    ["two results", [start("tool_call"), call(), values, result, result]],
    ["an end without a result", [start("tool_call"), call(), values, end("doc_001", {})]],
  ])(verifies("N44", "%s"), (_, bodies) => {
    expect(clauseOf(bodies)).toBe("N44");
  });

  test(
    verifies(["N47", "N55"], "the final content: there iff content is a string, equal to the deltas of model text"),
    () => {
      expect(clauseOf([start("text"), delta(), end("doc_001", {})])).toBe("N47");
      expect(clauseOf([start("code_block"), delta(), end("doc_001", { finalContent: "y" })])).toBe("N47");
      expect(clauseOf([start("plan"), delta(), end("doc_001", { finalContent: "y" }), done])).toBeUndefined();
      expect(clauseOf([start("terminal_command"), end("doc_001", { finalContent: "" })])).toBe("N47");
      expect(clauseOf([start("file_edit"), end("doc_001", {}), done])).toBeUndefined();
      expect(clauseOf([start("file_edit"), delta(), end("doc_001", {})])).toBe("N47");
      const hashed = {
        finalContentSha256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
        finalContentLength: 1,
      };
      expect(clauseOf([start("text"), delta(), end("doc_001", hashed), done])).toBeUndefined();
      expect(clauseOf([start("text"), delta(), end("doc_001", { ...hashed, finalContentLength: 2 })])).toBe("N47");
      expect(clauseOf([start("text"), delta(), end("doc_001", { ...hashed, finalContentSha256: "00" })])).toBe("N47");
    },
  );

  test(verifies("N46", "Sheaf ends every document with its metadata"), () => {
    expect(clauseOf([responseStart, start("text"), delta(), end()], true)).toBe("N46");
  });

  test(verifies("N43", "a payload is an object"), () => {
    expect(clauseOf([{ event: "content_delta", data: "x" } as never])).toBe("N43");
  });
});

test(verifies("X13", "a violation tells clause, message and event; the verifier goes on behind it"), () => {
  const verifier = createVerifier();
  const events = toStream([
    ...text,
    delta(),
    { event: "approval_request", data: { documentId: "doc_009" } } as never,
    done,
  ]);
  expect(events.map((event) => verifier.push(event)).filter((violation) => violation !== undefined)).toEqual([
    { clause: "N48", message: "content_delta for doc_001 after its end", eventId: 4 },
    { clause: "N48", message: "approval_request for doc_009, which never started", eventId: 5 },
  ]);
  expect(verifier.end()).toBeUndefined();
});
