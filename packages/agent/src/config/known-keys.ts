/** Which keys a place of the configuration has, for one that it does not have. */
import { findNearest } from "../base/nearest-names.ts";

/** What a JSON Schema says about keys. */
interface KeySchema {
  readonly properties?: Readonly<Record<string, KeySchema>>;
  readonly additionalProperties?: KeySchema | boolean;
  readonly anyOf?: readonly KeySchema[];
}

/** ` (did you mean "model"?)`, or the keys that there are; `path`: where the wrong key stands. */
export function adviseOnKey(schema: KeySchema, path: readonly PropertyKey[], key: string): string {
  let places: readonly KeySchema[] = toForms(schema);
  for (const step of path) places = places.flatMap((place) => toInner(place, String(step)));
  const known = [...new Set(places.flatMap(({ properties = {} }) => Object.keys(properties)))];
  const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(" or ");
  const nearest = findNearest(key, known);
  return nearest.length > 0 ? ` (did you mean ${quoted(nearest)}?)` : ` (there are ${known.join(", ")})`;
}

function toInner({ properties = {}, additionalProperties }: KeySchema, step: string): KeySchema[] {
  if (Object.hasOwn(properties, step)) return toForms(properties[step]!);
  return typeof additionalProperties === "object" ? toForms(additionalProperties) : [];
}

function toForms(schema: KeySchema): KeySchema[] {
  return schema.anyOf ? schema.anyOf.flatMap(toForms) : [schema];
}
