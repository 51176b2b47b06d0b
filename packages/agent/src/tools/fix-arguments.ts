/** Turns arguments as models really write them into arguments that the tool's schema asks for (N59). */
import { isJsonObject, type JsonObject, parseValue } from "@sheaf/protocol/check-value";
import type { JsonSchema, Schema } from "@sheaf/protocol/schema";
import { findNearest } from "@sheaf/base/nearest-names";
import { foldName } from "./tool-traits.ts";

/** Names that other agents' tools use for the same field; folded. */
const otherNames: ReadonlyMap<string, readonly string[]> = new Map([
  ["target_file", ["path", "filepath", "file", "filename", "absolutepath", "relativeworkspacepath"]],
  ["target_directory", ["path", "directory", "dir", "folder"]],
  ["old_string", ["oldtext", "oldstr"]],
  ["new_string", ["newtext", "newstr"]],
  ["source_file", ["source", "from", "oldpath"]],
  ["destination_file", ["destination", "to", "newpath"]],
  ["content", ["contents", "filetext", "text"]],
  ["offset", ["startline", "linestart", "startlineoneindexed", "start"]],
  ["limit", ["maxlines", "numlines", "linecount"]],
  ["pattern", ["query", "regex", "regexp", "searchpattern", "globpattern"]],
  ["glob", ["include", "includepattern", "filepattern", "fileglob"]],
  ["case_insensitive", ["i", "ignorecase"]],
  ["max_results", ["headlimit", "limit", "maxcount", "maxmatches"]],
  ["command", ["cmd"]],
  ["working_directory", ["cwd", "workdir", "dirpath"]],
  ["is_background", ["runinbackground", "background"]],
  ["terminal_id", ["bashid", "shellid"]],
  ["before", ["b", "beforecontext", "contextbefore", "linesbefore"]],
  ["after", ["a", "aftercontext", "contextafter", "linesafter"]],
]);

/**
 * Corrects arguments that can mean one thing only: fields under another usual name (`file_path`, `oldString`), a list
 * or object written as JSON text, one item instead of a list, the fields of a list's only item next to the list, and
 * numbers and booleans as text. The rest stays as it is, for the check of the arguments.
 */
export function fixArguments(schema: JsonSchema, args: JsonObject): JsonObject {
  const { properties = {} } = schema;
  const given = Object.entries(args);
  const taken = new Set(given.filter(([, value]) => value !== null).map(([name]) => name));
  const left = given.filter(([, value]) => value === null);
  const fixed = given.flatMap(([name, value]): [string, unknown][] => {
    if (value === null) return [];
    const field = Object.hasOwn(properties, name) ? name : findField(schema, name, taken);
    taken.add(field);
    return [[field, Object.hasOwn(properties, field) ? fixValue(properties[field]!, value) : value]];
  });
  return gatherItem(schema, Object.fromEntries([...left, ...fixed]));
}

/** Returns the missing field that a name means, else the name itself. */
function findField({ properties = {} }: JsonSchema, name: string, taken: ReadonlySet<string>): string {
  const folded = foldName(name);
  const means = (field: string): boolean =>
    field.replaceAll("_", "") === folded || otherNames.get(field)?.includes(folded) === true;
  return Object.keys(properties).find((field) => !taken.has(field) && means(field)) ?? name;
}

/** Returns the fields that the schema lacks, at any depth, each with the free field that it may mean. */
export function listIgnored({ properties = {}, items }: JsonSchema, value: unknown): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => (items ? listIgnored(items, item) : [])))];
  if (!isJsonObject(value) || Object.keys(properties).length === 0) return [];
  const free = Object.keys(properties).filter((field) => !Object.hasOwn(value, field));
  return Object.entries(value).flatMap(([name, inner]) => {
    if (Object.hasOwn(properties, name)) return listIgnored(properties[name]!, inner);
    const meant =
      free.find((field) => foldName(name).length > 2 && foldName(field).includes(foldName(name))) ??
      findNearest(name, free)[0];
    return inner === null
      ? []
      : `${JSON.stringify(name.slice(0, 100))}${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
  });
}

function fixValue(schema: JsonSchema, value: unknown): unknown {
  if (typeof value === "string" && schema.type !== undefined && schema.type !== "string") {
    return parseText(schema, value);
  }
  if (schema.type === "object" && isJsonObject(value)) return fixArguments(schema, value);
  const { type, items } = schema;
  if (type !== "array" || items === undefined) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => fixValue(items, item));
  return items.type === "object" && isJsonObject(value) ? [fixArguments(items, value)] : value;
}

/** Returns the value that a text has as JSON, if the schema takes it. */
function parseText(schema: JsonSchema, text: string): unknown {
  try {
    const parsed = parseValue(schema as Schema, fixValue(schema, JSON.parse(text)), { dropsNull: true });
    return parsed.ok ? parsed.value : text;
  } catch {
    return text;
  }
}

/** Turns `{target_file, old_string, new_string}` into `{target_file, edits: [{old_string, new_string}]}`. */
function gatherItem({ properties = {}, required = [] }: JsonSchema, args: JsonObject): JsonObject {
  const list = required.find((name) => properties[name]?.items?.type === "object");
  const items = list === undefined ? undefined : properties[list]!.items!;
  if (list === undefined || items === undefined || !isEmpty(args[list])) return args;
  const outer = Object.entries(args).filter(([name]) => Object.hasOwn(properties, name) && name !== list);
  const inner = Object.fromEntries(Object.entries(args).filter(([name]) => !Object.hasOwn(properties, name)));
  const item = fixArguments(items, inner);
  const isWhole = (items.required ?? []).every((name) => Object.hasOwn(item, name));
  return isWhole ? { ...Object.fromEntries(outer), [list]: [item] } : args;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
