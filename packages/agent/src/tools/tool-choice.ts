/** Names of tools from callers: the tools that a run offers, and the rules that allow them (C46). */
import { quoteValue, SheafError } from "@sheaf/base/errors";
import { findNearest } from "@sheaf/base/nearest-names";
import { describeTool, listToolNames } from "./registry.ts";

/**
 * Checks names; `NAME*` is every tool whose name starts with NAME. `option` has the names, and `further` tools of the
 * program. @throws SheafError USAGE for a name that no tool has.
 */
export function checkToolNames(
  option: string,
  names: readonly string[],
  further: readonly string[] = [],
): readonly string[] {
  const known = [...listToolNames(), ...further];
  const isKnown = (name: string): boolean =>
    name.startsWith("mcp__") ||
    known.some((tool) => (name.endsWith("*") ? tool.startsWith(name.slice(0, -1)) : tool === name));
  const unknown = names.find((name) => !isKnown(name));
  if (unknown === undefined) return names;
  const nearest = findNearest(unknown, known);
  const all = `use ${known.join(", ")}, or mcp__SERVER__TOOL`;
  const advice = nearest.length === 0 ? all : `did you mean ${nearest.join(" or ")}?`;
  throw new SheafError("USAGE", `${option}: the tool ${quoteValue(unknown)} is unknown: ${advice}`);
}

/** Returns the rules for texts that are rules or names of tools. @throws SheafError USAGE for an unknown name. */
export function toAllowedRules(
  option: string,
  words: readonly string[],
  further: readonly string[] = [],
): readonly string[] {
  return words.flatMap((word) => {
    if (word.includes("(")) return [word];
    const [name = ""] = checkToolNames(option, [word], further);
    if (further.includes(name)) return [`Mcp(program:${name})`];
    const server = /^mcp__(.+?)__(.+)$/.exec(name);
    if (server) return [`Mcp(${server[1]}:${server[2]})`];
    // The other tools do not ask for anything that a rule could allow.
    return describeTool(name)?.access === "command" ? ["Shell(*)"] : [];
  });
}
