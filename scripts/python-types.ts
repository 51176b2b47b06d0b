/**
 * Writes the types of the Python client from the description of the Chat API:
 * `npm run python-types` after a change of the API.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenApiDocument } from "@sheaf/agent/output/openapi";

interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

/** Python reserves these names, so a class body cannot have them as fields. */
const keywords =
  /^(False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;

/** The file that this program writes. */
export const pythonTypesFile = join(import.meta.dirname, "../clients/python/sheaf_client/wire.py");

/** The text of that file. */
export function formatPythonTypes(): string {
  const { paths, components } = createOpenApiDocument("any") as {
    readonly paths: unknown;
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  return new PythonTypes(components.schemas).format(["events", ...listReferences(paths)]);
}

/** Names of the schemas that a part of the document refers to. */
function listReferences(part: unknown): string[] {
  return [...JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!);
}

/** The place of a schema, from which a type gets its name. */
interface Place {
  readonly parent: string;
  readonly key: string;
  /** One of several types: the value of its field that is always the same names it. */
  readonly isMember?: boolean;
}

class PythonTypes {
  readonly #schemas: Readonly<Record<string, Schema>>;
  /** Names of types by their shape: one shape has one type. */
  readonly #names = new Map<string, string>();
  /** Shapes without a name in the API, by the property that has them. */
  readonly #shapes = new Map<string, Set<string>>();
  readonly #classes = new Map<string, string>();
  readonly #aliases = new Map<string, string>();

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
  }

  format(roots: readonly string[]): string {
    const used = new Set(roots);
    for (const name of used) for (const other of listReferences(this.#schemas[name])) used.add(other);
    const names = Object.keys(this.#schemas).filter((name) => used.has(name));
    for (const name of names) this.#names.set(toShape(this.#schemas[name]!), toComponent(name, this.#schemas[name]!));
    for (const name of names) for (const part of listParts(this.#schemas[name]!)) this.#count(part, name);
    for (const name of names) this.#addComponent(name);
    const head = `"""Types of the Chat API. \`npm run python-types\` writes this file."""`;
    const imports = "from __future__ import annotations\n\nfrom typing import Any, Literal, TypedDict, Union";
    const classes = [...this.#classes.values()].join("\n\n\n");
    return `${head}\n\n${imports}\n\n\n${classes}\n\n\n${[...this.#aliases.values()].join("\n\n")}\n`;
  }

  /** Notes the shape of each object under the property that has it. */
  #count(schema: Schema, key: string): void {
    if (isClosedObject(schema) && !this.#names.has(toShape(schema)))
      this.#shapes.set(key, (this.#shapes.get(key) ?? new Set()).add(toShape(schema)));
    for (const [name, property] of Object.entries(schema.properties ?? {})) this.#count(property, name);
    for (const part of schema.anyOf ?? []) this.#count(part, key);
    if (schema.items) this.#count(schema.items, toSingular(key));
  }

  #addComponent(name: string): void {
    const schema = this.#schemas[name]!;
    const type = toComponent(name, schema);
    if (isClosedObject(schema)) return this.#addClass(type, schema);
    const place = { parent: "", key: toSingular(name), isMember: true };
    const members = (schema.anyOf ?? [schema]).map((member) => this.#toType(member, place));
    this.#aliases.set(type, `${type} = Union[\n${members.map((member) => `    ${member},\n`).join("")}]`);
  }

  #addClass(type: string, { title, properties = {}, required = [] }: Schema): void {
    if (this.#classes.has(type)) throw new Error(`Two shapes have the name ${type}: give one a name in the schemas.`);
    this.#classes.set(type, "");
    const fields = Object.entries(properties).map(([name, property]) => {
      if (!/^[A-Za-z_]\w*$/.test(name) || keywords.test(name))
        throw new Error(`${type} has the field "${name}", and Python has no such name: rename it in the schema.`);
      const line = `    ${name}: ${this.#toType(property, { parent: type, key: name })}\n`;
      return { line, isRequired: required.includes(name) };
    });
    const always = fields.filter(({ isRequired }) => isRequired);
    const sometimes = fields.filter(({ isRequired }) => !isRequired);
    const words = title === undefined ? "" : `    """${title}."""\n\n`;
    const toBody = (part: typeof fields): string => part.map(({ line }) => line).join("");
    const isSplit = always.length > 0 && sometimes.length > 0;
    const base = isSplit ? `class _${type}(TypedDict):\n${toBody(always)}\n\n` : "";
    const parents = isSplit ? `_${type}, total=False` : always.length > 0 ? "TypedDict" : "TypedDict, total=False";
    const body = words + toBody(isSplit ? sometimes : fields) || "    pass\n";
    this.#classes.set(type, `${base}class ${type}(${parents}):\n${body}`.trimEnd());
  }

  #toType(schema: Schema, place: Place): string {
    if (schema.$ref !== undefined) return this.#toReference(schema.$ref);
    if (schema.const !== undefined) return `Literal[${toLiteral(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(toLiteral).join(", ")}]`;
    if (schema.anyOf) {
      const members = schema.anyOf.flatMap(flattenUnion);
      const types = new Set(members.map((member) => this.#toType(member, { ...place, isMember: true })));
      return [...types].join(" | ");
    }
    switch (schema.type) {
      case "array":
        return `list[${this.#toType(schema.items ?? {}, { ...place, key: toSingular(place.key) })}]`;
      case "object":
        return this.#toObject(schema, place);
      case "string":
        return "str";
      case "integer":
        return "int";
      case "number":
        return "float";
      case "boolean":
        return "bool";
      case "null":
        return "None";
      case undefined:
        if (Object.keys(schema).length === 0) return "Any";
    }
    throw new Error(`${place.parent}.${place.key} has a schema without a type in Python: ${JSON.stringify(schema)}`);
  }

  #toReference(reference: string): string {
    const [, name = ""] = /^#\/components\/schemas\/(.+)$/.exec(reference) ?? [];
    return toComponent(name, this.#schemas[name]!);
  }

  #toObject(schema: Schema, place: Place): string {
    if (!isClosedObject(schema)) {
      const values = schema.properties ? {} : schema.additionalProperties;
      return `dict[str, ${typeof values === "object" ? this.#toType(values, place) : "Any"}]`;
    }
    const shape = toShape(schema);
    const known = this.#names.get(shape);
    if (known !== undefined) return known;
    const type = this.#toName(schema, place);
    this.#names.set(shape, type);
    this.#addClass(type, schema);
    return type;
  }

  /** The property names a type if all of its objects have one shape; otherwise the type around it does, too. */
  #toName(schema: Schema, { parent, key, isMember }: Place): string {
    const name = toPascalCase(key);
    const kinds = Object.values(schema.properties ?? {}).filter(({ const: value }) => typeof value === "string");
    if (isMember && kinds.length === 1) return toPascalCase(kinds[0]!.const as string) + name;
    const isTaken = new Set(this.#names.values()).has(name);
    return this.#shapes.get(key)?.size === 1 && !isTaken ? name : parent + name;
  }
}

function isClosedObject({ type, properties, additionalProperties }: Schema): boolean {
  return type === "object" && properties !== undefined && additionalProperties === undefined;
}

function toSingular(name: string): string {
  return name.replace(/(?<=[^su])s$/, "");
}

/** A schema without itself, so that its own name stays free. */
function listParts(schema: Schema): readonly Schema[] {
  return isClosedObject(schema)
    ? [{ type: "object", additionalProperties: {}, properties: schema.properties! }]
    : [schema];
}

function flattenUnion(schema: Schema): readonly Schema[] {
  return schema.anyOf?.flatMap(flattenUnion) ?? [schema];
}

/** The same text for the same fields, whatever their title. */
function toShape({ title: _title, ...schema }: Schema): string {
  return JSON.stringify(schema);
}

/** A union of events is one event. */
function toComponent(name: string, { anyOf }: Schema): string {
  return toPascalCase(anyOf ? toSingular(name) : name);
}

function toPascalCase(name: string): string {
  return name.replaceAll(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function toLiteral(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string" || Number.isInteger(value)) return JSON.stringify(value);
  throw new Error(`${JSON.stringify(value)} is no literal in Python: change the schema.`);
}

if (process.argv[1] === import.meta.filename) writeFileSync(pythonTypesFile, formatPythonTypes());
