/** `sheaf schema NAME` prints a published JSON Schema (C13), or the configuration file's schema. */
import { toConfigSchema } from "@sheaf/agent/config/config-file";
import { SheafError } from "@sheaf/base/errors";
import { schemaNames, toJsonSchema } from "@sheaf/protocol/schemas";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { printJson } from "../standard-output.ts";

/** Prints the schema. @throws SheafError USAGE for an unknown name. */
export async function runSchema(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [name, ...rest] = parsed.positionals;
  const known = schemaNames.find((candidate) => candidate === name);
  if (rest.length > 0 || (!known && name !== "config")) {
    const names = [...schemaNames, "config"].join(", ");
    const problem = name === undefined ? "schema needs NAME" : `schema "${parsed.positionals.join(" ")}" is unknown`;
    throw new SheafError("USAGE", `${problem}: write one of ${names}`);
  }
  const schema = known ? toJsonSchema(known) : toConfigSchema();
  return printJson(io, schema);
}
