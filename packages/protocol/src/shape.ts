/** Checks of foreign values, made of small ones. */
import { isJsonObject } from "./json-object.ts";

/** Gives undefined, or the first problem as `.path[0].to.it: expected …`. */
export type Shape = (value: unknown) => string | undefined;

/** A shape of one value that is not looked into. */
export function only(expected: string, accepts: (value: unknown) => boolean): Shape {
  const problem = `: expected ${expected}`;
  return (value) => (accepts(value) ? undefined : problem);
}

export const anything: Shape = () => undefined;
export const text = only("a string", (value) => typeof value === "string");
export const flag = only("a boolean", (value) => typeof value === "boolean");
export const integer = only("an integer", Number.isSafeInteger);
export const amount = only("a number of at least 0", (value) => typeof value === "number" && value >= 0);
export const count = only("an integer of at least 0", (value) => Number.isSafeInteger(value) && Number(value) >= 0);
export const nothing = only("null", (value) => value === null);
export const object = only("an object", isJsonObject);

/** One of `values`, or a private value that starts with `_` (N13). */
export function oneOf(...values: readonly string[]): Shape {
  return only(
    `one of ${values.join(", ")}`,
    (value) => typeof value === "string" && (values.includes(value) || value.startsWith("_")),
  );
}

/** Passes if one of two shapes does; the problem told is that of the first. */
export function either(first: Shape, second: Shape): Shape {
  return (value) => (second(value) === undefined ? undefined : first(value));
}

/** An array whose items all have one shape. */
export function list(item: Shape): Shape {
  return (value) => {
    if (!Array.isArray(value)) return ": expected an array";
    for (const [index, entry] of value.entries()) {
      const problem = item(entry);
      if (problem !== undefined) return `[${index}]${problem}`;
    }
    return undefined;
  };
}

/** An object with these fields; others are fine (N1). */
export function fields(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  const mandatory = Object.entries(required);
  const voluntary = Object.entries(optional);
  return (value) => {
    if (!isJsonObject(value)) return ": expected an object";
    for (const [name, shape] of mandatory) {
      if (!Object.hasOwn(value, name)) return `.${name}: is missing`;
      const problem = shape(value[name]);
      if (problem !== undefined) return `.${name}${problem}`;
    }
    for (const [name, shape] of voluntary) {
      const problem = Object.hasOwn(value, name) ? shape(value[name]) : undefined;
      if (problem !== undefined) return `.${name}${problem}`;
    }
    return undefined;
  };
}

/** Several shapes of one value, looked at in order. */
export function both(first: Shape, second: Shape): Shape {
  return (value) => first(value) ?? second(value);
}
