/** Twenty transcripts in each of eight dialects: which calls run, with their exact arguments, and which texts stay an answer. */
import type { ModelEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createTextCallReader } from "../src/text-calls/text-call-reader.ts";

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const toolNames = ["read_file", "run_terminal_cmd", "edit_file", "todo_write", "grep_search", "list_dir"];

const calls: readonly Call[] = [
  { name: "read_file", args: { target_file: "src/app.ts" } },
  { name: "read_file", args: { target_file: "docs/größe 中文.md", offset: 12, limit: 40 } },
  { name: "run_terminal_cmd", args: { command: "npm test -- --run \"a b\" | grep -c '✓' && echo done" } },
  { name: "run_terminal_cmd", args: { command: "cat <<'EOF' > a.txt\n{\"a\": [1, 2]}\nEOF", background: true } },
  {
    name: "edit_file",
    args: {
      target_file: "a.py",
      old_string: 'if x == "a":\n    return {1: 2}',
      new_string: "return None  # it's done\n",
    },
  },
  { name: "edit_file", args: { target_file: "b.md", old_string: "# A\n", new_string: "# B\n\n- `x`\n- <b>\n" } },
  { name: "grep_search", args: { pattern: String.raw`\bfoo\(\d+\)`, path: "src" } },
  {
    name: "todo_write",
    args: {
      merge: false,
      todos: [
        { id: "1", content: "Read it", status: "pending" },
        { id: "2", content: 'Say "yes"', status: "completed" },
      ],
    },
  },
  { name: "list_dir", args: { path: "." } },
  { name: "list_dir", args: {} },
];

/** The writing of a transcript: its number chooses. */
interface Style {
  readonly number: number;
  readonly isWide: boolean;
}

const toJson = (value: unknown, { isWide }: Style): string => JSON.stringify(value, undefined, isWide ? 2 : undefined);

/** As small models write JSON: a comma before the end, raw line ends, Python's quotes. */
const toSloppyJson = (value: unknown, style: Style): string => {
  const json = toJson(value, style);
  if (style.number % 5 === 1) return json.replace(/\s*\}$/, (end) => `,${end}`);
  if (style.number % 5 === 2) return json.replaceAll(String.raw`\n`, "\n");
  return style.number % 5 === 3 ? toPython(value) : json;
};

function toPython(value: unknown): string {
  if (typeof value === "string") {
    if (value.includes("\n") && !value.includes("\\")) return `"""${value.replaceAll('"', String.raw`\"`)}"""`;
    return `'${value
      .replaceAll("\\", "\\\\")
      .replaceAll("'", String.raw`\'`)
      .replaceAll("\n", String.raw`\n`)}'`;
  }
  if (Array.isArray(value)) return `[${value.map(toPython).join(", ")}]`;
  if (typeof value !== "object" || value === null)
    return value === true ? "True" : value === false ? "False" : String(value);
  return `{${Object.entries(value)
    .map(([name, item]) => `${toPython(name)}: ${toPython(item)}`)
    .join(", ")}}`;
}

const toText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const list = (all: readonly Call[], write: (call: Call, index: number) => string, between = "\n"): string =>
  all.map(write).join(between);

