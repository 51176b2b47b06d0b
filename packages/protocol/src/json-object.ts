/** A JSON object from outside whose fields are not yet known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True if `value` is an object and no array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else one without fields. */
export function toJsonObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The value of JSON text from outside; undefined if it is not JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
