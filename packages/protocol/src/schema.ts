/** Schemas of values. Each one is a plain JSON Schema (draft 2020-12) that also knows the type of what it accepts. */

/** The keywords that Sheaf uses. `checkValue` knows exactly these. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";
  readonly const?: string | boolean;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly multipleOf?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: JsonSchema | false;
  /** What no keyword can say. Symbols are not part of the JSON. */
  readonly [refinement]?: Refinement;
  /** A list of choices that later versions may extend: tolerant readers take any string. */
  readonly [growing]?: true;
}

export const refinement: unique symbol = Symbol("refinement");
export const growing: unique symbol = Symbol("growing");

/** A rule beyond the keywords, in words and as a function. */
export interface Refinement {
  /** Completes "expected …", for instance `a rule such as Read(.env)`. */
  readonly expected: string;
  /** Called with values that fit the keywords. */
  readonly accepts: (value: never) => boolean;
  /** The field to blame, if it is not the value as a whole. */
  readonly field?: string;
  /** It accepts what the pattern of the schema does, and is checked in its place. */
  readonly isForPattern?: true;
}

/** Exists for the compiler only. */
declare const accepted: unique symbol;

/** A JSON Schema of values of one type. */
export interface Schema<Value = unknown> extends JsonSchema {
  readonly [accepted]: Value;
}

/** A field that may be left out. */
export interface Optional<Value> {
  readonly optional: Schema<Value>;
}

/** Fields by name. Comments on them show up as those of the fields of the type. */
export type Fields = Readonly<Record<string, Schema | Optional<unknown>>>;

/** The type of what a schema, or a field, accepts. */
export type ValueOf<Given> =
  Given extends Schema<infer Value> ? Value : Given extends Optional<infer Value> ? Value : never;

type OptionalNames<Given> = {
  [Name in keyof Given]: Given[Name] extends Optional<unknown> ? Name : never;
}[keyof Given];
type RequiredFields<Given, Names extends keyof Given> = { readonly [Name in Names]: ValueOf<Given[Name]> };
type OptionalFields<Given, Names extends keyof Given> = { readonly [Name in Names]?: ValueOf<Given[Name]> };
type Flat<Value> = { [Name in keyof Value]: Value[Name] };

/** The type of an object with these fields. */
export type ValueOfFields<Given> = Flat<
  RequiredFields<Given, Exclude<keyof Given, OptionalNames<Given>>> & OptionalFields<Given, OptionalNames<Given>>
>;

/** A schema of an object whose fields are known one by one. */
export interface ObjectSchema<Given> extends Schema<ValueOfFields<Given>> {
  readonly properties: { readonly [Name in keyof Given]: JsonSchema };
  readonly required: readonly string[];
}

/** The type is a promise of whoever calls this. */
function toSchema<Value>(schema: JsonSchema): Schema<Value> {
  return schema as Schema<Value>;
}

/** The same schema; its type goes by the name of an interface. */
export function named<Value>(schema: Schema<Value>): Schema<Value> {
  return schema;
}

type Notes = Pick<JsonSchema, "title" | "description">;

export function anything(notes: Notes = {}): Schema {
  return toSchema(notes);
}

export function string(
  keywords: Pick<JsonSchema, "minLength" | "maxLength" | "pattern" | "format"> & Notes = {},
): Schema<string> {
  return toSchema({ type: "string", ...keywords });
}

/** Bytes as base64; there may be many megabytes. */
export function base64(notes: Notes = {}): Schema<string> {
  const schema = string({ pattern: "^[A-Za-z0-9+/]+={0,2}$", ...notes });
  return { ...schema, [refinement]: { expected: "base64", accepts: isBase64, isForPattern: true } };
}

/** The same as the pattern, by a search for what is not base64: the pattern would remember each of millions of characters. */
export function isBase64(text: string): boolean {
  const end = text.indexOf("=");
  const body = end === -1 ? text : text.slice(0, end);
  return body !== "" && !/[^A-Za-z0-9+/]/.test(body) && /^={0,2}$/.test(text.slice(body.length));
}

