/** Finds tool calls that a model wrote as text, in the dialects of open models and their chat templates. */
import { parseJson, type JsonObject } from "../model-streams/read-json.ts";
import { LiteralReader, readJson } from "../read-literal.ts";
import { mayBecomeCall, readCallValue, type FindTool, type TextCall } from "./read-call-value.ts";
import { readPythonCalls } from "./read-python-call.ts";

/**
 * Calls and the place after them. "open" means that more text decides; undefined, that the text here is something else.
 */
export type Scan = { readonly calls: readonly TextCall[]; readonly end: number } | "open" | undefined;

/** A place in a text. `isWhole`: the text is complete. */
interface Place {
  readonly text: string;
  readonly at: number;
  readonly isWhole: boolean;
  readonly findTool: FindTool;
}

/** Some models write this prefix before the tags of calls. */
const prefix = "antml:";

/** Tokens of chat templates around calls, without a meaning. */
const noise: readonly string[] = [
  "<|tool_calls_section_begin|>",
  "<|tool_calls_section_end|>",
  "<｜tool▁calls▁begin｜>",
  "<｜tool▁calls▁end｜>",
  "<|eom_id|>",
  "<|eot_id|>",
  "<|im_end|>",
  "<|call|>",
  "</tool_call>",
  ";",
  "<tools>",
  "</tools>",
  ...["", prefix].flatMap((before) => [`<${before}function_calls>`, `</${before}function_calls>`]),
];

/** The openers of calls, each with its reader. */
const forms: readonly { readonly opener: string; readonly scan: (place: Place) => Scan }[] = [
  ...["tool_call", "function_call", "tool_use"].map((tag) => ({
    opener: `<${tag}>`,
    scan: (place: Place) => scanTag(place, tag),
  })),
  { opener: "<function=", scan: scanFunction },
  ...["", prefix].map((before) => ({ opener: `<${before}invoke name=`, scan: scanInvoke })),
  { opener: "[TOOL_CALLS]", scan: scanMistral },
  { opener: "<|python_tag|>", scan: scanPythonTag },
  { opener: "<|tool_call_begin|>", scan: scanSections },
  { opener: "<｜tool▁call▁begin｜>", scan: scanSections },
  { opener: "<|channel|>commentary to=", scan: scanHarmony },
  { opener: "```", scan: scanFence },
  { opener: "{", scan: scanBare },
];

const openers = [...forms.map(({ opener }) => opener), ...noise.filter((token) => !token.startsWith("</"))];

