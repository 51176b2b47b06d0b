import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeWithFixtures } from "../../../test/support/fixtures.ts";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import {
  explainChatResponse,
  explainDocument,
  explainStreamEvent,
  isChatResponse,
  isDocument,
  isStreamEvent,
} from "../src/validate.ts";
import { response, stream } from "./event-log.ts";

function toDocument(type: string, content: string | null, metadata: object, status?: string): object {
  return { id: "doc_001", type, sequence: 1, content, metadata, ...(status === undefined ? {} : { status }) };
}

const todo = { id: "a", content: "A", status: "pending", dependencies: [] };
const question = { id: "q", text: "Q?", options: [{ id: "o", label: "O" }] };
const diff = { oldString: "a", newString: "b", startLine: 1, endLine: 1 };

/** Each type with a minimal document, and what must not be: which field, with which value, and the problem told. */
const cases: readonly [string, string | null, Record<string, unknown>, readonly [string, unknown, string][]][] = [
  ["text", "a", { format: "markdown" }, [["format", "html", "one of markdown, plain"]]],
  [
    "code_reference",
    "a",
    { filePath: "a.ts", startLine: 1, endLine: 2, language: "" },
    [
      ["filePath", null, "a string"],
      ["startLine", "1", "an integer of at least 1"],
      ["endLine", 1.5, "an integer of at least 1"],
      ["language", 7, "a string"],
    ],
  ],
  [
    "code_block",
    "",
    { language: "", purpose: "example" },
    [["purpose", "fun", "one of new_code, example, suggestion"]],
  ],
  [
    "file_edit",
    "b",
    { filePath: "a", operation: "edit", language: "", diff },
    [
      ["operation", "move", "one of create, edit, delete, rename"],
      ["linesAdded", -1, "an integer of at least 0"],
    ],
  ],
  [
    "tool_call",
    null,
    { toolName: "t", toolCallId: "c", arguments: {}, result: { status: "success", data: null }, duration_ms: 0.5 },
    [
      ["toolName", null, "a string"],
      ["arguments", [], "an object"],
      ["result", "ok", "an object"],
      ["duration_ms", "1", "a number of at least 0"],
    ],
  ],
  [
    "terminal_command",
    null,
    { command: "ls", exitCode: -1, output: "", duration_ms: 1, permissions: [] },
    [
      ["exitCode", null, "an integer"],
      ["permissions", {}, "an array"],
    ],
  ],
  [
    "plan",
    "# P",
    { title: "", overview: "", todos: [todo], format: "markdown" },
    [
      ["todos", null, "an array"],
      ["format", "plain", "markdown"],
    ],
  ],
  ["clarification", "?", { questions: [question] }, [["questions", {}, "an array"]]],
  ["error", "e", { errorCode: "X", source: "agent", details: "" }, [["details", null, "a string"]]],
  ["todo_update", null, { todos: [{ id: "a", status: "completed" }] }, [["todos", 1, "an array"]]],
];

describe("documents", () => {
  test.each(cases)(
    verifies(
      ["R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13"],
      "%s: its fields are required and of their type",
    ),
    (type, content, metadata, wrong) => {
      const document = toDocument(type, content, metadata);
      expect(explainDocument(document)).toBeUndefined();
      expect(isDocument(document)).toBe(true);
      for (const field of Object.keys(metadata)) {
        const { [field]: _, ...rest } = metadata;
        expect(explainDocument(toDocument(type, content, rest))).toBe(`metadata.${field}: is missing`);
        expect(explainDocument(toDocument(type, content, rest, "in_progress"))).toBeUndefined();
      }
      for (const [field, value, expected] of wrong) {
        for (const status of [undefined, "in_progress"]) {
          const problem = explainDocument(toDocument(type, content, { ...metadata, [field]: value }, status));
          expect(problem).toBe(`metadata.${field}: expected ${expected}`);
        }
      }
    },
  );

  test(verifies(["N11", "R3"], "content is a string or null, by type"), () => {
    for (const [type, content, metadata] of cases) {
      const other = content === null ? "" : null;
      const isFine = type === "file_edit";
      expect(isDocument(toDocument(type, other, metadata))).toBe(isFine);
      expect(explainDocument({ ...toDocument(type, content, metadata), content: 7 })).toMatch(/^content: expected/);
    }
  });

  test(verifies("R3", "the problem tells the path"), () => {
    expect(explainDocument(null)).toBe("expected an object");
    expect(explainDocument({})).toBe("id: is missing");
    expect(explainDocument({ ...toDocument("text", "", { format: "plain" }), sequence: 0 })).toBe(
      "sequence: expected an integer of at least 1",
    );
    const plan = { title: "", overview: "", todos: [todo, { ...todo, dependencies: [1] }], format: "markdown" };
    expect(explainDocument(toDocument("plan", "", plan))).toBe("metadata.todos[1].dependencies[0]: expected a string");
    const asked = { questions: [{ ...question, options: [{ id: "o" }] }] };
    expect(explainDocument(toDocument("clarification", "", asked))).toBe(
      "metadata.questions[0].options[0].label: is missing",
    );
  });

  test(
    verifies(
      ["N31", "R7", "N34"],
      "an edit has its diff, unless the file is too large; null reads as absent elsewhere",
    ),
    () => {
      const edit = { filePath: "a", operation: "edit", language: "" };
      expect(explainDocument(toDocument("file_edit", "b", { ...edit, diff: null }))).toBe("metadata.diff: is missing");
      expect(isDocument(toDocument("file_edit", "b", { ...edit, truncated: true }))).toBe(true);
      expect(isDocument(toDocument("file_edit", "b", { ...edit, operation: "create", diff: null }))).toBe(true);
      expect(isDocument(toDocument("file_edit", "b", { ...edit, diff: { ...diff, startLine: "1" } }))).toBe(false);
    },
  );

  test(verifies(["N13", "X14", "N1"], "unknown types and fields are fine, private enum values too"), () => {
    expect(isDocument(toDocument("hologram", null, { any: "thing" }))).toBe(true);
    expect(isDocument(toDocument("hologram", "x", {}))).toBe(true);
    expect(isDocument({ ...toDocument("text", "", { format: "_html", mood: [] }), extra: 1 })).toBe(true);
    expect(isDocument(toDocument("__proto__", null, {}))).toBe(true);
    expect(isDocument(toDocument("hologram", null, []))).toBe(false);
  });

  test(verifies("N8", "durations stay snake case"), () => {
    const [, , , , [, , metadata] = []] = cases;
    expect(metadata).toHaveProperty("duration_ms");
  });
});

