/** A call in the syntax of Python, as Gemma and Gemini write it: `print(default_api.read_file(path="a"))`. */
import type { JsonObject } from "../model-streams/read-json.ts";
import type { FindTool, TextCall } from "./read-call-value.ts";

/** Undefined for anything except a list of such calls, each with literals as named arguments. */
export function readPythonCalls(text: string, findTool: FindTool): readonly TextCall[] | undefined {
  const reader = new PythonReader(text);
  const calls: TextCall[] = [];
  while (!reader.isAtEnd) {
    const call = readStatement(reader, findTool);
    if (!call) return undefined;
    calls.push(call);
    reader.take(/[\s;]*/y);
  }
  return calls.length > 0 ? calls : undefined;
}

function readStatement(reader: PythonReader, findTool: FindTool): TextCall | undefined {
  const isPrinted = reader.take(/\s*print\s*\(/y) !== undefined;
  reader.take(/\s*(?:await\s+)?/y);
  const name = reader.take(/[A-Za-z_][\w.-]*/y) ?? "";
  const toolName = findTool(name.replace(/\.call$/, ""));
  if (toolName === undefined || reader.take(/\s*\(/y) === undefined) return undefined;
  const args = reader.readArguments();
  if (!args || (isPrinted && reader.take(/\s*\)/y) === undefined)) return undefined;
  return { toolName, arguments: args };
}

const constants: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["True", true],
  ["False", false],
  ["None", null],
  ["true", true],
  ["false", false],
  ["null", null],
]);

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\n": "" };

class PythonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#text.slice(this.#at).trim() === "";
  }

  /** Takes what matches here; `pattern` is sticky. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  /** Named arguments up to the closing bracket. */
  readArguments(): JsonObject | undefined {
    const args: Record<string, unknown> = {};
    while (this.take(/\s*,?\s*\)/y) === undefined) {
      this.take(/\s*,/y);
      const name = this.take(/\s*[A-Za-z_]\w*\s*=/y);
      const value = name && this.#readValue();
      if (name === undefined || value === undefined || value === "") return undefined;
      args[name.replace("=", "").trim()] = value.value;
    }
    return args;
  }

  #readValue(): { readonly value: unknown } | undefined {
    const text = this.#readText();
    if (text !== undefined) return { value: text };
    const number = this.take(/\s*-?\d+(?:\.\d+)?/y);
    if (number !== undefined) return { value: Number(number) };
    const word = this.take(/\s*(?:True|False|None|true|false|null)\b/y);
    if (word !== undefined) return { value: constants.get(word.trim()) };
    if (this.take(/\s*\[/y) !== undefined) return this.#readList();
    return this.take(/\s*\{/y) === undefined ? undefined : this.#readObject();
  }

  #readText(): string | undefined {
    const quote = this.take(/\s*(?:"""|'''|"|')/y)?.trim();
    if (quote === undefined) return undefined;
    const end = new RegExp(String.raw`((?:[^\\]|\\[\s\S])*?)${quote}`, "y");
    const found = this.take(end);
    if (found === undefined) return undefined;
    return found.slice(0, -quote.length).replaceAll(/\\([\s\S])/g, (_, escaped: string) => escapes[escaped] ?? escaped);
  }

  #readList(): { readonly value: unknown } | undefined {
    const list: unknown[] = [];
    while (this.take(/\s*,?\s*\]/y) === undefined) {
      this.take(/\s*,/y);
      const value = this.#readValue();
      if (!value) return undefined;
      list.push(value.value);
    }
    return { value: list };
  }

  #readObject(): { readonly value: unknown } | undefined {
    const fields: Record<string, unknown> = {};
    while (this.take(/\s*,?\s*\}/y) === undefined) {
      this.take(/\s*,/y);
      const name = this.#readText();
      const value = name !== undefined && this.take(/\s*:/y) !== undefined ? this.#readValue() : undefined;
      if (name === undefined || !value) return undefined;
      fields[name] = value.value;
    }
    return { value: fields };
  }
}
