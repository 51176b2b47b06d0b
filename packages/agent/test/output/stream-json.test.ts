import type { RunEventBody } from "@sheaf/protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStreamJsonProjection } from "../../src/output/stream-json.ts";
import { parseValidLines } from "../../../../test/support/schema-check.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { project, runStart, toCall, toLog, toTexts, turnEnd } from "./log.ts";

const session = "c6b62c6f-7ead-4fd6-9922-e952131177ff";
const runEnd: RunEventBody = { type: "run_end", reason: "end_turn" };

const lines = (...bodies: readonly RunEventBody[]) =>
  parseValidLines("stream-json", project(createStreamJsonProjection(), toLog(runStart, ...bodies)));

const texts = (objects: readonly Record<string, unknown>[]) =>
  objects
    .filter((line) => line.type === "assistant")
    .map((line) => (line.message as { content: [{ text: string }] }).content[0].text);

describe("the frame", () => {
  test(verifies(["C4", "C5", "C6"], "the first two lines, byte for byte, keys in order"), () => {
    const [init, user] = project(createStreamJsonProjection(), toLog(runStart));
    expect(init).toBe(
      `{"type":"system","subtype":"init","apiKeySource":"none","cwd":"/w","session_id":"${session}","model":"Sheaf Offline","permissionMode":"default","schema_version":"1.0","sheaf_version":"0.1.0","sandbox":"disabled","trusted":false}\n`,
    );
    expect(user).toBe(
      `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"do it"}]},"session_id":"${session}"}\n`,
    );
  });

  test(verifies(["C4", "C7", "C10", "C14"], "text and last line, byte for byte, keys in order"), () => {
    const printed = project(createStreamJsonProjection(), toLog(runStart, ...toTexts("Hi"), turnEnd, runEnd));
    expect(printed[2]).toBe(
      `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hi"}]},"session_id":"${session}","timestamp_ms":1000010}\n`,
    );
    expect(printed[3]).toBe(
      `{"type":"result","subtype":"success","duration_ms":30,"duration_api_ms":30,"is_error":false,"result":"Hi","session_id":"${session}","request_id":"10e11780-df2f-45dc-a1ff-4540af32e9c0","usage":{"inputTokens":10,"outputTokens":5,"cacheReadTokens":4,"cacheWriteTokens":0},"finish_reason":"end_turn","duration_model_ms":7,"num_turns":1,"sandbox":"disabled"}\n`,
    );
    expect(printed).toHaveLength(4);
  });
});

test(verifies(["C6", "C240"], "a message that came in the midst is a user line there"), () => {
  const added: RunEventBody = { type: "user_message", messageId: "chat_b", message: "use tabs" };
  const all = lines(...toTexts("I read"), added, ...toTexts("Done"), turnEnd, runEnd);
  expect(all.map(({ type }) => type)).toEqual(["system", "user", "assistant", "user", "assistant", "result"]);
  expect(all[3]).toMatchObject({ message: { role: "user", content: [{ type: "text", text: "use tabs" }] } });
});

describe("assistant lines", () => {
  test(verifies("C7", "chunks go through one to one, with exactly one content item and no model_call_id"), () => {
    const all = lines(...toTexts("I'll ", "read", " it"), turnEnd, runEnd);
    expect(texts(all)).toEqual(["I'll ", "read", " it"]);
    expect(all.some((line) => "model_call_id" in line)).toBe(false);
  });

  test(verifies("C7", "a blank chunk, and one equal to the one before, is joined to the next"), () => {
    expect(texts(lines(...toTexts("a", "\n", "b"), turnEnd, runEnd))).toEqual(["a", "\nb"]);
    expect(texts(lines(...toTexts("ha", "ha", "ha"), turnEnd, runEnd))).toEqual(["ha", "haha"]);
    expect(texts(lines(...toTexts(" ", "  ", "x"), turnEnd, runEnd))).toEqual(["   x"]);
  });

  test(verifies("C24", "blank chunks without end cost as much each as the first"), () => {
    const projection = createStreamJsonProjection();
    const [blank] = toLog(...toTexts(" "));
    const pushMany = (): number => {
      const before = performance.now();
      for (let count = 0; count < 50_000; count += 1) projection.push(blank!);
      return performance.now() - before;
    };
    const first = pushMany();
    for (let round = 0; round < 4; round += 1) pushMany();
    expect(pushMany()).toBeLessThan(first * 4 + 200);
  });

  test(verifies("C7", "what is held back goes out at the end of the text, and before a tool call"), () => {
    expect(texts(lines(...toTexts("a", "\n"), turnEnd, runEnd))).toEqual(["a", "\n"]);
    // Equal lines in a row would be dropped by readers: the text goes out in two pieces.
    expect(texts(lines(...toTexts("ha", "ha"), turnEnd, runEnd))).toEqual(["ha", "h", "a"]);
    const call = toCall("call_1", "list_dir", { target_directory: "." }, { effect: { kind: "list" } });
    const all = lines(...toTexts("a", "\n"), ...call, turnEnd, runEnd);
    expect(all.map((line) => line.subtype ?? line.type)).toEqual([
      "init",
      "user",
      "assistant",
      "assistant",
      "started",
      "completed",
      "success",
    ]);
  });

  test(verifies("C7", "for any chunks: joined texts are the result, none is empty, times never fall"), () => {
    const chunk = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom(" ", "\n", "a", "a", "ha", "\u{1F600}"));
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 30 }), (chunks) => {
        const all = lines(...toTexts(...chunks), turnEnd, runEnd);
        const result = all.at(-1)!;
        expect(texts(all).join("")).toBe(chunks.join(""));
        expect(result.result).toBe(chunks.join(""));
        expect(texts(all).every((text) => text !== "")).toBe(true);
        const times = all.flatMap((line) => (typeof line.timestamp_ms === "number" ? [line.timestamp_ms] : []));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
      }),
    );
  });
});