export function number(
  keywords: Pick<JsonSchema, "minimum" | "maximum" | "exclusiveMinimum" | "multipleOf"> & Notes = {},
): Schema<number> {
  return toSchema({ type: "number", ...keywords });
}

export function integer(keywords: Pick<JsonSchema, "minimum" | "maximum"> & Notes = {}): Schema<number> {
  return toSchema({ type: "integer", ...keywords });
}

export function boolean(notes: Notes = {}): Schema<boolean> {
  return toSchema({ type: "boolean", ...notes });
}

/** Null. */
export function nothing(): Schema<null> {
  return toSchema({ type: "null" });
}

/** Exactly one value. */
export function literal<const Value extends string | boolean>(value: Value): Schema<Value> {
  return toSchema({ type: typeof value === "string" ? "string" : "boolean", const: value });
}

/** One of several strings. */
export function choice<const Value extends string>(values: readonly Value[], notes: Notes = {}): Schema<Value> {
  return toSchema({ type: "string", enum: values, ...notes });
}

/** One of several strings, to which later versions may add. */
export function growingChoice<const Value extends string>(values: readonly Value[]): Schema<Value> {
  return toSchema({ type: "string", enum: values, [growing]: true });
}

/** What fits one of several schemas. */
export function either<const Given extends readonly Schema[]>(
  schemas: Given,
  notes: Notes = {},
): Schema<ValueOf<Given[number]>> {
  return toSchema({ anyOf: schemas, ...notes });
}

export function nullable<Value>(schema: Schema<Value>): Schema<Value | null> {
  return toSchema({ anyOf: [schema, nothing()] });
}

export function list<Item>(
  items: Schema<Item>,
  keywords: Pick<JsonSchema, "minItems" | "maxItems"> & Notes = {},
): Schema<readonly Item[]> {
  return toSchema({ type: "array", items, ...keywords });
}

/** An array of exactly one item. */
export function single<Item>(items: Schema<Item>): Schema<readonly [Item]> {
  return toSchema({ type: "array", items, minItems: 1, maxItems: 1 });
}

/** An object of known fields. Others are allowed, and dropped by `keepKnown`. */
export function object<const Given extends Fields>(fields: Given, notes: Notes = {}): ObjectSchema<Given> {
  const entries = Object.entries(fields);
  const schema: JsonSchema = {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([name, field]) => [name, "optional" in field ? field.optional : field]),
    ),
    required: entries.flatMap(([name, field]) => ("optional" in field ? [] : [name])),
    ...notes,
  };
  return schema as ObjectSchema<Given>;
}

/** An object with the fields of another one, and more. */
export function extend<Base, const Given extends Fields>(
  base: ObjectSchema<Base>,
  fields: Given,
  notes: Notes = {},
): ObjectSchema<Base & Given> {
  const more = object(fields);
  const schema: JsonSchema = {
    ...base,
    properties: { ...base.properties, ...more.properties },
    required: [...base.required, ...more.required],
    ...notes,
  };
  return schema as ObjectSchema<Base & Given>;
}

/** The same object without any other field. */
export function strict<Value>(schema: Schema<Value>): Schema<Value> {
  return { ...schema, additionalProperties: false };
}

/** The same object with fields of any name, which count as known. */
export function open<Value>(schema: Schema<Value>): Schema<Value & Readonly<Record<string, unknown>>> {
  return toSchema({ ...schema, additionalProperties: {} });
}

/** An object with any names, or those that fit a schema. */
export function record<Value>(values: Schema<Value>, names?: Schema<string>): Schema<Readonly<Record<string, Value>>> {
  return toSchema({ type: "object", ...(names && { propertyNames: names }), additionalProperties: values });
}

/** A field that may be left out. */
export function optional<Value>(schema: Schema<Value>): Optional<Value> {
  return { optional: schema };
}

/** The same schema with a rule that keywords cannot express. Its words also stand in for those of the keywords. */
export function refine<Value>(
  schema: Schema<Value>,
  expected: string,
  accepts: (value: Value) => boolean = () => true,
  field?: string,
): Schema<Value> {
  return { ...schema, [refinement]: { expected, accepts, ...(field !== undefined && { field }) } };
}
