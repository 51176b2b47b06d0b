/** Validates printed lines against the published schemas, closed, so that a misspelt field is found (C13). */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { toJsonSchema, type SchemaName } from "@sheaf/protocol/schemas";

const validators = new Map<SchemaName, ValidateFunction>();

function getValidator(name: SchemaName): ValidateFunction {
  const known = validators.get(name);
  if (known) return known;
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
  const validator = ajv.compile(toJsonSchema(name, { closed: true }));
  validators.set(name, validator);
  return validator;
}

/** What is wrong with a value by a published schema; undefined: nothing. */
export function explainInvalid(name: SchemaName, value: unknown): string | undefined {
  const validate = getValidator(name);
  if (validate(value)) return undefined;
  return `${JSON.stringify(validate.errors?.slice(0, 3))} in ${JSON.stringify(value).slice(0, 400)}`;
}

/** Parses lines and checks each. @throws Error with the first line that is wrong. */
export function parseValidLines(name: SchemaName, lines: readonly string[]): Record<string, unknown>[] {
  return lines.map((line) => {
    if (!line.endsWith("\n") || line.indexOf("\n") !== line.length - 1) throw new Error(`no single line: ${line}`);
    const value = JSON.parse(line) as Record<string, unknown>;
    const problem = explainInvalid(name, value);
    if (problem) throw new Error(problem);
    return value;
  });
}
