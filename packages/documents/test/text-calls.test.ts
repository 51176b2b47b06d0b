/** Calls that models write as text, in the dialects of open models. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { describeWithFixtures } from "../../../test/support/fixtures.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createTextCallReader } from "../src/text-calls/text-call-reader.ts";

const toolNames = ["read_file", "run_terminal_cmd", "edit_file", "todo_write"];

interface ReadTurn {
  readonly text: string;
  readonly calls: readonly (readonly [string, unknown])[];
  readonly finishReason: string;
  readonly heldBack: readonly string[];
}

/** Reads the text in pieces of this length. */
function readPieces(text: string, size: number, mayRun?: (text: string) => boolean): ReadTurn & { shown: string[] } {
  let ids = 0;
  const reader = createTextCallReader({ toolNames, newCallId: () => `call_${(ids += 1)}`, ...(mayRun && { mayRun }) });
  const end: ModelEvent = {
    type: "turn_end",
    finishReason: "stop",
    rawFinishReason: "stop",
    usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
    modelMs: 0,
  };
  const shown: string[] = [];
  const events: ModelEvent[] = [];
  for (let at = 0; at < text.length; at += size) {
    const found = reader.push({ type: "text_delta", text: text.slice(at, at + size) });
    events.push(...found);
    shown.push(found.map((event) => (event.type === "text_delta" ? event.text : "")).join(""));
  }
  events.push(...reader.push(end));
  const last = events.at(-1)!;
  return {
    shown,
    text: events.map((event) => (event.type === "text_delta" ? event.text : "")).join(""),
    calls: events.flatMap((event) => {
      if (event.type !== "tool_call_arguments") return [];
      const start = events.find((one) => one.type === "tool_call_start" && one.callId === event.callId);
      expect(start).toMatchObject({ origin: "text" });
      return [[start?.type === "tool_call_start" ? start.toolName : "", event.arguments] as const];
    }),
    finishReason: last.type === "turn_end" ? last.finishReason : "",
    heldBack: reader.heldBack,
  };
}

function read(text: string, mayRun?: (text: string) => boolean): ReadTurn {
  const { shown: _, ...whole } = readPieces(text, text.length, mayRun);
  for (const size of [1, 2, 3, 7, 20]) {
    const { shown: __, ...cut } = readPieces(text, size, mayRun);
    expect(cut, `in pieces of ${size}`).toEqual(whole);
  }
  return whole;
}

const path = { target_file: "a.txt" };
const json = JSON.stringify({ name: "read_file", arguments: path });
const command = { command: "echo '}' \"a\" && ls" };

