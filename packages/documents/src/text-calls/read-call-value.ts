/** Reads a call as models write it in JSON, in many spellings. */
import { isJsonObject, readString, type JsonObject } from "../model-streams/read-json.ts";
import { readJsonObject } from "../read-literal.ts";

/** A call that a model wrote as text. */
export interface TextCall {
  readonly toolName: string;
  readonly arguments: JsonObject;
}

/** Returns the name of the run's tool that a model means; undefined if the run lacks it. */
export type FindTool = (name: string) => string | undefined;

const nameFields = ["name", "tool", "tool_name", "function_name", "function", "action"] as const;
const argumentFields = ["arguments", "parameters", "args", "input", "tool_input", "action_input", "params"] as const;

/** Finds tools by name, even by `functions.read_file:0`, `default_api.read_file` or `read_file.call`. */
export function createToolFinder(names: Iterable<string>): FindTool {
  const known = new Set(names);
  return (name) =>
    [name, name.replace(/^(?:functions|default_api|tools)\./, "").replace(/:\d+$|\.call$/, "")].find((one) =>
      known.has(one),
    );
}

/** Returns a value's calls of known tools; undefined for any other value. With `mayLack`, a name alone is a call. */
export function readCallValue(value: unknown, findTool: FindTool, mayLack = false): readonly TextCall[] | undefined {
  if (Array.isArray(value)) {
    const calls = value.map((one: unknown) => readCallValue(one, findTool, mayLack));
    return calls.length > 0 && calls.every((one) => one !== undefined) ? calls.flat() : undefined;
  }
  if (!isJsonObject(value)) return undefined;
  if (Array.isArray(value.tool_calls)) return readCallValue(value.tool_calls, findTool, mayLack);
  if (isJsonObject(value.function)) return readCallValue(value.function, findTool, mayLack);
  const toolName = findTool(readName(value));
  const field = argumentFields.find((one) => one in value);
  if (toolName === undefined || (field === undefined && !mayLack)) return undefined;
  const args = toArguments(field === undefined ? {} : value[field]);
  return args && [{ toolName, arguments: args }];
}

function readName(value: JsonObject): string {
  const field = nameFields.find((one) => typeof value[one] === "string");
  return field === undefined ? "" : readString(value[field]);
}

/** Reads the arguments, which some models write as a text of JSON. */
function toArguments(value: unknown): JsonObject | undefined {
  if (value === null) return {};
  const read = typeof value === "string" ? readJsonObject(value) : { value };
  return "value" in read && isJsonObject(read.value) ? read.value : undefined;
}

/** Returns true while incomplete JSON can become a call, by its first field and then by its name. */
export function mayBecomeCall(beginning: string, findTool: FindTool): boolean {
  const [, first, end] = /^[[{\s]*(?:["']([^"']*)(["']?))?/.exec(beginning) ?? [];
  if (first === undefined) return /^[[{\s]*$/.test(beginning);
  if (end === "") return callFields.some((field) => field.startsWith(first));
  const [, name] =
    /["'](?:name|tool|tool_name|function_name|function|action)["']\s*:\s*["']([^"'\\]*)["']/.exec(beginning) ?? [];
  return callFields.includes(first) && (name === undefined || findTool(name) !== undefined);
}

const callFields: readonly string[] = [...nameFields, ...argumentFields, "type", "id", "tool_calls"];