const dialects: Readonly<Record<string, (all: readonly Call[], style: Style) => string>> = {
  "Hermes and Qwen": (all, style) => {
    const text = list(all, ({ name, args }) => {
      const call = style.number % 3 === 0 ? { arguments: args, name } : { name, arguments: args };
      return `<tool_call>\n${toSloppyJson(call, style)}\n</tool_call>`;
    });
    return style.number % 4 === 3 ? text.replace(/\s*<\/tool_call>$/, "") : text;
  },
  "Llama's tag": (all, style) => {
    const body =
      style.number % 3 === 0 && all.length === 1
        ? `${all[0]!.name}.call(${toNamed(all[0]!.args)})`
        : list(all, ({ name, args }) => toSloppyJson({ type: "function", name, parameters: args }, style), "; ");
    return `<|python_tag|>${body}${["", "<|eom_id|>", "<|eot_id|>"][style.number % 3]}`;
  },
  Mistral: (all, style) =>
    style.number % 2 === 0
      ? `[TOOL_CALLS]${style.number % 4 === 0 ? " " : ""}[${list(all, ({ name, args }) => toSloppyJson({ name, arguments: args, id: "a1B2c3D4e" }, style), ", ")}]`
      : list(
          all,
          ({ name, args }) =>
            `[TOOL_CALLS]${name}${style.number % 4 === 1 ? "[ARGS]" : ""}${toSloppyJson(args, style)}`,
          "",
        ),
  DeepSeek: (all, style) => {
    const text = list(
      all,
      ({ name, args }) =>
        `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${toSloppyJson(args, style)}\n\`\`\`<｜tool▁call▁end｜>`,
    );
    return `<｜tool▁calls▁begin｜>${text}${style.number % 3 === 0 ? "" : "<｜tool▁calls▁end｜>"}`;
  },
  "Gemma's tool_code": (all, style) => {
    const wrap = (text: string): string => (style.number % 3 === 0 ? `print(${text})` : text);
    const before = style.number % 4 === 0 ? "default_api." : "";
    return `\`\`\`tool_code\n${list(all, ({ name, args }) => wrap(`${before}${name}(${toNamed(args)})`))}\n\`\`\``;
  },
  "function=": (all, style) => {
    const [indent, inner] = style.number % 5 === 0 ? ["  ", "    "] : ["", ""];
    return list(all, ({ name, args }) => {
      if (style.number % 4 === 0) return `<function=${name}>${toSloppyJson(args, style)}</function>`;
      const parameters = Object.entries(args).map(([key, value]) => {
        const text = toText(value);
        // An indented value has one line: nobody knows which blanks of more lines are its own.
        return text.includes("\n")
          ? `<parameter=${key}>\n${text}\n</parameter>`
          : `${indent}<parameter=${key}>\n${inner}${text}\n${indent}</parameter>`;
      });
      const body = `<function=${name}>\n${parameters.join("\n")}\n</function>`;
      return style.number % 3 === 0 ? body : `<tool_call>\n${body}\n</tool_call>`;
    });
  },
  "a fence of JSON": (all, style) => {
    const values = all.map(({ name, args }) => ({ [style.number % 3 === 0 ? "tool" : "name"]: name, arguments: args }));
    const body = toSloppyJson(values.length === 1 ? values[0] : values, style);
    return `\`\`\`${["json", "", "tool_call"][style.number % 3]}\n${body}\n\`\`\``;
  },
  "bare JSON": (all, style) => {
    if (style.number % 4 === 3) {
      const written = all.map(({ name, args }) => ({
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      }));
      return toJson({ tool_calls: written }, style);
    }
    const field = ["arguments", "parameters", "args"][style.number % 3]!;
    return list(all, ({ name, args }) => toSloppyJson({ name, [field]: args }, style));
  },
};

function toNamed(args: Call["args"]): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}=${toPython(value)}`)
    .join(", ");
}

const beginnings = [
  "",
  "I'll look at it first.\n\n",
  "Sure! Here is the plan:\n\n1. Read `a.ts`\n2. Fix {the} bug\n\n",
  "```ts\nconst a = { b: 1 };\n```\n\nNow the call:\n",
  "Der Fehler liegt in <main>. Ich sehe nach.\n",
];
const ends = ["", "\n", "<|im_end|>", "\n\n"];

function readTurn(text: string, size: number) {
  const reader = createTextCallReader({ toolNames, newCallId: () => "call" });
  const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  const events: ModelEvent[] = [];
  for (let at = 0; at < text.length; at += size) events.push({ type: "text_delta", text: text.slice(at, at + size) });
  events.push({ type: "turn_end", finishReason: "stop", rawFinishReason: "stop", usage, modelMs: 0 });
  const read = events.flatMap((event) => reader.push(event));
  const names = read.flatMap((event) => (event.type === "tool_call_start" ? [event.toolName] : []));
  const args = read.flatMap((event) => (event.type === "tool_call_arguments" ? [event.arguments] : []));
  return { calls: names.map((name, index) => ({ name, args: args[index] })), heldBack: reader.heldBack };
}

test.each(Object.entries(dialects))(verifies("N127", "20 transcripts of %s"), (_, write) => {
  const shown: string[] = [];
  const wrong: unknown[] = [];
  for (let number = 0; number < 20; number += 1) {
    const style = { number, isWide: number % 7 > 3 };
    const chosen = calls.slice(number % calls.length).slice(0, number % 6 === 5 ? 3 : number % 6 === 4 ? 2 : 1);
    const text = beginnings[number % beginnings.length]! + write(chosen, style) + ends[number % ends.length]!;
    const whole = readTurn(text, text.length);
    expect(readTurn(text, 3), text).toEqual(whole);
    if (whole.calls.length === 0 && whole.heldBack.length === 0) shown.push(text);
    else if (JSON.stringify(whole.calls) !== JSON.stringify(chosen)) wrong.push({ text, calls: whole.calls });
  }
  expect(shown).toEqual([]);
  expect(wrong).toEqual([]);
});
