/**
 * What a tool takes: told to a model as JSON Schema, and checked when the model calls. Not by a library: every start makes
 * all of them, and zod would take 9 ms for it. They know what tools need, and no more.
 */

/** One value that a tool takes. */
export interface Parameter<Value = unknown> {
  /** JSON Schema of the value. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** May be left out. */
  readonly isOptional?: true;
  /** The value without fields that nobody asked for. What is wrong with it is added to `problems`, with its place. */
  check(value: unknown, place: string, problems: Problem[]): Value;
}

/** What is wrong with a value. */
export interface Problem {
  /** For instance `edits[0].old_string`; "" for the whole. */
  readonly place: string;
  /** One line: what was expected, what came. */
  readonly message: string;
}

interface OptionalParameter<Value> extends Parameter<Value | undefined> {
  readonly isOptional: true;
}

type Fields = Readonly<Record<string, Parameter>>;
type OptionalNames<Shape extends Fields> = {
  [Name in keyof Shape]: Shape[Name] extends OptionalParameter<unknown> ? Name : never;
}[keyof Shape];

/** The arguments that a tool gets. */
export type ArgumentsOf<Given extends Parameter> = Given extends Parameter<infer Value> ? Value : never;

type ObjectOf<Shape extends Fields> = {
  readonly [Name in Exclude<keyof Shape, OptionalNames<Shape>>]: ArgumentsOf<Shape[Name]>;
} & { readonly [Name in OptionalNames<Shape>]?: ArgumentsOf<Shape[Name]> };

/** A text, with what a model is told about it. */
export function string(description: string): Parameter<string> {
  return {
    schema: { type: "string", description },
    check: (value, place, problems) => (typeof value === "string" ? value : fail("a text", value, place, problems)),
  };
}

/** A text of at least one character. */
export function nonEmptyString(description: string): Parameter<string> {
  const any = string(description);
  return {
    schema: { type: "string", minLength: 1, description },
    check: (value, place, problems) =>
      value === ""
        ? fail("a text of at least one character", value, place, problems)
        : any.check(value, place, problems),
  };
}

/** A whole number above 0. */
export function positiveInteger(description: string, most: number = Number.MAX_SAFE_INTEGER): Parameter<number> {
  const isBounded = most < Number.MAX_SAFE_INTEGER;
  const expected = `a whole number from 1 ${isBounded ? `to ${most}` : "on"}`;
  return {
    schema: { type: "integer", minimum: 1, ...(isBounded && { maximum: most }), description },
    check: (value, place, problems) =>
      typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most
        ? value
        : fail(expected, value, place, problems),
  };
}

export function flag(description: string): Parameter<boolean> {
  return {
    schema: { type: "boolean", description },
    check: (value, place, problems) =>
      typeof value === "boolean" ? value : fail("true or false", value, place, problems),
  };
}

/** One of some words. */
export function choice<const Words extends readonly [string, ...string[]]>(
  words: Words,
  description: string,
): Parameter<Words[number]> {
  const expected = `one of ${words.map((word) => JSON.stringify(word)).join(", ")}`;
  return {
    schema: { type: "string", enum: words, description },
    check: (value, place, problems) => words.find((word) => word === value) ?? fail(expected, value, place, problems),
  };
}

/** A list of at least `least` and at most `most` items. */
export function list<Item>(
  item: Parameter<Item>,
  least: number,
  most: number,
  description: string,
): Parameter<readonly Item[]> {
  const expected = `a list of ${least} to ${most} items`;
  return {
    schema: { type: "array", items: item.schema, minItems: least, maxItems: most, description },
    check(value, place, problems) {
      if (!Array.isArray(value) || value.length < least || value.length > most) {
        return fail(expected, value, place, problems);
      }
      return value.map((entry: unknown, index) => item.check(entry, `${place}[${index}]`, problems));
    },
  };
}

/** Fields by name. */
export function object<Shape extends Fields>(fields: Shape): Parameter<ObjectOf<Shape>> {
  const entries = Object.entries(fields);
  const properties = Object.fromEntries(entries.map(([name, field]) => [name, field.schema]));
  const required = entries.flatMap(([name, { isOptional }]) => (isOptional ? [] : [name]));
  return {
    schema: { type: "object", properties, required },
    check(value, place, problems) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return fail("an object", value, place, problems);
      }
      const checked: Record<string, unknown> = {};
      for (const [name, field] of entries) {
        // A field that is inherited was not given (S-71).
        const given: unknown = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
        const result = field.check(given, place === "" ? name : `${place}.${name}`, problems);
        if (result !== undefined) checked[name] = result;
      }
      return checked as ObjectOf<Shape>;
    },
  };
}

/** May be left out; some models write null for that. */
export function optional<Value>(parameter: Parameter<Value>): OptionalParameter<Value> {
  return {
    schema: parameter.schema,
    isOptional: true,
    check: (value, place, problems) =>
      value === undefined || value === null ? undefined : parameter.check(value, place, problems),
  };
}

/** Nobody uses the value: what has problems is not run. */
function fail(expected: string, value: unknown, place: string, problems: Problem[]): never {
  problems.push({ place, message: `expected ${expected}, got ${formatValue(value)}` });
  return undefined as never;
}

function formatValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length} items`;
  if (typeof value === "object" && value !== null) return "an object";
  return JSON.stringify(value).slice(0, 60);
}
