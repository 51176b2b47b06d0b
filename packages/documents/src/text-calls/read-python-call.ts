/** Reads a call in the syntax of Python, as Gemma and Gemini write it: `print(default_api.read_file(path="a"))`. */
import type { JsonObject } from "../model-streams/read-json.ts";
import { LiteralReader } from "../read-literal.ts";
import type { FindTool, TextCall } from "./read-call-value.ts";

/** Reads a list of such calls, each with literals as named arguments; undefined for any other text. */
export function readPythonCalls(text: string, findTool: FindTool): readonly TextCall[] | undefined {
  const reader = new LiteralReader(text);
  const calls: TextCall[] = [];
  reader.take(/\s*/y);
  while (!reader.isAtEnd) {
    const call = readStatement(reader, findTool);
    if (!call) return undefined;
    calls.push(call);
    reader.take(/[\s;]*/y);
  }
  return calls.length > 0 ? calls : undefined;
}

function readStatement(reader: LiteralReader, findTool: FindTool): TextCall | undefined {
  const isPrinted = reader.take(/\s*print\s*\(/y) !== undefined;
  reader.take(/\s*(?:await\s+)?/y);
  const name = reader.take(/[A-Za-z_][\w.-]*/y) ?? "";
  const toolName = findTool(name);
  if (toolName === undefined || reader.take(/\s*\(/y) === undefined) return undefined;
  const args = readArguments(reader);
  if (!args || (isPrinted && reader.take(/\s*\)/y) === undefined)) return undefined;
  return { toolName, arguments: args };
}

/** Reads named arguments up to the closing bracket. */
function readArguments(reader: LiteralReader): JsonObject | undefined {
  const args: [string, unknown][] = [];
  while (reader.take(/\s*,?\s*\)/y) === undefined) {
    reader.take(/\s*,/y);
    const name = reader.take(/\s*[A-Za-z_]\w*\s*=/y);
    const value = name && reader.readValue();
    if (!value) return undefined;
    args.push([name.replace("=", "").trim(), value.value]);
  }
  return Object.fromEntries(args);
}