/** One call of `read_file` with `path`, except where a row says more. */
const dialects: readonly (readonly [string, string, (readonly (readonly [string, unknown])[])?])[] = [
  ["Hermes, Qwen", `<tool_call>\n${json}\n</tool_call>`],
  ["Hermes without its end", `<tool_call>\n${json}`],
  [
    "Hermes, two calls",
    `<tool_call>${json}</tool_call>\n<tool_call>${json}</tool_call>`,
    [
      ["read_file", path],
      ["read_file", path],
    ],
  ],
  [
    "Hermes with a text of arguments",
    `<tool_call>{"name":"read_file","arguments":${JSON.stringify(JSON.stringify(path))}}</tool_call>`,
  ],
  [
    "Qwen Coder",
    "<tool_call>\n<function=read_file>\n<parameter=target_file>\na.txt\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "Qwen Coder without the first tag",
    "<function=read_file>\n<parameter=target_file>\na.txt\n</parameter>\n</function>\n</tool_call>",
  ],
  ["Llama, function", `<function=read_file>${JSON.stringify(path)}</function>`],
  ["GLM", "<tool_call>read_file\n<arg_key>target_file</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>"],
  ["a fence of JSON", `\`\`\`json\n${json}\n\`\`\``],
  ["a fence without language", `\`\`\`\n${json}\n\`\`\``],
  ["a fence with many lines", `\`\`\`json\n${JSON.stringify(JSON.parse(json), undefined, 2)}\n\`\`\`\n`],
  ["a fence of a list", `\`\`\`json\n[${json}]\n\`\`\``],
  ["bare JSON", json],
  ["Llama's parameters", JSON.stringify({ type: "function", name: "read_file", parameters: path })],
  ["ReAct's names", JSON.stringify({ action: "read_file", action_input: path })],
  ["tool and args", JSON.stringify({ tool: "read_file", args: path })],
  [
    "tool_calls",
    JSON.stringify({
      tool_calls: [{ id: "1", type: "function", function: { name: "read_file", arguments: JSON.stringify(path) } }],
    }),
  ],
  ["Mistral", `[TOOL_CALLS] [${json}]`],
  ["Mistral, newer", `[TOOL_CALLS]read_file[ARGS]${JSON.stringify(path)}`],
  [
    "Mistral, newer, two",
    `[TOOL_CALLS]read_file${JSON.stringify(path)}[TOOL_CALLS]read_file${JSON.stringify(path)}`,
    [
      ["read_file", path],
      ["read_file", path],
    ],
  ],
  ["Llama, tag", `<|python_tag|>${json}`],
  ["Llama, tag and its end", `<|python_tag|>${json}<|eom_id|>`],
  ["Llama, a call of Python", '<|python_tag|>read_file.call(target_file="a.txt")<|eom_id|>'],
  ["Gemma", '```tool_code\nread_file(target_file="a.txt")\n```'],
  ["Gemini", "```tool_code\nprint(default_api.read_file(target_file='a.txt'))\n```"],
  [
    "Gemini, two",
    "```tool_code\nread_file(target_file='a.txt')\nrun_terminal_cmd(command='ls')\n```",
    [
      ["read_file", path],
      ["run_terminal_cmd", { command: "ls" }],
    ],
  ],
  [
    "invoke",
    '<function_calls>\n<invoke name="read_file">\n<parameter name="target_file">a.txt</parameter>\n</invoke>\n</function_calls>',
  ],
  [
    "Kimi",
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>${JSON.stringify(path)}<|tool_call_end|><|tool_calls_section_end|>`,
  ],
  [
    "DeepSeek",
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n\`\`\`json\n${JSON.stringify(path)}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ],
  [
    "gpt-oss",
    `<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>${JSON.stringify(path)}<|call|>`,
  ],
  [
    "braces and quotes in a text",
    `<tool_call>${JSON.stringify({ name: "run_terminal_cmd", arguments: command })}</tool_call>`,
    [["run_terminal_cmd", command]],
  ],
  [
    "lists in Python",
    "```tool_code\ntodo_write(todos=[{'id': '1', 'content': \"it's\", 'done': True}], merge=False)\n```",
    [["todo_write", { todos: [{ id: "1", content: "it's", done: true }], merge: false }]],
  ],
];

describe("a turn that ends with a call is a call", () => {
  const rows = dialects.map(([title, text, calls = [["read_file", path] as const]]) => [title, text, calls] as const);
  test.each(rows)(verifies("N127", "%s"), (_, text, calls) => {
    expect(read(text)).toEqual({ text: "", calls, finishReason: "tool_calls", heldBack: [] });
    const before = read(`I look at it.\n\n${text}`);
    expect(before).toEqual({ text: "I look at it.\n\n", calls, finishReason: "tool_calls", heldBack: [] });
  });
});

describe("everything else stays text", () => {
  test.each([
    ["a call in the middle", `Write this:\n${json}\nThen wait.`],
    ["a fence in the middle", `So:\n\n\`\`\`json\n${json}\n\`\`\`\n\nThat reads the file.`],
    ["a tag in a sentence", "Qwen writes <tool_call> before each call."],
    ["a tool that is not there", '<tool_call>{"name":"fly","arguments":{}}</tool_call>'],
    ["other JSON", '```json\n{"name":"sheaf","version":"1.0.0"}\n```'],
    ["JSON without arguments", '{"name":"read_file"}'],
    ["code that calls a function", "```python\nread_file(target_file='a.txt')\n```"],
    ["a brace", "{"],
    ["the beginning of a tag", "a <tool_"],
    ["two objects, one of them no call", `${json}\n{"a":1}`],
    ["a list of numbers", "[1, 2]"],
  ])(verifies("N127", "%s"), (_, text) => {
    expect(read(text)).toEqual({ text, calls: [], finishReason: "stop", heldBack: [] });
  });
});

test.each([
  ["cut off", json.slice(0, -4)],
  ["cut off in a tag", `<tool_call>\n${json.slice(0, -4)}`],
  ["cut off in a fence", `\`\`\`json\n${json.slice(0, -4)}`],
  ["cut off in a parameter", "<function=edit_file>\n<parameter=target_file>a</parameter>\n<parameter=content>b"],
  [
    "without a parameter's end",
    '<invoke name="edit_file">\n<parameter name="target_file">a</parameter>\n<parameter name="content">b</invoke>',
  ],
  ["with a quote too many", '<tool_call>{"name":"read_file","arguments":{"target_file":"a"b"}}</tool_call>\n'],
  ["of Python without names", '```tool_code\nread_file("a.txt")\n```'],
])(verifies("N127", "a call %s stays text, and is named"), (_, text) => {
  const tool = text.includes("edit_file") ? "edit_file" : "read_file";
  expect(read(`So:\n${text}`)).toEqual({ text: `So:\n${text}`, calls: [], finishReason: "stop", heldBack: [tool] });
  if (/[>`]\s*$/.test(text)) expect(read(`${text}\n\nThat is how a call looks.`).heldBack).toEqual([]);
});

test(verifies("N127", "a call that may only be quoted stays text, and is named"), () => {
  const text = `See:\n<tool_call>${json}</tool_call>`;
  expect(read(text, (call) => !call.includes("read_file"))).toEqual({
    text,
    calls: [],
    finishReason: "stop",
    heldBack: ["read_file"],
  });
});

test(verifies("N127", "text is held back only while it can become a call"), () => {
  const { shown } = readPieces("One {two} <three> `four` ```ts\nfive\n``` six.", 1);
  // A sign that opens a call waits for the next one.
  const longest: number = Math.max(
    ...shown
      .join("|")
      .split("|")
      .map(({ length }) => length),
  );
  expect(longest).toBeLessThanOrEqual(10);
  expect(
    readPieces('```json\n{"a": 1,\n"b": 2}\n```\nend', 1).shown.findIndex((piece) => piece.includes("{")),
  ).toBeLessThan(14);
});

test(verifies("N127", "a native call in the turn leaves the text alone"), () => {
  const reader = createTextCallReader({ toolNames, newCallId: () => "call_1" });
  const start: ModelEvent = { type: "tool_call_start", callId: "c", toolName: "read_file", documentType: "tool_call" };
  const events = [
    ...reader.push({ type: "text_delta", text: `<tool_call>${json}` }),
    ...reader.push(start),
    ...reader.push({ type: "text_delta", text: "</tool_call>" }),
  ];
  expect(events.map(({ type }) => type)).toEqual(["text_delta", "tool_call_start", "text_delta"]);
});

describeWithFixtures("markdown", (folder) => {
  const files = readdirSync(join(folder, "answers"));
  test(verifies("N127", "no real answer is taken for a call, and each stays as it is"), () => {
    for (const file of files) {
      const text = readFileSync(join(folder, "answers", file), "utf8");
      const { shown: _, ...turn } = readPieces(text, 5);
      expect(turn, file).toEqual({ text, calls: [], finishReason: "stop", heldBack: [] });
    }
    expect(files.length).toBeGreaterThan(10);
  });
});
