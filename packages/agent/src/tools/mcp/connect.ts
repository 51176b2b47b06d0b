/** Connects the servers that the user named, and makes their tools callable. Loaded only if there is one. */
import type { Client, Tool as McpTool, CallToolResult } from "@modelcontextprotocol/client";
import type { McpServerState, McpEffect } from "@sheaf/protocol";
import { createSafeText } from "../../model/live/secrets.ts";
import { toCancelledOutcome, toFailure } from "../failure.ts";
import type { CallableTool } from "../registry.ts";
import { createServerConnection, type ServerConnection, type ServerPorts } from "./server-connection.ts";
import type { McpServers, McpServerSettings } from "../../config/mcp-settings.ts";
import { cutMiddle } from "../../workspace/text-format.ts";
import { readMcpContent } from "./read-content.ts";
import { toMcpToolName } from "./tool-name.ts";
import type { ToolReturn } from "../tool.ts";

/** How long a server may take to be ready. Milliseconds. */
const CONNECT_MS = 10_000;

/** Default of `timeoutSeconds`. */
const CALL_SECONDS = 60;

/** However often a tool shows progress, it ends. Milliseconds. */
const MAX_CALL_MS = 60 * 60 * 1000;

/** Longest description of a tool for the model, in UTF-16 units. */
const MAX_DESCRIPTION = 2000;

export interface McpConnections {
  /** In the order of the settings. */
  readonly servers: readonly McpServerState[];
  readonly tools: readonly CallableTool[];
  /** Ends all of them, programs included. */
  close(): Promise<void>;
}

/** Connects to all servers at once. One that fails is reported and left out: it does not block the run. */
export async function connectMcpServers(
  servers: McpServers,
  options: ServerPorts & { readonly signal: AbortSignal },
): Promise<McpConnections> {
  const found = await Promise.all(
    Object.entries(servers).map(async ([name, settings]) => {
      const server = createServerConnection(settings, options);
      try {
        return { name, settings, server, tools: await listTools(server, options.signal), problem: undefined };
      } catch (error) {
        await server.close();
        return { name, settings, server, tools: [], problem: toProblem(error, settings) };
      }
    }),
  );
  const names = new Set<string>();
  const tools = found.flatMap(({ name, settings, server: { client }, tools: offered }) =>
    offered.map((tool) => {
      const toolName = toMcpToolName(name, tool.name, names);
      names.add(toolName);
      return toCallable(toolName, name, tool, client, settings);
    }),
  );
  return {
    servers: found.map(({ name, tools: offered, problem }) => ({
      name,
      status: problem === undefined ? "ready" : "failed",
      tools: offered.map((tool) => tool.name),
      ...(problem !== undefined && { problem }),
    })),
    tools,
    async close() {
      await Promise.all(found.map(({ server }) => server.close()));
    },
  };
}

async function listTools(server: ServerConnection, signal: AbortSignal): Promise<readonly McpTool[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]);
  const aborted = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new Error(`it was not ready within ${CONNECT_MS / 1000} s`));
    if (limit.aborted) fail();
    else limit.addEventListener("abort", fail, { once: true });
  });
  const { client } = server;
  const request = { signal: limit, timeout: CONNECT_MS };
  await Promise.race([server.connect(request), aborted]);
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const { tools } = await Promise.race([client.listTools(undefined, request), aborted]);
  return tools;
}

function toCallable(
  name: string,
  server: string,
  tool: McpTool,
  client: Client,
  settings: McpServerSettings,
): CallableTool {
  const { timeoutSeconds = CALL_SECONDS } = settings;
  const description = (tool.description ?? tool.title ?? "").slice(0, MAX_DESCRIPTION);
  return {
    name,
    description: `${description === "" ? tool.name : description} (tool "${tool.name}" of the server "${server}")`,
    documentType: "tool_call",
    access: "mcp",
    schema: tool.inputSchema,
    mcp: { server, tool: tool.name },
    prepare(call) {
      if (call.rawArguments !== undefined) {
        const message = `the arguments of ${name} are not a JSON object: write them again`;
        return { ok: false, outcome: toFailure("INVALID_ARGUMENTS", message) };
      }
      return {
        ok: true,
        async run({ signal }) {
          try {
            const request = {
              signal,
              timeout: timeoutSeconds * 1000,
              resetTimeoutOnProgress: true,
              maxTotalTimeout: MAX_CALL_MS,
              onprogress: () => undefined,
            };
            return toMcpOutcome(
              server,
              tool.name,
              await client.callTool({ name: tool.name, arguments: { ...call.arguments } }, request),
            );
          } catch (error) {
            if (signal.aborted) return toCancelledOutcome();
            return toFailure("TOOL_FAILED", `${server}:${tool.name} failed: ${toProblem(error, settings)}`);
          }
        },
      };
    },
  };
}

/** One line, whatever the server said, without the key that it got (S-41). */
function toProblem(error: unknown, settings: McpServerSettings): string {
  const message = error instanceof Error ? error.message : String(error);
  const { url = "", headers = {} } = "url" in settings ? settings : {};
  return createSafeText({ apiKey: undefined, baseUrl: url, headers })(message, 500);
}

/** Longest text that goes into the log, in UTF-16 units. */
const MAX_TEXT = 100_000;

/** Text unchanged, images and PDF attached; everything else as a line that names it. Bounded, and never trusted (S-71). */
export function toMcpOutcome(server: string, tool: string, result: CallToolResult): ToolReturn {
  const { texts: parts, attachments } = readMcpContent(tool, result.content);
  if (parts.length === 0 && result.structuredContent !== undefined)
    parts.push(JSON.stringify(result.structuredContent));
  const whole = parts.join("\n");
  const isCut = whole.length > MAX_TEXT;
  const output = cutMiddle(whole, MAX_TEXT);
  const isError = result.isError === true;
  const content = [{ type: "text", text: output }] as const;
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
