import { isJsonObject } from "./read-json.ts";

/** Arguments of a tool call, the last two fields of its event (N30). */
export interface ParsedToolArguments {
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the model wrote, where that is no JSON object. */
  readonly rawArguments?: string;
}

/** Deeper nesting than any tool asks for; whoever writes the log as JSON must not run out of stack. */
const maximumDepth = 500;

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((entry) => isDeeperThan(entry, depth - 1));
}

/**
 * Parses the JSON text of a call's arguments (N30).
 * Blank text is a call without arguments: providers send it for tools that take none.
 */
export function parseToolArguments(text: string): ParsedToolArguments {
  if (text.trim() === "") return { arguments: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value) && !isDeeperThan(value, maximumDepth)) return { arguments: value };
  } catch {
    // The model's text is kept below.
  }
  return { arguments: {}, rawArguments: text };
}
