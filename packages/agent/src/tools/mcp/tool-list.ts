/** The tools of servers as they are now, each with a name that it keeps (C112). */
import type { Tool } from "@modelcontextprotocol/client";
import { toFailure } from "../failure.ts";
import type { CallableTool } from "../registry.ts";
import { toMcpToolName } from "./tool-name.ts";
import type { ToolServer } from "./tool-server.ts";

export interface ToolList {
  /** Tools in the order of the servers. It stays the same array until a tool changes. */
  readonly tools: readonly CallableTool[];
  /** Finds a tool that a server no longer has; its calls fail for this reason. */
  findLost(name: string): CallableTool | undefined;
  /** Reads lists that servers report as changed. An old list stays if the new one does not arrive. Never rejects. */
  refresh(signal: AbortSignal): Promise<void>;
}

/** The tools of a server at the last request. */
type Listed = readonly [server: ToolServer, tools: readonly Tool[]];

export function createToolList(
  first: readonly Listed[],
  toCallable: (name: string, tool: Tool, server: ToolServer) => CallableTool,
): ToolList {
  /** Names by server and tool. */
  const names = new Map<string, string>();
  const known = new Map<string, CallableTool>();
  const taken = new Set<string>();
  let listed = first;
  let refreshing: Promise<void> | undefined;

  const toTools = (): CallableTool[] =>
    listed.flatMap(([server, tools]) =>
      tools.map((tool) => {
        const key = JSON.stringify([server.name, tool.name]);
        const name = names.get(key) ?? toMcpToolName(server.name, tool.name, taken);
        names.set(key, name);
        taken.add(name);
        const made = toCallable(name, tool, server);
        known.set(name, made);
        return made;
      }),
    );
  let current = toTools();

  const read = async (signal: AbortSignal): Promise<void> => {
    const answers = await Promise.all(listed.map(([server]) => server.listChangedTools(signal).catch(() => undefined)));
    if (answers.every((tools) => tools === undefined)) return;
    listed = listed.map(([server, tools], place) => [server, answers[place] ?? tools]);
    current = toTools();
  };

  return {
    get tools() {
      return current;
    },
    findLost(name) {
      const tool = known.get(name);
      return tool && !current.some((each) => each.name === name) ? toLost(tool) : undefined;
    },
    refresh: (signal) => (refreshing ??= read(signal).finally(() => (refreshing = undefined))),
  };
}

function toLost(tool: CallableTool): CallableTool {
  const { server = "", tool: name = "" } = tool.mcp ?? {};
  const message = `the server ${server} no longer offers the tool ${name}: do without it, or use another one`;
  return { ...tool, prepare: () => ({ ok: false, outcome: toFailure("TOOL_FAILED", message) }) };
}
