/** Reads JSON of a provider, without trusting any part of it. */
import { isJsonObject, parseJson, toJsonObject, type JsonObject } from "@sheaf/protocol/check-value";

export { isJsonObject, parseJson, toJsonObject as readObject, type JsonObject };

/** Returns the objects in a list, without all other values. */
export function readObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the string, or "" for other values. */
export function readString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns the first non-empty string, or "". */
export function readFirstString(...values: readonly unknown[]): string {
  for (const value of values) if (typeof value === "string" && value !== "") return value;
  return "";
}

/** Returns the first number of things (tokens, bytes …), rounded: not negative, at most the largest safe integer. */
export function readCount(...values: readonly unknown[]): number | undefined {
  for (const value of values) {
    if (typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return Math.round(value);
  }
  return undefined;
}

/** Returns the JSON text, or undefined if the value is nested too deeply to be written. */
export function formatJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
