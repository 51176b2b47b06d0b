/** What a foreign value has to be, as data: a reader only asks whether it is, and the guards can say why it is not. */
import { isJsonObject } from "./json-object.ts";

/** A kind; one of several texts, or a private one that starts with `_` (N13); an array of objects; an object. */
export type Pattern = Kind | readonly string[] | readonly [Fields] | Fields;

/** An object with these fields; those with `?` behind their name may be missing, and others are fine (N1). */
export interface Fields {
  readonly [field: string]: Pattern;
}

export type Kind = keyof typeof kinds;

const kinds = {
  anything: () => true,
  text: (value: unknown) => typeof value === "string",
  flag: (value: unknown) => typeof value === "boolean",
  amount: (value: unknown) => typeof value === "number" && value >= 0,
  count: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0,
  place: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 1,
  instant: (value: unknown) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
  object: isJsonObject,
};

/** The problem in words: `toShape`. */
export function matches(value: unknown, pattern: Pattern): boolean {
  if (typeof pattern === "string") return kinds[pattern](value);
  if (isList(pattern)) return Array.isArray(value) && value.every((item) => matches(item, pattern[0]));
  if (isChoice(pattern)) return typeof value === "string" && (pattern.includes(value) || value.startsWith("_"));
  if (!isJsonObject(value)) return false;
  for (const name in pattern) {
    const field = name.endsWith("?") ? name.slice(0, -1) : name;
    const holds = Object.hasOwn(value, field) ? matches(value[field], pattern[name] ?? "anything") : field !== name;
    if (!holds) return false;
  }
  return true;
}

/** An array of objects. */
export function isList<Item extends object>(
  pattern: readonly string[] | readonly [Item] | object,
): pattern is readonly [Item] {
  return Array.isArray(pattern) && typeof pattern[0] === "object";
}

/** One of several texts. */
export function isChoice(pattern: object): pattern is readonly string[] {
  return Array.isArray(pattern) && !isList(pattern);
}
