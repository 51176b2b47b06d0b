/** Building blocks of tool arguments. From zod's small edition: it loads in a third of the time of the whole one. */
import * as z from "zod/mini";

/** A text, with what a model is told about it. */
export const string = (description: string) => z.string().check(z.describe(description));

/** A text of at least one character. */
export const nonEmptyString = (description: string) => z.string().check(z.minLength(1), z.describe(description));

/** A whole number above 0. */
export const positiveInteger = (description: string, most: number = Number.MAX_SAFE_INTEGER) =>
  z.int().check(z.gte(1), z.lte(most), z.describe(description));

export const flag = (description: string) => z.boolean().check(z.describe(description));

export const list = <Item extends z.ZodMiniType>(item: Item, least: number, most: number, description: string) =>
  z.array(item).check(z.minLength(least), z.maxLength(most), z.describe(description));

// Exported one by one: the namespace as a value would take all of zod into the bundle.
export { object, optional } from "zod/mini";

/** One of some words. */
export const choice = <const Words extends readonly [string, ...string[]]>(words: Words, description: string) =>
  z.enum(words).check(z.describe(description));
