/** The tools that the runs of a program have, by the options of the same names as the flags (C46). */
import type { ToolChoice } from "../tools/registry.ts";
import { checkToolNames, toAllowedRules } from "../tools/tool-choice.ts";
import { checkTools, createUsageError, type CustomTool } from "./custom-tool.ts";

/** The choice of an agent's tools. Names are as in `--list-tools`; `NAME*` is every tool with that prefix. */
export interface ToolOptions {
  /** The program's tools, and names. With a name, the agent has the listed tools alone. Default: all built-in tools. */
  readonly tools?: readonly (string | CustomTool)[];
  /** Names of tools that the agent does not have. */
  readonly excludeTools?: readonly string[];
  /** Rules such as `Shell(npm test)`, and names: `run_terminal_cmd` allows every command. */
  readonly allowedTools?: readonly string[];
}

export interface ChosenTools {
  readonly custom: readonly CustomTool[];
  readonly choice: ToolChoice;
  /** Rules from `allowedTools`. */
  readonly allow: readonly string[];
}

/** @throws SheafError USAGE with the option and its fault. */
export function chooseTools({ tools = [], excludeTools = [], allowedTools = [] }: ToolOptions): ChosenTools {
  for (const [option, list] of Object.entries({ tools, excludeTools, allowedTools })) {
    if (!Array.isArray(list)) throw createUsageError(`${option} is ${JSON.stringify(list)}: give a list`);
  }
  const custom = tools.filter((tool) => typeof tool !== "string");
  const named = tools.filter((tool) => typeof tool === "string");
  checkTools(custom);
  const own = custom.map(({ name }) => name);
  const only = [...checkToolNames("createAgent: tools", named, own), ...own];
  return {
    custom,
    choice: {
      ...(named.length > 0 && { only }),
      excluded: checkToolNames("createAgent: excludeTools", excludeTools, own),
    },
    allow: toAllowedRules("createAgent: allowedTools", allowedTools, own),
  };
}
