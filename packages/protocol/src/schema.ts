/** Schemas of values. Each one is a plain JSON Schema (draft 2020-12) that also has the type of its values. */

/** The JSON Schema keywords that Sheaf uses. `checkValue` knows exactly these. */
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
  /** A rule that no keyword can express. Symbols aren't part of the JSON. */
  readonly [refinement]?: Refinement;
  /** True if later versions may extend the list of choices: tolerant readers accept any string. */
  readonly [growing]?: true;
}

export const refinement: unique symbol = Symbol("refinement");
export const growing: unique symbol = Symbol("growing");

/** A rule beyond the keywords, as a text and as a function. */
export interface Refinement {
  /** Text that completes "expected …", for instance `a rule such as Read(.env)`. */
  readonly expected: string;
  /** Checks a value that matches the keywords. */
  readonly accepts: (value: never) => boolean;
  /** The field to blame, if it isn't the value as a whole. */
  readonly field?: string;
  /** True if `accepts` replaces the check of the schema's pattern, and accepts the same texts. */
  readonly isForPattern?: true;
}

/** A key that exists for the compiler only. */
declare const accepted: unique symbol;

/** A JSON Schema of values of one type. */
export interface Schema<Value = unknown> extends JsonSchema {
  readonly [accepted]: Value;
}

/** A field that may be missing. */
export interface Optional<Value> {
  readonly optional: Schema<Value>;
}

/** Fields by name. TypeScript copies comments on fields to the type's fields. */
export type Fields = Readonly<Record<string, Schema | Optional<unknown>>>;

/** The type of the values that match a schema or a field. */
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

/** Gives a schema its type, which the caller promises. */
function toSchema<Value>(schema: JsonSchema): Schema<Value> {
  return schema as Schema<Value>;
}

/** Returns the same schema with a type named after an interface. */
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

/** Makes a schema of bytes as base64; there may be many megabytes. */
export function base64(notes: Notes = {}): Schema<string> {
  const schema = string({ pattern: "^[A-Za-z0-9+/]+={0,2}$", ...notes });
  return { ...schema, [refinement]: { expected: "base64", accepts: isBase64, isForPattern: true } };
}

/** True for base64. Searches for other characters, since matching the pattern would use memory for each character. */
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

export function nothing(): Schema<null> {
  return toSchema({ type: "null" });
}

/** Makes a schema of exactly one value. */
export function literal<const Value extends string | boolean>(value: Value): Schema<Value> {
  return toSchema({ type: typeof value === "string" ? "string" : "boolean", const: value });
}

/** Makes a schema of one of several strings. */
export function choice<const Value extends string>(values: readonly Value[], notes: Notes = {}): Schema<Value> {
  return toSchema({ type: "string", enum: values, ...notes });
}

/** Makes a schema of one of several strings, to which later versions may add. */
export function growingChoice<const Value extends string>(values: readonly Value[]): Schema<Value> {
  return toSchema({ type: "string", enum: values, [growing]: true });
}

/** Makes a schema of values that match one of several schemas. */
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

/** Makes a schema of an array with exactly one item. */
export function single<Item>(items: Schema<Item>): Schema<readonly [Item]> {
  return toSchema({ type: "array", items, minItems: 1, maxItems: 1 });
}

/** Makes a schema of an object with known fields. Other fields are valid, but `keepKnown` drops them. */
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

/** Makes a schema of an object with the fields of another one, and more. */
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

/** Makes a copy of an object's schema that forbids unknown fields. */
export function strict<Value>(schema: Schema<Value>): Schema<Value> {
  return { ...schema, additionalProperties: false };
}

/** Makes a copy of an object's schema that keeps fields of any name. */
export function open<Value>(schema: Schema<Value>): Schema<Value & Readonly<Record<string, unknown>>> {
  return toSchema({ ...schema, additionalProperties: {} });
}

/** Makes a schema of an object with any names, or with names that match a schema. */
export function record<Value>(values: Schema<Value>, names?: Schema<string>): Schema<Readonly<Record<string, Value>>> {
  return toSchema({ type: "object", ...(names && { propertyNames: names }), additionalProperties: values });
}

/** Makes a field that may be missing. */
export function optional<Value>(schema: Schema<Value>): Optional<Value> {
  return { optional: schema };
}

/** Adds a rule that keywords can't express. `expected` replaces the description of the keywords. */
export function refine<Value>(
  schema: Schema<Value>,
  expected: string,
  accepts: (value: Value) => boolean = () => true,
  field?: string,
): Schema<Value> {
  return { ...schema, [refinement]: { expected, accepts, ...(field !== undefined && { field }) } };
}
