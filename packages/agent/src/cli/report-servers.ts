/** Tells a person which MCP servers a run goes without (S-87). */
import type { RunStart } from "@sheaf/protocol";
import { toVisibleLine } from "../output/visible-text.ts";

/** One line each on stderr, which must be a terminal (C15); `seen` has those that were told before. */
export function reportServers({ mcpServers = [] }: Pick<RunStart, "mcpServers">, seen: Set<string>): void {
  for (const { name, status, problem = "" } of mcpServers) {
    const line = toVisibleLine(`sheaf: MCP server ${name}: ${problem}`);
    if (status === "ready" || seen.has(line)) continue;
    seen.add(line);
    process.stderr.write(`${line}\n`);
  }
}
