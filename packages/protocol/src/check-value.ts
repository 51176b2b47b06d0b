/** Checks untrusted values against schemas. It interprets them: a page's CSP forbids generated code. */
import { isJsonObject } from "./json-object.ts";
import { growing, type JsonSchema, refinement, type Schema } from "./schema.ts";

export { isJsonObject, parseJson, toJsonObject, type JsonObject } from "./json-object.ts";

export interface Problem {
  /** Names and indexes from the checked value down to the wrong part. */
  readonly path: readonly (string | number)[];
  /** Kind of problem. If it's `unknown`, the schema lacks the last name of the path. */
  readonly reason: "missing" | "unknown" | "wrong";
  /** The schema that the part must match; for `unknown`, the schema around the part. */
  readonly schema: JsonSchema;
  readonly value: unknown;
}

const none: readonly Problem[] = [];

/** Most wrong items in a list before the check ends: millions of problems would fill the memory. */
const MAX_ITEM_PROBLEMS = 100;

/**
 * Lists the problems of a value in the order of the schema, missing parts first; empty if it matches. Checks only the
 * start of a long list with many problems.
 * `isTolerant` checks structure alone, for readers of other versions: ignores patterns and lengths, and accepts private
 * values that start with `_` (N13), and any value of a growing choice.
 */
export function listProblems(schema: JsonSchema, value: unknown, isTolerant = false): readonly Problem[] {
  const problems = checkKeywords(schema, value, isTolerant);
  const rule = schema[refinement];
  if (!rule || problems.length > 0 || rule.accepts(value as never)) return problems;
  const { field } = rule;
  if (field === undefined || !isJsonObject(value)) return [toProblem(schema, value)];
  return [{ path: [field], reason: "wrong", schema, value: value[field] }];
}

function checkKeywords(schema: JsonSchema, value: unknown, isTolerant: boolean): readonly Problem[] {
  if (schema.anyOf) return checkForms(schema, schema.anyOf, value, isTolerant);
  switch (schema.type) {
    case undefined:
      return none;
    case "object":
      return isJsonObject(value) ? checkFields(schema, value, isTolerant) : [toProblem(schema, value)];
    case "array":
      return Array.isArray(value) && isWithin(value.length, schema.minItems, schema.maxItems)
        ? checkItems(schema.items, value, isTolerant)
        : [toProblem(schema, value)];
    default:
      return isScalar(schema, value, isTolerant) ? none : [toProblem(schema, value)];
  }
}

function toProblem(schema: JsonSchema, value: unknown, reason: Problem["reason"] = "wrong"): Problem {
  return { path: [], reason, schema, value };
}

/** Lists the problems of the nearest form, which was probably meant, if no form matches. */
function checkForms(
  schema: JsonSchema,
  forms: readonly JsonSchema[],
  value: unknown,
  isTolerant: boolean,
): readonly Problem[] {
  let nearest = none;
  for (const form of forms) {
    const problems = listProblems(form, value, isTolerant);
    if (problems.length === 0) return none;
    const isInside = problems.some(({ path }) => path.length > 0);
    if (isInside && (nearest.length === 0 || problems.length < nearest.length)) nearest = problems;
  }
  return nearest.length > 0 ? nearest : [toProblem(schema, value)];
}

function checkFields(
  schema: JsonSchema,
  value: Readonly<Record<string, unknown>>,
  isTolerant: boolean,
): readonly Problem[] {
  const { properties = {}, required = [], propertyNames, additionalProperties } = schema;
  const problems: Problem[] = [];
  const add = (name: string, found: readonly Problem[]): void => {
    if (found.length > 0) problems.push(...placeWithin([name], found));
  };
  // Inherited fields don't exist here, because they weren't sent (S-71).
  for (const name of required) {
    if (!Object.hasOwn(value, name)) add(name, [toProblem(properties[name] ?? {}, undefined, "missing")]);
  }
  for (const name in properties) {
    if (Object.hasOwn(value, name)) add(name, listProblems(properties[name]!, value[name], isTolerant));
  }
  if (additionalProperties === undefined) return problems;
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) continue;
    if (propertyNames) add(name, listProblems(propertyNames, name, isTolerant));
    add(
      name,
      additionalProperties
        ? listProblems(additionalProperties, value[name], isTolerant)
        : [toProblem(schema, value[name], "unknown")],
    );
  }
  return problems;
}

function checkItems(items: JsonSchema = {}, value: readonly unknown[], isTolerant: boolean): readonly Problem[] {
  const problems: Problem[] = [];
  for (const [index, item] of value.entries()) {
    for (const problem of placeWithin([index], listProblems(items, item, isTolerant))) problems.push(problem);
    if (problems.length >= MAX_ITEM_PROBLEMS) break;
  }
  return problems;
}

/** Turns problems of a part into problems of the whole. */
export function placeWithin(path: Problem["path"], problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) => ({ ...problem, path: [...path, ...problem.path] }));
}

function isScalar(schema: JsonSchema, value: unknown, isTolerant: boolean): boolean {
  switch (schema.type) {
    case "string":
      return typeof value === "string" && isText(schema, value, isTolerant);
    case "boolean":
      return typeof value === "boolean" && (isTolerant || schema.const === undefined || value === schema.const);
    case "null":
      return value === null;
    default:
      return typeof value === "number" && isAmount(schema, value, isTolerant);
  }
}

