/** Values for digests. */
import { isJsonObject } from "@sheaf/protocol/check-value";

/** The same value for any order of fields, so that another layout of the file needs no new approval. */
export function toSorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSorted);
  if (!isJsonObject(value)) return value;
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([field, item]) => [field, toSorted(item)]);
}
