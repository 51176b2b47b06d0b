/** The form of a server's question, which has only the protocol's flat schema, and values that match it (S-176). */
import type { QuestionField } from "@sheaf/protocol";
import { isJsonObject } from "@sheaf/protocol/check-value";
import { toVisibleCharacters } from "../approval-question.ts";

const MAX_FIELDS = 20;
const MAX_OPTIONS = 100;
/** Longest name, label or default. UTF-16 units. */
const MAX_TEXT = 1000;
/** Longest value that a person enters. */
const MAX_VALUE = 10_000;

export type ParsedForm =
  | { readonly ok: true; readonly fields: readonly QuestionField[]; readonly defaults: FormValues }
  /** The problem of the form, as the end of a sentence. */
  | { readonly ok: false; readonly problem: string };

type FormValues = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Reads the fields of a `requestedSchema`. */
export function parseForm(schema: unknown): ParsedForm {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  if (!isJsonObject(schema) || !isJsonObject(properties)) return fail("the schema of the question has no properties");
  const names = Object.keys(properties);
  if (names.length > MAX_FIELDS) return fail(`the question has more than ${MAX_FIELDS} fields`);
  const { required } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields: QuestionField[] = [];
  const defaults: Record<string, unknown> = {};
  for (const name of names) {
    const property = properties[name];
    const field = isJsonObject(property) && isPlain(name) ? toField(name, property, needed.has(name)) : undefined;
    if (!field) return fail(`the field ${JSON.stringify(name.slice(0, 100))} is of no kind that a form may have`);
    fields.push(field);
    const given = (property as Readonly<Record<string, unknown>>)["default"];
    // Sheaf does not offer a default that the field refuses.
    const isOffered = given !== undefined && (typeof given !== "string" || isPlain(given) || given === "");
    if (isOffered && findFieldProblem(field, given) === undefined) define(defaults, name, given);
  }
  return { ok: true, fields, defaults: defaults as FormValues };
}

function fail(problem: string): ParsedForm {
  return { ok: false, problem };
}

function isShort(text: unknown): text is string {
  return typeof text === "string" && text !== "" && text.length <= MAX_TEXT;
}

/** Returns true if the person can see every character. */
function isPlain(text: string): boolean {
  return isShort(text) && toVisibleCharacters(text) === text;
}

/** Sets a field. Names such as `__proto__` are ordinary names (S-71). */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function toField(
  name: string,
  property: Readonly<Record<string, unknown>>,
  required: boolean,
): QuestionField | undefined {
  const { type, title, description, format } = property;
  const common = {
    name,
    title: isShort(title) ? toVisibleCharacters(title) : name,
    ...(isShort(description) && { description: toVisibleCharacters(description) }),
    required,
  };
  if (type === "boolean") return { ...common, type };
  if (type === "number" || type === "integer") {
    return { ...common, type, ...toLimits(property["minimum"], property["maximum"]) };
  }
  if (type === "array") {
    const options = toOptions(property["items"], "anyOf");
    return options && { ...common, type: "choices", options, ...toLimits(property["minItems"], property["maxItems"]) };
  }
  if (type !== "string") return undefined;
  if (property["enum"] !== undefined || property["oneOf"] !== undefined) {
    const options = toOptions(property, "oneOf");
    return options && { ...common, type: "choice", options };
  }
  const known = formats.find((one) => one === format);
  const limits = toLimits(property["minLength"], property["maxLength"]);
  return { ...common, type, ...(known && { format: known }), ...limits };
}

const formats = ["email", "uri", "date", "date-time"] as const;

function toLimits(minimum: unknown, maximum: unknown): Pick<QuestionField, "minimum" | "maximum"> {
  return {
    ...(Number.isFinite(minimum) && { minimum: minimum as number }),
    ...(Number.isFinite(maximum) && { maximum: maximum as number }),
  };
}

/** Reads the options: `enum`, perhaps with `enumNames`, or a list of `{const, title}`. */
function toOptions(source: unknown, list: "oneOf" | "anyOf"): QuestionField["options"] {
  if (!isJsonObject(source)) return undefined;
  const { enum: values, enumNames, [list]: titled } = source;
  const labels = Array.isArray(enumNames) ? enumNames : [];
  const pairs = Array.isArray(titled)
    ? titled.map((one): [unknown, unknown] => (isJsonObject(one) ? [one["const"], one["title"]] : [undefined, ""]))
    : Array.isArray(values)
      ? values.map((value, index): [unknown, unknown] => [value, labels[index]])
      : [];
  const toLabel = (text: unknown): unknown => (isShort(text) ? toVisibleCharacters(text) : text);
  const options = pairs.map(([value, label]) => ({ value, label: toLabel(isShort(label) ? label : value) }));
  const isUsable = options.length > 0 && options.length <= MAX_OPTIONS && options.every(({ value }) => isShort(value));
  return isUsable ? (options as { value: string; label: string }[]) : undefined;
}

/** Returns the problem with the values of a form, in one line; undefined if they are valid. */
export function findFormProblem(fields: readonly QuestionField[], values: Readonly<Record<string, unknown>>) {
  const unknown = Object.keys(values).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) return `the form has no field ${JSON.stringify(unknown.slice(0, 100))}`;
  for (const field of fields) {
    const isGiven = Object.hasOwn(values, field.name);
    const problem = isGiven ? findFieldProblem(field, values[field.name]) : field.required ? "it needs a value" : "";
    if (problem) return `${JSON.stringify(field.name)}: ${problem}`;
  }
  return undefined;
}

/** Returns the problem with one value, in one line; undefined if it is valid. */
export function findFieldProblem(field: QuestionField, value: unknown): string | undefined {
  const { type, minimum = -Infinity, maximum = Infinity, options = [] } = field;
  const isOption = (one: unknown): boolean => options.some((option) => option.value === one);
  const isWithin = (size: number): boolean => size >= minimum && size <= maximum;
  const range = formatRange(field);
  switch (type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false is expected";
    case "number":
    case "integer": {
      const isNumber = type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
      if (!isNumber) return type === "integer" ? "a whole number is expected" : "a number is expected";
      return isWithin(value as number) ? undefined : `a number ${range} is expected`;
    }
    case "choice":
      return isOption(value) ? undefined : "one of its options is expected";
    case "choices":
      if (!Array.isArray(value) || !value.every(isOption) || new Set(value).size < value.length) {
        return "a list of its options is expected, each once";
      }
      return isWithin(value.length) ? undefined : `a number of choices ${range} is expected`;
    case "string":
      if (typeof value !== "string" || value.length > MAX_VALUE) return "a text is expected";
      if (!isWithin([...value].length)) return `a length ${range} is expected`;
      return field.format === undefined || fitsFormat(value, field.format) ? undefined : `${field.format} is expected`;
  }
}

function formatRange({ minimum, maximum }: QuestionField): string {
  if (minimum === undefined) return `of at most ${maximum}`;
  return maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
}

function fitsFormat(value: string, format: NonNullable<QuestionField["format"]>): boolean {
  switch (format) {
    case "email":
      return /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(value);
    case "uri":
      return /^[a-z][a-z0-9+.-]*:/i.test(value) && URL.canParse(value);
    case "date":
      return /^\d{4}-\d\d-\d\d$/.test(value) && isMoment(`${value}T00:00:00Z`, value);
    case "date-time":
      return (
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(value) && !Number.isNaN(Date.parse(value))
      );
  }
}

/** Returns true if the text is a moment of that day, unlike 30 February. */
function isMoment(text: string, day: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
