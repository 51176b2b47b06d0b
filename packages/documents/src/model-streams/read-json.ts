/** Reads JSON of a provider. Nothing in it is trusted. */
import { isJsonObject, parseJson, toJsonObject, type JsonObject } from "@sheaf/protocol/check-value";

export { isJsonObject, parseJson, toJsonObject as readObject, type JsonObject };

/** The objects in a list, without everything else in it. */
export function readObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The string, or "". */
export function readString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The first non-empty string, or "". */
export function readFirstString(...values: readonly unknown[]): string {
  for (const value of values) if (typeof value === "string" && value !== "") return value;
  return "";
}

/** The first that is a count (of tokens, bytes …): not negative and at most the largest safe integer. Rounded. */
export function readCount(...values: readonly unknown[]): number | undefined {
  for (const value of values) {
    if (typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return Math.round(value);
  }
  return undefined;
}

/** The JSON text, or undefined if the value is nested too deeply to be written. */
export function formatJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
