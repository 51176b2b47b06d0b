/** Which tools a run offers, by `--tools`, `--exclude-tools` and `--allowed-tools` (C46). */
import { SheafError } from "../base/errors.ts";
import { findNearest } from "../base/nearest-names.ts";
import { listToolNames, type ToolChoice } from "../tools/registry.ts";
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
  const words = list.match(/\w+\([^)]*\)|[^\s,]+/g) ?? [];
  return words.flatMap((word) => {
    if (word.includes("(")) return [word];
    const [name = ""] = toNames("--allowed-tools", word);
    const server = /^mcp__(.+?)__(.+)$/.exec(name);
    if (server) return [`Mcp(${server[1]}:${server[2]})`];
    // The other tools ask for nothing that a rule could give.
    return name === "run_terminal_cmd" ? ["Shell(*)"] : [];
  });
}

function toNames(flag: string, list: string): readonly string[] {
  const known = listToolNames();
  const names = list.split(/[\s,]+/).filter((name) => name !== "");
  const isKnown = (name: string): boolean =>
    name.startsWith("mcp__") ||
    known.some((tool) => (name.endsWith("*") ? tool.startsWith(name.slice(0, -1)) : tool === name));
  const unknown = names.find((name) => !isKnown(name));
  if (unknown === undefined) return names;
  const nearest = findNearest(unknown, known);
  const question = nearest.length === 0 ? "" : `did you mean ${nearest.join(" or ")}? `;
  throw new SheafError(
    "USAGE",
    `${flag}: there is no tool "${unknown}": ${question}use ${known.join(", ")}, or mcp__SERVER__TOOL`,
  );
}
