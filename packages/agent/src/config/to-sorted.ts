/** Values for digests. */
import { isJsonObject } from "@sheaf/protocol/check-value";

/** The same value whatever the order of its fields, so that another layout of the file needs no new yes. */
export function toSorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSorted);
  if (!isJsonObject(value)) return value;
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([field, item]) => [field, toSorted(item)]);
}
