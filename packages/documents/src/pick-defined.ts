/** The fields that have a value: what is not known is left out, not undefined. */
export function pickDefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const found = Object.entries(fields).filter(([, value]) => value !== undefined);
  // What is left of the fields has their types.
  return Object.fromEntries(found) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}
