/** A JSON object from outside whose fields are not yet known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True if `value` is an object and no array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it's an object, else an empty object. */
export function toJsonObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Parses JSON text from outside; returns undefined if it isn't JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
