/** Values in the query of a request. */
import type { Context } from "hono";
import { HttpError } from "./http-error.ts";
import type { ServerEnvironment } from "./server-context.ts";

/** A whole number from 1 to `most`. @throws HttpError USAGE. */
export function readWholeNumber(
  request: Context<ServerEnvironment>,
  name: string,
  { byDefault, most }: { readonly byDefault: number; readonly most: number },
): number {
  const text = request.req.query(name);
  if (text === undefined) return byDefault;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw new HttpError(
    "USAGE",
    `${name} is ${JSON.stringify(text.slice(0, 100))}: send a whole number from 1 to ${most}`,
  );
}
