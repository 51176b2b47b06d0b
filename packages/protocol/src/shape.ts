/** Checks of foreign values that tell where and why one is not what it has to be. */
import { isJsonObject } from "./json-object.ts";
import { isChoice, isList, type Kind, matches } from "./pattern.ts";

/** Gives undefined, or the first problem as `.path[0].to.it: expected …`. */
export type Shape = (value: unknown) => string | undefined;

/** A pattern, in which shapes may stand. */
export type Rule = Kind | readonly string[] | readonly [Rules] | Rules | Shape;

/** By field; with `?` behind its name it may be missing, and others are fine (N1). */
export interface Rules {
  readonly [field: string]: Rule;
}

/** How a problem names what it misses. */
const expectations: Readonly<Record<Kind, string>> = {
  anything: "anything",
  text: "a string",
  flag: "a boolean",
  amount: "a number of at least 0",
  count: "an integer of at least 0",
  place: "an integer of at least 1",
  instant: "a time such as 2026-02-23T10:30:00Z",
  object: "an object",
};

export function toShape(rule: Rule): Shape {
  if (typeof rule === "function") return rule;
  if (typeof rule === "string") return only(expectations[rule], (value) => matches(value, rule));
  if (isList(rule)) return list(rule[0]);
  if (isChoice(rule)) return only(`one of ${rule.join(", ")}`, (value) => matches(value, rule));
  return fields(rule);
}

/** A shape of one value that is not looked into. */
export function only(expected: string, accepts: (value: unknown) => boolean): Shape {
  const problem = `: expected ${expected}`;
  return (value) => (accepts(value) ? undefined : problem);
}

/** Passes if one of two does; the problem told is that of the first. */
export function either(first: Rule, second: Rule): Shape {
  const [tell, other] = [toShape(first), toShape(second)];
  return (value) => (other(value) === undefined ? undefined : tell(value));
}

/** An array whose items all keep one rule. */
export function list(rule: Rule): Shape {
  const shape = toShape(rule);
  return (value) => {
    if (!Array.isArray(value)) return ": expected an array";
    for (const [index, entry] of value.entries()) {
      const problem = shape(entry);
      if (problem !== undefined) return `[${index}]${problem}`;
    }
    return undefined;
  };
}

/** What must be there is looked at first. */
function fields(rules: Rules): Shape {
  const shapes = Object.entries(rules).map(([name, rule]) => [name.replace("?", ""), name, toShape(rule)] as const);
  const required = shapes.filter(([field, name]) => field === name);
  const ordered = [...required, ...shapes.filter((shape) => !required.includes(shape))];
  return (value) => {
    if (!isJsonObject(value)) return ": expected an object";
    for (const [field, name, shape] of ordered) {
      const missing = field === name ? ": is missing" : undefined;
      const problem = Object.hasOwn(value, field) ? shape(value[field]) : missing;
      if (problem !== undefined) return `.${field}${problem}`;
    }
    return undefined;
  };
}
