/** Reading arguments that a model wrote: nothing in them is certain. */

export type ToolArguments = Readonly<Record<string, unknown>>;

/** The first of these arguments that is a string. */
export function toTextArgument(values: ToolArguments, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (typeof value === "string") return value;
  }
  return undefined;
}

/** The objects in an argument that is a list; [] for anything else. */
export function toListArgument(values: ToolArguments, name: string): readonly ToolArguments[] {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The strings in an argument that is a list; [] for anything else. */
export function toTextListArgument(values: ToolArguments, name: string): readonly string[] {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function isObject(value: unknown): value is ToolArguments {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
