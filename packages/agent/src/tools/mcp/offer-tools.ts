/** What the tool servers of a run offer, made callable. Loaded only if a run has a server. */
import type { Tool as McpTool, CallToolResult } from "@modelcontextprotocol/client";
import type { McpServerState, McpEffect } from "@sheaf/protocol";
import type { McpServerSettings } from "../../config/mcp-settings.ts";
import { createSafeText } from "../../model/live/secrets.ts";
import { toCancelledOutcome, toFailure } from "../failure.ts";
import type { CallableTool } from "../registry.ts";
import { cutMiddle } from "../../workspace/text-format.ts";
import { readMcpContent } from "./read-content.ts";
import { toMcpToolName } from "./tool-name.ts";
import type { ToolReturn } from "../tool.ts";
import type { ToolServer } from "./tool-server.ts";

/** Longest description of a tool for the model, in UTF-16 units. */
const MAX_DESCRIPTION = 2000;

/** In the order of the settings. */
export interface OfferedTools {
  readonly servers: readonly McpServerState[];
  readonly tools: readonly CallableTool[];
}

/** Asks all servers at once. One that fails is reported and left out: it does not block the run. */
export async function offerTools(servers: readonly ToolServer[], signal: AbortSignal): Promise<OfferedTools> {
  const found = await Promise.all(
    servers.map(async (server) => {
      try {
        return { server, tools: await server.listTools(signal), problem: undefined };
      } catch (error) {
        return { server, tools: [], problem: toProblem(error, server.settings) };
      }
    }),
  );
  const names = new Set<string>();
  const tools = found.flatMap(({ server, tools: offered }) =>
    offered.map((tool) => {
      const toolName = toMcpToolName(server.name, tool.name, names);
      names.add(toolName);
      return toCallable(toolName, tool, server);
    }),
  );
  return {
    servers: found.map(({ server: { name }, tools: offered, problem }) => ({
      name,
      status: problem === undefined ? "ready" : "failed",
      tools: offered.map((tool) => tool.name),
      ...(problem !== undefined && { problem }),
    })),
    tools,
  };
}

function toCallable(name: string, tool: McpTool, server: ToolServer): CallableTool {
  const description = (tool.description ?? tool.title ?? "").slice(0, MAX_DESCRIPTION);
  return {
    name,
    description: `${description === "" ? tool.name : description} (tool "${tool.name}" of the server "${server.name}")`,
    documentType: "tool_call",
    access: "mcp",
    schema: tool.inputSchema,
    mcp: { server: server.name, tool: tool.name },
    prepare(call) {
      if (call.rawArguments !== undefined) {
        const message = `the arguments of ${name} are not a JSON object: write them again`;
        return { ok: false, outcome: toFailure("INVALID_ARGUMENTS", message) };
      }
      return {
        ok: true,
        async run({ signal }) {
          try {
            return toMcpOutcome(server.name, tool.name, await server.callTool(tool.name, call.arguments, signal));
          } catch (error) {
            if (signal.aborted) return toCancelledOutcome();
            const problem = toProblem(error, server.settings);
            return toFailure("TOOL_FAILED", `${server.name}:${tool.name} failed: ${problem}`);
          }
        },
      };
    },
  };
}

/** One line, whatever the server said, without the keys that it got (S-41). */
function toProblem(error: unknown, settings: McpServerSettings): string {
  const message = error instanceof Error ? error.message : String(error);
  const secrets = "url" in settings ? settings.headers : settings.env;
  const baseUrl = "url" in settings ? settings.url : "";
  return createSafeText({ apiKey: undefined, baseUrl, headers: secrets ?? {} })(message, 500);
}

/** Longest text that goes into the log, in UTF-16 units. */
const MAX_TEXT = 100_000;

/** Text unchanged, images and PDF attached; everything else as a line that names it. Bounded, and never trusted (S-71). */
export function toMcpOutcome(server: string, tool: string, result: CallToolResult): ToolReturn {
  const { content: read, attachments } = readMcpContent(tool, result.content);
  const isOnlyStructured = read.length === 0 && result.structuredContent !== undefined;
  const parts = isOnlyStructured ? [{ type: "text" as const, text: JSON.stringify(result.structuredContent) }] : read;
  const whole = parts.map(({ text }) => text).join("\n");
  const isCut = whole.length > MAX_TEXT;
  const output = cutMiddle(whole, MAX_TEXT);
  const isError = result.isError === true;
  const content = isCut
    ? [{ type: "text" as const, text: output }, ...parts.filter(({ type }) => type === "image")]
    : parts;
  const effect: McpEffect = { kind: "mcp", server, tool, content, isError };
  const files = attachments.length > 0 && { attachments };
  const common = {
    output,
    effect,
    whole,
    ...files,
    ...(isCut && { truncated: true as const, bytes: Buffer.byteLength(whole) }),
  };
  if (!isError) return { status: "success", ...common };
  const [line = ""] = output.trim().split("\n", 1);
  const message = `${server}:${tool} failed: ${line === "" ? "it said nothing more" : line.slice(0, 500)}`;
  return { status: "error", ...common, error: { code: "TOOL_FAILED", message, details: "" } };
}
