/** Reads arguments that a model wrote, and whose types are uncertain. */
import { isJsonObject } from "@sheaf/protocol/check-value";

export type ToolArguments = Readonly<Record<string, unknown>>;

export function findTextArgument(values: ToolArguments | undefined, name: string): string | undefined {
  const value = values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Returns the argument with this name; "" if it is not a string (N12). */
export function toTextArgument(values: ToolArguments | undefined, name: string): string {
  return findTextArgument(values, name) ?? "";
}

/** Returns the objects in a list argument; [] for anything else. */
export function toListArgument(values: ToolArguments | undefined, name: string): readonly ToolArguments[] {
  return toItems(values, name).filter(isJsonObject);
}

/** Returns the strings in a list argument; [] for anything else. */
export function toTextListArgument(values: ToolArguments | undefined, name: string): readonly string[] {
  return toItems(values, name).filter((item) => typeof item === "string");
}

function toItems(values: ToolArguments | undefined, name: string): readonly unknown[] {
  const value = values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
  return Array.isArray(value) ? value : [];
}