describe("tool calls", () => {
  test(verifies(["C8", "C9"], "read: started with its arguments, completed with arguments and result"), () => {
    const effect = {
      kind: "read",
      path: "/w/README.md",
      isEmpty: false,
      exceededLimit: false,
      totalLines: 3,
      totalChars: 4,
      fileSize: 4,
      startLine: 1,
      endLine: 3,
    } as const;
    const call = toCall("call_1", "read_file", { target_file: "README.md", limit: 5 }, { output: "a\nb\n", effect });
    const [, , started, completed] = lines(...call, ...toTexts("ok"), turnEnd, runEnd);
    expect(started).toEqual({
      type: "tool_call",
      subtype: "started",
      call_id: "call_1",
      tool_call: { readToolCall: { args: { path: "README.md", limit: 5 } } },
      session_id: session,
      timestamp_ms: 1_000_020,
    });
    expect(completed).toMatchObject({
      subtype: "completed",
      call_id: "call_1",
      tool_call: {
        readToolCall: {
          args: { path: "README.md", limit: 5 },
          result: {
            success: { content: "a\nb\n", isEmpty: false, exceededLimit: false, totalLines: 3, totalChars: 4 },
          },
        },
      },
    });
  });

  test(verifies(["C8", "C9"], "a refused call of a tool without its own shape is completed with its arguments"), () => {
    const error = { code: "X", message: "why", details: "" };
    const call = toCall("call_1", "rename_file", { source_file: "a" }, { status: "rejected", error });
    const completed = lines(...call, turnEnd, runEnd).find((line) => line.subtype === "completed");
    const result = { rejected: { reason: "why" } };
    expect(completed!.tool_call).toEqual({
      function: { name: "rename_file", arguments: '{"source_file":"a"}', result },
    });
  });

  test(verifies("C8", "parallel calls interleave, each with one started and one completed"), () => {
    const [startA, argumentsA, resultA] = toCall("call_a", "read_file", { target_file: "a" }, { status: "error" });
    const [startB, argumentsB, resultB] = toCall("call_b", "read_file", { target_file: "b" }, { status: "error" });
    const all = lines(startA!, startB!, argumentsA!, argumentsB!, resultB!, resultA!, ...toTexts("x"), turnEnd, runEnd);
    const order = all.filter((line) => line.type === "tool_call").map((line) => [line.subtype, line.call_id].join(" "));
    expect(order).toEqual(["started call_a", "started call_b", "completed call_b", "completed call_a"]);
  });
});

describe("the end", () => {
  test(verifies(["C20", "C22"], "a failure is one result line with code, message and retryable"), () => {
    const error = {
      code: "RATE_LIMITED",
      message: "too many requests",
      source: "provider",
      details: "",
      retryable: true,
      resetsAt: "2026-01-01T00:00:00Z",
    };
    const all = lines(...toTexts("so far"), turnEnd, { type: "run_end", reason: "error", error });
    expect(all.at(-1)).toEqual({
      type: "result",
      subtype: "error",
      duration_ms: 30,
      duration_api_ms: 30,
      is_error: true,
      result: "so far",
      session_id: session,
      request_id: "10e11780-df2f-45dc-a1ff-4540af32e9c0",
      error: {
        code: "RATE_LIMITED",
        message: "too many requests",
        retryable: true,
        resets_at: "2026-01-01T00:00:00Z",
      },
      usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 0 },
      duration_model_ms: 7,
      num_turns: 1,
      sandbox: "disabled",
    });
    expect(all.filter((line) => line.type === "result")).toHaveLength(1);
  });
});

describe("thinking", () => {
  const reasoning: RunEventBody = { type: "reasoning_delta", text: "hm" };
  test(verifies("C12", "is left out by default, whatever comes"), () => {
    const all = lines(reasoning, ...toTexts("x"), turnEnd, runEnd);
    expect(all.map((line) => line.type)).toEqual(["system", "user", "assistant", "result"]);
  });

  test(verifies("C12", "comes as delta and completed lines when asked for, and is not part of the result"), () => {
    const projection = createStreamJsonProjection({ includeThinking: true });
    const log = toLog(runStart, reasoning, reasoning, ...toTexts("x"), turnEnd, runEnd);
    const all = parseValidLines("stream-json", project(projection, log));
    expect(all.map((line) => line.subtype ?? line.type)).toEqual([
      "init",
      "user",
      "delta",
      "delta",
      "completed",
      "assistant",
      "success",
    ]);
    expect(all.at(-1)!.result).toBe("x");
  });
});
