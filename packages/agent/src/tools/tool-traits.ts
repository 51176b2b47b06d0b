/** The description of a tool for everything that doesn't run it: the guard, the output formats, hooks and subagents. */
import type { ToolKind } from "@agentclientprotocol/sdk";
import type { ToolCallKey } from "@sheaf/protocol";
import type { JudgedTool } from "@sheaf/permissions/decision";

/** Languages with their own words. */
export const locales = ["en", "de", "tr", "ja", "zh-TW"] as const;

export type Locale = (typeof locales)[number];

/** An action line in each language. */
type ActionWords = readonly [en: string, de: string, tr: string, ja: string, taiwan: string];

/** Arguments as a model wrote them: a field may have any type. */
export type GivenArguments = Readonly<Record<string, unknown>>;

/** One description for each tool, next to its code. It also formats stored logs, so old fields keep their meaning. */
export interface ToolTraits<Field extends string = string> extends JudgedTool {
  /**
   * The arguments with the files of a call, and with the folders (or files) that it searches; without a folder, it
   * searches the workspace. Undefined: it may read anything, so each rule against reading refuses it.
   */
  readonly paths?: { readonly files?: readonly Field[]; readonly folders?: readonly Field[] };
  /** The model sees the tool only if a page can be permitted, or the conversation has a plan (C39). */
  readonly needs?: "pages" | "plan";
  /** True if it also opens kept results (N57). */
  readonly opensResults?: true;
  /** True if it is part of the conversation with the user, so that subagents do not have it. */
  readonly isWithheld?: true;
  /** The action line of `text` and the terminal, by language (C11). Default: its name. */
  readonly words?: ActionWords;
  /** The kind for editors (X17). Default: other. */
  readonly kind?: ToolKind;
  /** Its one key in `tool_call`, with its arguments there (C9). Default: `function`. */
  readonly toCursor?: (
    args: GivenArguments,
    callId: string,
  ) => { readonly [Key in ToolCallKey]?: Record<string, unknown> };
  /** Its name in Claude Code, another one, and the fields there by their names here (C82). */
  readonly claude?: {
    readonly name: string;
    readonly also?: string;
    readonly fields?: Readonly<Record<string, string>>;
  };
  /** The tool of Claude Code whose name in a subagent's list also means this tool (C98). */
  readonly comesWith?: string;
  /** Its names in other agents, and words in them; folded. */
  readonly aliases?: readonly string[];
  /** Turns arguments of other agents that can mean one thing only into its arguments (N59). */
  readonly mend?: (args: GivenArguments) => GivenArguments;
}

/** Removes differences of spelling: `readFile`, `read_file` and `Read-File` become one name. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Returns an argument as text: JSON if it has another type, "" if it is missing. */
export function toArgumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Returns the objects of a list; an empty list for any other value. */
export function toObjects(value: unknown): GivenArguments[] {
  return Array.isArray(value)
    ? value.filter((item): item is GivenArguments => typeof item === "object" && item !== null)
    : [];
}

/** Returns the fields that the model set with the right type. */
export function toOptional(type: "string" | "integer" | "boolean", fields: GivenArguments): Record<string, unknown> {
  const isGiven = (value: unknown): boolean => (type === "integer" ? Number.isInteger(value) : typeof value === type);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)));
}
