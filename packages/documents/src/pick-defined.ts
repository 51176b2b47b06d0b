import type { PartialMetadata } from "@sheaf/protocol";

/** The fields that have a value: what is not known is left out, not undefined. */
export function pickDefined(fields: PartialMetadata): PartialMetadata {
  if (!Object.values(fields).includes(undefined)) return fields;
  const found: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) found[name] = fields[name];
  return found;
}