function isText(schema: JsonSchema, value: string, isTolerant: boolean): boolean {
  const { const: only, enum: choices, format, pattern } = schema;
  const isChosen = only === undefined ? (choices?.includes(value) ?? true) : value === only;
  if (!isChosen) return isTolerant && (schema[growing] === true || value.startsWith("_"));
  if (format === "date-time" && Number.isNaN(Date.parse(value))) return false;
  if (isTolerant) return true;
  const isByPattern = pattern !== undefined && !schema[refinement]?.isForPattern;
  if (isByPattern && !new RegExp(pattern, "u").test(value)) return false;
  return isWithin(value.length, schema.minLength, schema.maxLength);
}

function isAmount(schema: JsonSchema, value: number, isTolerant: boolean): boolean {
  const { minimum, maximum, exclusiveMinimum = -Infinity, multipleOf = 1 } = schema;
  if (schema.type === "integer" && !Number.isSafeInteger(value)) return false;
  const isMultiple = isTolerant || schema.multipleOf === undefined || value % multipleOf === 0;
  return isMultiple && isWithin(value, minimum, maximum) && value > exclusiveMinimum;
}

function isWithin(value: number, least = -Infinity, most = Infinity): boolean {
  return value >= least && value <= most;
}

/** Formats a path: `metadata.todos[0].id`; "" for the value as a whole. */
export function formatPath(path: Problem["path"]): string {
  let text = "";
  for (const key of path) text += typeof key === "number" ? `[${key}]` : `${text === "" ? "" : "."}${key}`;
  return text;
}

/**
 * Formats a problem, such as `startLine: expected an integer` or, for the value as a whole, `is missing`.
 * `showsValue` adds the wrong value; don't use it for values that may be secret.
 */
export function formatProblem({ path, reason, schema, value }: Problem, showsValue = false): string {
  const place = path.length === 0 ? "" : `${formatPath(path)}: `;
  if (reason === "missing") return `${place}is missing`;
  if (reason === "unknown") return `${place}is not a known field`;
  return `${place}expected ${formatExpected(schema)}${showsValue ? `, got ${formatValue(value)}` : ""}`;
}

/** Describes the values that match a schema: completes "expected …". */
function formatExpected(schema: JsonSchema): string {
  const rule = schema[refinement];
  if (rule) return rule.expected;
  if (schema.anyOf) return schema.anyOf.map(formatExpected).join(", or ");
  switch (schema.type) {
    case "string":
      return formatText(schema);
    case "number":
      return `a number${formatRange(schema)}`;
    case "integer":
      return `an integer${formatRange(schema)}`;
    case "array":
      return `an array${formatBounds(schema.minItems, schema.maxItems, "item")}`;
    case "object":
      return "an object";
    case "null":
      return "null";
    case "boolean":
      return schema.const === undefined ? "a boolean" : String(schema.const);
    default:
      return "anything";
  }
}

function formatText({ const: only, enum: choices, format, minLength, maxLength }: JsonSchema): string {
  if (only !== undefined) return String(only);
  if (choices) return `one of ${choices.join(", ")}`;
  if (format === "date-time") return "a time such as 2026-02-23T10:30:00Z";
  return `a string${formatBounds(minLength, maxLength, "character")}`;
}

function formatRange({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  if (exclusiveMinimum !== undefined) {
    return ` above ${exclusiveMinimum}${maximum === undefined ? "" : ` and at most ${maximum}`}`;
  }
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? "" : ` of at most ${maximum}`;
}

function formatBounds(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return "";
  const bound = most ?? least;
  const units = bound === 1 ? unit : `${unit}s`;
  if (least === undefined) return ` of at most ${most} ${units}`;
  return most === undefined ? ` of at least ${least} ${units}` : ` of ${least} to ${most} ${units}`;
}

function formatValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `an array of ${value.length} items`;
  if (typeof value === "object" && value !== null) return "an object";
  return JSON.stringify(value).slice(0, 60);
}

/** A checked value without unknown fields, or its problems. */
export type ParsedValue<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Checks a value and drops unknown fields.
 * `dropsNull`: treats null as a missing field, because some models write it.
 */
export function parseValue<Value>(
  schema: Schema<Value>,
  value: unknown,
  { dropsNull = false }: { readonly dropsNull?: boolean } = {},
): ParsedValue<Value> {
  const known = keepKnown(schema, value, dropsNull);
  const problems = listProblems(schema, known);
  return problems.length === 0 ? { ok: true, value: known as Value } : { ok: false, problems };
}

function keepKnown(schema: JsonSchema, value: unknown, dropsNull: boolean): unknown {
  const { properties, additionalProperties, required = [], items } = schema;
  if (items && Array.isArray(value)) return value.map((item: unknown) => keepKnown(items, item, dropsNull));
  // A schema with rules for other fields decides about them itself.
  if (!properties || additionalProperties !== undefined || !isJsonObject(value)) return value;
  const known: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties)) {
    const given: unknown = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined || (given === null && dropsNull && !required.includes(name))) continue;
    known[name] = keepKnown(field, given, dropsNull);
  }
  return known;
}