describe("responses", () => {
  test(verifies(["R2", "N1", "R1"], "all fields are required, also while streaming"), () => {
    expect(explainChatResponse(response)).toBeUndefined();
    expect(isChatResponse({ ...response, status: "streaming", extra: 1 })).toBe(true);
    for (const field of Object.keys(response)) {
      const { [field as keyof typeof response]: _, ...rest } = response;
      expect(explainChatResponse(rest)).toBe(`${field}: is missing`);
    }
  });

  test.each([
    ["mode", "yolo", "mode: expected one of agent, plan, ask, debug"],
    ["created", "yesterday", "created: expected a time such as 2026-02-23T10:30:00Z"],
    ["status", "cancelled", "status: expected one of completed, streaming, error"],
    ["usage", { promptTokens: 1, completionTokens: 1 }, "usage.totalTokens: is missing"],
    [
      "metadata",
      { duration_ms: 1, toolCallCount: -1, turnCount: 0 },
      "metadata.toolCallCount: expected an integer of at least 0",
    ],
    ["documents", [{}], "documents[0].id: is missing"],
    ["documents", response.documents.slice(1), "documents[0].sequence: expected 1"],
  ])(verifies(["R2", "N10"], "%s cannot be %j"), (field, value, problem) => {
    expect(explainChatResponse({ ...response, [field]: value })).toBe(problem);
    expect(isChatResponse({ ...response, [field]: value })).toBe(false);
  });
});

describe("stream events", () => {
  test(verifies(["R14", "N43", "X15"], "events in their envelope"), () => {
    for (const event of stream) expect(explainStreamEvent(event)).toBeUndefined();
    const { id: _, ...nameless } = stream[2] ?? { id: 0 };
    expect(explainStreamEvent(nameless)).toBe("id: is missing");
    expect(explainStreamEvent({ ...stream[2], id: 0 })).toBe("id: expected an integer of at least 1");
    expect(explainStreamEvent({ id: 1, event: "content_delta", data: { documentId: "doc_001" } })).toBe(
      "data.delta: is missing",
    );
    expect(
      explainStreamEvent({ id: 1, event: "tool_result", data: { documentId: "d", result: { status: "success" } } }),
    ).toBe("data.result.data: is missing");
    expect(isStreamEvent({ id: 1, event: "content_delta", data: "x" })).toBe(false);
  });

  test(verifies("X14", "unknown events pass with an object as payload"), () => {
    expect(isStreamEvent({ id: 1, event: "_private", data: {} })).toBe(true);
    expect(isStreamEvent({ id: 1, event: "__proto__", data: {} })).toBe(true);
    expect(isStreamEvent({ id: 1, event: "_private", data: null })).toBe(false);
  });
});

test("guards never throw", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => {
      expect(isDocument(value) || isChatResponse(value) || isStreamEvent(value)).toBe(false);
    }),
    { numRuns: chooseRuns(2000) },
  );
});

describeWithFixtures("documents", (folder) => {
  test(
    verifies(["R2", "R3", "N15"], "the examples of the base text are valid, also the text that holds a fence"),
    () => {
      const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), "utf8"));
      expect(explainChatResponse(read("section-4-response.json"))).toBeUndefined();
      const documents = read("section-3-documents.json") as unknown[];
      expect(documents.map(explainDocument)).toEqual(documents.map(() => undefined));
      expect(documents).toHaveLength(11);
    },
  );
});
