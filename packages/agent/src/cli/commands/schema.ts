/** `sheaf schema NAME`: a published JSON Schema (C13). */
import { SheafError } from "../../errors.ts";
import { schemaNames, toJsonSchema } from "../../output/schemas/json-schemas.ts";
import type { ParsedArguments } from "../arguments.ts";

/** Prints the schema. @throws SheafError USAGE for an unknown name. */
export function runSchema({ positionals }: ParsedArguments): number {
  const [name] = positionals;
  const known = schemaNames.find((candidate) => candidate === name);
  if (!known || positionals.length !== 1) {
    throw new SheafError(
      "USAGE",
      `schema "${positionals.join(" ")}" is unknown: name one of ${schemaNames.join(", ")}`,
    );
  }
  process.stdout.write(`${JSON.stringify(toJsonSchema(known), undefined, 2)}\n`);
  return 0;
}
