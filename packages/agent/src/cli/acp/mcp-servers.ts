/** Servers of the Model Context Protocol that an editor brings along: the editor speaks for its user. */
import type { McpServer } from "@agentclientprotocol/sdk";
import { SheafError } from "../../base/errors.ts";
import type { McpServers, McpServerSettings } from "../../config/mcp-server-settings.ts";

/** By name. @throws SheafError USAGE for a transport that Sheaf did not offer. */
export function toMcpServers(servers: readonly McpServer[]): McpServers {
  return Object.fromEntries(servers.map((server) => [server.name, toSettings(server)]));
}

function toSettings(server: McpServer): McpServerSettings {
  if (!("type" in server)) {
    const { command, args, env } = server;
    return { command, args, env: Object.fromEntries(env.map(({ name, value }) => [name, value])) };
  }
  if (server.type === "http") {
    const { url, headers } = server;
    return { url, headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) };
  }
  throw new SheafError("USAGE", `the MCP server "${server.name}" is reached by ${server.type}: use stdio or http`);
}