/** Yields the places of openers. Braces and fences must be at the start of a line. `isLine`: the text is at one. */
export function* findOpeners(text: string, isLine: boolean): Generator<number> {
  // Nearly every piece of an answer ends here.
  if (!/[<[`{]/.test(text)) return;
  const anywhere =
    /<(?:tool_call|function_call|tool_use)>|<function=|<(?:antml:)?(?:invoke name=|function_calls>)|<tools>|\[TOOL_CALLS\]|<[|｜][a-z]|(?<=^[ \t]*)(?:```|\{)/gm;
  const firstLine = isLine ? 0 : text.indexOf("\n") + 1 || text.length;
  for (const { index } of text.matchAll(anywhere)) if (index >= firstLine || /[<[]/.test(text[index]!)) yield index;
  // Yields a part of an opener at the end of the text.
  const from = Math.max(text.length - longestOpener + 1, 0);
  for (const { index } of text.slice(from).matchAll(/[<[`]/g)) {
    const end = text.slice(from + index);
    if (openers.some((opener) => opener.length > end.length && opener.startsWith(end))) return yield from + index;
  }
}

const longestOpener = Math.max(...openers.map(({ length }) => length));

/** Returns true for text with the form of a call, up to its end or, if the text is whole, cut off. */
export function mayBeUnread(text: string, isWhole: boolean, findTool: FindTool): boolean {
  const [fence = ""] = /^```(?:json)?\s*(?=[[{])/.exec(text) ?? [];
  const json = text.slice(fence.length);
  if (/^[[{]/.test(json)) {
    const read = isWhole && mayBecomeCall(json, findTool) ? readJson(json) : undefined;
    return read !== undefined && "isCut" in read && read.isCut;
  }
  const form = /^(?:<[^<>]{1,60}>|<function=|\[TOOL_CALLS\]|```tool_c[a-z]*)\s*(?:[[{<]|(\w[\w.]*))/.exec(text);
  if (!form || (form[1] !== undefined && findTool(form[1]) === undefined)) return false;
  return isWhole || /[>\]`}|｜]\s*$/.test(text);
}

/** Scans the calls from here to the end of the text. `isWhole`: the text is complete. */
export function scanTextCalls(text: string, at: number, options: { isWhole: boolean; findTool: FindTool }): Scan {
  const calls: TextCall[] = [];
  let end = skipNoise(text, at);
  while (end < text.length) {
    const scan = scanOne({ ...options, text, at: end });
    if (scan === "open" || (scan === undefined && !options.isWhole && isBeginningOfNoise(text.slice(end))))
      return "open";
    if (scan === undefined) return undefined;
    calls.push(...scan.calls);
    end = skipNoise(text, scan.end);
  }
  return calls.length > 0 || !options.isWhole ? { calls, end } : undefined;
}

function skipNoise(text: string, start: number): number {
  let at = start;
  for (;;) {
    const blank = /\s*/y;
    blank.lastIndex = at;
    at += blank.exec(text)![0].length;
    const token = noise.find((one) => text.startsWith(one, at));
    if (token === undefined) return at;
    at += token.length;
  }
}

function isBeginningOfNoise(rest: string): boolean {
  return noise.some((token) => token.startsWith(rest));
}

function scanOne(place: Place): Scan {
  const { text, at, isWhole } = place;
  for (const { opener, scan } of forms) {
    if (text.startsWith(opener, at)) return scan({ ...place, at: at + opener.length });
    if (!isWhole && opener.startsWith(text.slice(at))) return "open";
  }
  return undefined;
}

/** Reads the text up to a closing word; without one, the rest of a whole text. */
function readUntil(
  { text, at, isWhole }: Place,
  ...closers: readonly string[]
): { body: string; end: number } | "open" {
  const found = closers
    .map((closer) => ({ closer, index: text.indexOf(closer, at) }))
    .filter(({ index }) => index !== -1);
  const [first] = found.toSorted((a, b) => a.index - b.index);
  if (first) return { body: text.slice(at, first.index), end: first.index + first.closer.length };
  return isWhole ? { body: text.slice(at), end: text.length } : "open";
}

function scanTag(place: Place, tag: string): Scan {
  const found = readUntil(place, `</${tag}>`);
  if (found === "open") return found;
  const calls = readTagged(found.body.trim(), place.findTool);
  return calls && { calls, end: found.end };
}

/** Reads JSON (Hermes, Qwen), `<function=…>` (Qwen Coder), or a name with `<arg_key>` and `<arg_value>` (GLM). */
function readTagged(body: string, findTool: FindTool): readonly TextCall[] | undefined {
  if (body.startsWith("<function=")) {
    const scan = scanFunction({ text: body, at: "<function=".length, isWhole: true, findTool });
    return scan === "open" ? undefined : scan?.calls;
  }
  const value = readJson(body).value;
  if (value !== undefined) return readCallValue(value, findTool, true);
  const [, name = ""] = /^([\w.:-]+)\s*(?:<arg_key>|$)/.exec(body) ?? [];
  const toolName = findTool(name);
  const pairs = [...body.matchAll(/<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g)];
  if (toolName === undefined || !isAllOf(body.slice(name.length), pairs)) return undefined;
  return [{ toolName, arguments: toObject(pairs) }];
}

/** True if the pairs are the whole body. False if a pair is incomplete. */
function isAllOf(body: string, pairs: readonly RegExpMatchArray[]): boolean {
  return pairs.reduce((rest, [pair]) => rest.replace(pair, () => ""), body).trim() === "";
}

/** Scans `<function=name>` with JSON (Llama) or `<parameter=key>` (Qwen Coder). */
function scanFunction(place: Place): Scan {
  const found = readUntil(place, "</function>");
  if (found === "open")
    return /^[\w.:-]*>?/.exec(place.text.slice(place.at))![0].endsWith(">") && !isKnown(place) ? undefined : found;
  const [, name = "", written = ""] = /^([\w.:-]+)>([\s\S]*)$/.exec(found.body) ?? [];
  // Some models indent the tags with their values; blanks of longer values may be their own.
  const body = written.replaceAll(/(<parameter=[\w.-]+>\n)[ \t]+([^\n]*\n)[ \t]+(?=<\/parameter>)/g, "$1$2");
  const toolName = place.findTool(name);
  if (toolName === undefined) return undefined;
  const value = readJson(body.trim()).value;
  const pairs = [...body.matchAll(/<parameter=([\w.-]+)>\n?([\s\S]*?)\n?<\/parameter>/g)];
  const args =
    value === undefined ? toObject(pairs) : readCallValue({ name, arguments: value }, place.findTool)?.[0]?.arguments;
  if (!args || (value === undefined && !isAllOf(body, pairs))) return undefined;
  return { calls: [{ toolName, arguments: args }], end: found.end };
}

function isKnown({ text, at, findTool }: Place): boolean {
  const [, name = ""] = /^([\w.:-]*)>/.exec(text.slice(at)) ?? [];
  return findTool(name) !== undefined;
}

function scanInvoke(place: Place): Scan {
  const found = readUntil(place, "</invoke>", `</${prefix}invoke>`);
  if (found === "open") return found;
  const [, name = "", body = ""] = /^"([^"]*)">([\s\S]*)$/.exec(found.body) ?? [];
  const toolName = place.findTool(name);
  const pairs = [...body.matchAll(/<(?:antml:)?parameter name="([^"]*)"[^>]*>([\s\S]*?)<\/(?:antml:)?parameter>/g)];
  if (toolName === undefined || !isAllOf(body, pairs)) return undefined;
  return { calls: [{ toolName, arguments: toObject(pairs) }], end: found.end };
}

/** Makes an object of values without a type: JSON becomes its value, except a JSON string. */
function toObject(pairs: readonly RegExpMatchArray[]): JsonObject {
  return Object.fromEntries(
    pairs.map(([, key = "", text = ""]) => {
      const value = parseJson(text.trim());
      return [key.trim(), value === undefined || typeof value === "string" ? text : value];
    }),
  );
}

/** Scans a list of JSON, or `name[ARGS]{…}` and `name{…}` of newer models. */
function scanMistral(place: Place): Scan {
  const { text, findTool } = place;
  const start = place.at + /^\s*/.exec(text.slice(place.at))![0].length;
  if (text[start] === "[" || text[start] === "{") return scanJson({ ...place, at: start });
  const [head = "", name = ""] = /^([\w.:-]*)(?:\[CALL_ID\][^[{]*)?(?:\[ARGS\])?\s*/.exec(text.slice(start)) ?? [];
  const at = start + head.length;
  if (at >= text.length) return place.isWhole ? undefined : "open";
  const toolName = findTool(name);
  if (toolName === undefined || text[at] !== "{")
    return place.isWhole || !"[ARGS]".startsWith(text.slice(at)) ? undefined : "open";
  return scanJson({ ...place, at }, toolName);
}

function scanPythonTag(place: Place): Scan {
  const start = place.at + /^\s*/.exec(place.text.slice(place.at))![0].length;
  if (place.text[start] === "{" || place.text[start] === "[") {
    return scanJson({ ...place, at: start });
  }
  const found = readUntil(place, "<|eom_id|>", "<|eot_id|>", "<|im_end|>");
  if (found === "open") return found;
  const calls = readPythonCalls(found.body, place.findTool);
  return calls && { calls, end: found.end };
}

/** Kimi: `functions.name:0<|tool_call_argument_begin|>{…}`. DeepSeek: `function<｜tool▁sep｜>name`, then a fence. */
function scanSections(place: Place): Scan {
  const found = readUntil(place, "<|tool_call_end|>", "<｜tool▁call▁end｜>");
  if (found === "open") return found;
  const [head = "", ...rest] = found.body.split(/<[|｜]tool[_▁](?:call[_▁]argument[_▁]begin|sep)[|｜]>/);
  const [, second = "", fenced] = /^([\w.:-]+)\s*```(?:json)?\s*([\s\S]*?)```\s*$/.exec(rest.join("")) ?? [];
  const [name, json] = fenced === undefined ? [head.trim(), rest.join("")] : [second, fenced];
  const calls = readCallValue({ name, arguments: readJson(json.trim()).value }, place.findTool);
  return calls && { calls, end: found.end };
}

/** Scans the form of gpt-oss: `functions.name <|constrain|>json<|message|>{…}<|call|>`. */
function scanHarmony(place: Place): Scan {
  const found = readUntil(place, "<|call|>");
  if (found === "open") return found;
  const [, name = "", json = ""] = /^([\w.:-]+)[^{]*?<\|message\|>([\s\S]*)$/.exec(found.body) ?? [];
  const calls = readCallValue({ name, arguments: readJson(json.trim()).value }, place.findTool);
  return calls && { calls, end: found.end };
}

/** Scans a fence of JSON that is a call, or of `tool_code`. */
function scanFence(place: Place): Scan {
  const rest = place.text.slice(place.at);
  const [head, language = ""] = /^([a-z_]*)[ \t]*\n\s*/.exec(rest) ?? [];
  if (head === undefined) return !place.isWhole && /^[a-z_]*[ \t]*$/.test(rest) ? "open" : undefined;
  const isCode = language === "tool_code" || language === "tool_call";
  if (!isCode && !["", "json", "python", "tool_calls", "xml"].includes(language)) return undefined;
  const at = place.at + head.length;
  const beginning = place.text.slice(at);
  const isJson = /^[[{]/.test(beginning);
  if (!isJson && !isCode) return beginning === "" && !place.isWhole ? "open" : undefined;
  if (isJson && !mayBecomeCall(beginning, place.findTool)) return undefined;
  const found = readUntil({ ...place, at }, "\n```");
  if (found === "open") return found;
  const calls = isJson
    ? readCallValue(readJson(found.body).value, place.findTool, isCode)
    : readPythonCalls(found.body, place.findTool);
  return calls && { calls, end: found.end };
}

function scanBare(place: Place): Scan {
  const at = place.at - 1;
  if (!mayBecomeCall(place.text.slice(at), place.findTool)) return undefined;
  return scanJson({ ...place, at });
}

function scanJson(place: Place, toolName?: string): Scan {
  const reader = new LiteralReader(place.text, place.at);
  const found = reader.readValue();
  if (!found) return reader.problem?.isCut && !place.isWhole ? "open" : undefined;
  const value = toolName === undefined ? found.value : { name: toolName, arguments: found.value };
  const calls = readCallValue(value, place.findTool);
  return calls && { calls, end: reader.at };
}
