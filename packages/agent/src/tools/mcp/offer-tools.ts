/** Makes the tools of a run's servers callable. Only a run with servers loads this module. */
import { formatUnreadable } from "@sheaf/documents/model-streams";
import type { Tool as McpTool } from "@modelcontextprotocol/client";
import type { McpServerState } from "@sheaf/protocol";
import { toCancelledOutcome, toFailure } from "../failure.ts";
import type { CallableTool, ServerTools } from "../registry.ts";
import { createResourceTools, listResources, type ListedResource } from "./resource-tools.ts";
import { createServerPrompts, type ServerPrompts } from "./server-prompts.ts";
import { createServerTools, type ServerToolsOptions } from "./server-tools.ts";
import { toMcpOutcome } from "./tool-outcome.ts";
import { createToolList } from "./tool-list.ts";
import { toProblem } from "./server-problem.ts";
import type { ToolServer } from "./tool-server.ts";

/** Longest description of a tool for the model, in UTF-16 units. */
const MAX_DESCRIPTION = 2000;

/** Instructions of one server for the model, in UTF-16 units. */
const MAX_INSTRUCTIONS = 2000;

/** Most servers whose instructions the model gets. */
const MAX_INSTRUCTED = 8;

/** The instructions of the server `name` for its tools; `isCut`: without the end. */
interface ServerInstructions {
  readonly name: string;
  readonly text: string;
  readonly isCut: boolean;
}

/** The offer of all servers, in the order of the settings. */
export interface OfferedTools {
  readonly servers: readonly McpServerState[];
  /** The tools as they were at first. */
  readonly tools: readonly CallableTool[];
  /** Opens the tools as they change, for one run or one subagent. */
  readonly openTools: (options: ServerToolsOptions) => ServerTools;
  readonly prompts: ServerPrompts;
  /** Instructions, each with the name of its server (S-259). */
  readonly instructions: readonly ServerInstructions[];
  /** Lists the resources of one server. @throws if it does not answer in time. */
  readonly listResources: (server: string, signal: AbortSignal) => Promise<readonly ListedResource[]>;
}

/** Asks all servers at once. A server that fails does not block the run: the result has its problem, not its tools. */
export async function offerTools(servers: readonly ToolServer[], signal: AbortSignal): Promise<OfferedTools> {
  const found = await Promise.all(
    servers.map(async (server) => {
      try {
        return { server, tools: await server.listTools(signal), problem: undefined };
      } catch (error) {
        return { server, tools: [], problem: toProblem(error, server) };
      }
    }),
  );
  const ready = found.filter(({ problem }) => problem === undefined);
  const list = createToolList(
    ready.map(({ server, tools }) => [server, tools]),
    toCallable,
  );
  const withResources = ready.flatMap(({ server }) => (server.capabilities?.resources ? [server] : []));
  const resourceTools = withResources.length > 0 ? createResourceTools(withResources) : [];
  return {
    servers: found.map(({ server: { name }, tools: offered, problem }) => ({
      name,
      status: problem === undefined ? "ready" : "failed",
      tools: offered.map((tool) => tool.name),
      ...(problem !== undefined && { problem }),
    })),
    tools: list.tools,
    openTools: (options) => createServerTools(list, resourceTools, options),
    instructions: ready
      .map(({ server }) => toInstructions(server))
      .filter(({ text }) => text !== "")
      .slice(0, MAX_INSTRUCTED),
    prompts: createServerPrompts(ready.map(({ server }) => server)),
    async listResources(name, asked) {
      const server = withResources.find((each) => each.name === name);
      return server ? listResources(server, asked) : [];
    },
  };
}

function toInstructions({ name, instructions }: ToolServer): ServerInstructions {
  const text = instructions.slice(0, MAX_INSTRUCTIONS).toWellFormed();
  return { name, text, isCut: text.length < instructions.length };
}

function toCallable(name: string, tool: McpTool, server: ToolServer): CallableTool {
  const text = (tool.description || tool.title || tool.name).slice(0, MAX_DESCRIPTION);
  // A name that a model may not write is changed, and would be lost.
  const isSaid = name === `mcp__${server.name}__${tool.name}`;
  return {
    name,
    description: isSaid ? text : `${text} (tool "${tool.name}" of the server "${server.name}")`,
    access: "mcp",
    schema: tool.inputSchema,
    mcp: { server: server.name, tool: tool.name },
    prepare(call) {
      if (call.rawArguments !== undefined) {
        return { ok: false, outcome: toFailure("INVALID_ARGUMENTS", formatUnreadable(name, call.rawArguments)) };
      }
      return {
        ok: true,
        async run({ signal, askPerson }) {
          const isConnected = (): boolean => server.capabilities !== undefined;
          const wasConnected = isConnected();
          try {
            const { result, notes } = await server.callTool(tool.name, call.arguments, { signal, askPerson });
            const note = notes.join(" ");
            return { ...toMcpOutcome(server.name, tool.name, result), ...(note !== "" && { note }) };
          } catch (error) {
            if (signal.aborted) return toCancelledOutcome();
            const problem = toProblem(error, server);
            const failed = toFailure("TOOL_FAILED", `${server.name}:${tool.name} failed: ${problem}`);
            if (wasConnected || isConnected()) return failed;
            const message = `MCP server ${server.name} ended, and did not start again: ${problem}`;
            return { ...failed, notice: { code: "SERVER_NOT_STARTED", message } };
          }
        },
      };
    },
  };
}
