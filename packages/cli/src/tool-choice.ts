/** Which tools a run offers, by `--tools`, `--exclude-tools` and `--allowed-tools` (C46). */
import type { ToolChoice } from "@sheaf/agent/tools/registry";
import { checkToolNames, toAllowedRules } from "@sheaf/agent/tools/tool-choice";
import type { FlagValues } from "./flags.ts";

/** @throws SheafError USAGE for a name that no tool has. */
export function toToolChoice({ tools, "exclude-tools": excluded }: FlagValues): ToolChoice {
  return {
    ...(tools !== undefined && { only: toNames("--tools", tools) }),
    ...(excluded !== undefined && { excluded: toNames("--exclude-tools", excluded) }),
  };
}

/** Rules of the list, as `--allow` takes them one by one; commas within brackets belong to a rule. */
export function toAllowRules({ "allowed-tools": list = "" }: FlagValues): readonly string[] {
  return toAllowedRules("--allowed-tools", list.match(/\w+\([^)]*\)|[^\s,]+/g) ?? []);
}

function toNames(flag: string, list: string): readonly string[] {
  return checkToolNames(
    flag,
    list.split(/[\s,]+/).filter((name) => name !== ""),
  );
}
