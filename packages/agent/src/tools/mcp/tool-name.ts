/** Names of servers' tools, as models may write them: `[A-Za-z0-9_-]`, at most 64. */

const prefix = "mcp__";
const MAX_LENGTH = 64;

/** Returns `mcp__SERVER__TOOL`: other characters than models may write become `_`, and `taken` names get a number. */
export function toMcpToolName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const name = `${prefix}${toPlain(server)}__${toPlain(tool)}`.slice(0, MAX_LENGTH);
  for (let number = 2, candidate = name; ; number += 1) {
    if (!taken.has(candidate)) return candidate;
    candidate = `${name.slice(0, MAX_LENGTH - 1 - `${number}`.length)}_${number}`;
  }
}

/** Returns the server and the tool of such a name; undefined for any other name. */
export function parseMcpToolName(name: string): { readonly server: string; readonly tool: string } | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const match = /^mcp__(.+?)__(.+)$/s.exec(name);
  return match ? { server: match[1]!, tool: match[2]! } : undefined;
}

/** Replaces other characters. Two underscores separate the server from the tool, so neither may contain them. */
function toPlain(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9-]+/g, "_").replaceAll(/_{2,}/g, "_") || "_";
}
