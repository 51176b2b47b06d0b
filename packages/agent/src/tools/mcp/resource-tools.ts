/** list_mcp_resources and read_mcp_resource: resources of servers that a model may read (C110). */
import type { Client, ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/client";
import * as s from "@sheaf/protocol/schema";
import { toLine } from "@sheaf/base/files/read-folder";
import { toCancelledOutcome, toFailure } from "../failure.ts";
import { toCallable, type CallableTool } from "../registry.ts";
import type { ToolReturn } from "../tool.ts";
import { toProblem } from "./server-problem.ts";
import { toMcpOutcome } from "./tool-outcome.ts";
import type { ToolServer } from "./tool-server.ts";

/** Most resources of one server; Sheaf ignores the rest of a longer list. */
const MAX_LISTED = 1000;

/** Rules for reading a resource have this name: `Mcp(SERVER:resources/read)`. */
const readRule = "resources/read";

/** Creates the tools for the servers that have resources. */
export function createResourceTools(servers: readonly ToolServer[]): readonly CallableTool[] {
  const names = servers.map(({ name }) => name) as [string, ...string[]];
  const server = s.choice(names);
  const listTool = toCallable<{ readonly server?: string | undefined }>({
    name: "list_mcp_resources",
    description: "List the resources of MCP servers: what read_mcp_resource can read.",
    access: "state",
    parameters: s.object({ server: s.optional(server) }),
    async run({ server: only }, { signal }) {
      const asked = servers.filter(({ name }) => only === undefined || name === only);
      const lists = await Promise.all(asked.map((each) => listOf(each, signal)));
      return signal.aborted ? toCancelledOutcome() : { status: "success", output: lists.join("\n") };
    },
  });
  const readTool = toCallable<{ readonly server: string; readonly uri: string }>({
    name: "read_mcp_resource",
    description:
      "Read a resource of an MCP server: from a list, from a link in a result, or from the user as @SERVER:URI.",
    access: "mcp",
    parameters: s.object({ server, uri: s.string({ minLength: 1, maxLength: 4000 }) }),
    run: async ({ server: name, uri }, { signal }) =>
      readResource(
        servers.find((each) => each.name === name)!,
        uri,
        signal,
      ),
  });
  return [listTool, { ...readTool, mcpOf: ({ server: name }) => ({ server: String(name), tool: readRule }) }];
}

/** Sends the address to the server as it is, and nowhere else (S-153). */
async function readResource(server: ToolServer, uri: string, signal: AbortSignal): Promise<ToolReturn> {
  try {
    const { contents } = await server.ask((client, options) => client.readResource({ uri }, options), signal);
    return toMcpOutcome(server.name, readRule, { content: contents.map(toBlock) });
  } catch (error) {
    if (signal.aborted) return toCancelledOutcome();
    const problem = toProblem(error, server);
    return toFailure("TOOL_FAILED", `${server.name} did not give ${toLine(uri.slice(0, 200))}: ${problem}`);
  }
}

function toBlock(resource: ReadResourceResult["contents"][number]) {
  return { type: "resource" as const, resource };
}

async function listOf(server: ToolServer, signal: AbortSignal): Promise<string> {
  try {
    const lines = (await listResources(server, signal)).map(formatListed);
    return [`${server.name} (${lines.length}):`, ...lines].join("\n");
  } catch (error) {
    return `${server.name}: ${toProblem(error, server)}`;
  }
}

/** A resource, or a template of addresses. */
export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  /** True if the address has places to fill in. */
  readonly isTemplate: boolean;
  readonly mimeType?: string | undefined;
  readonly description?: string | undefined;
}

/** Lists resources and templates. @throws if the server does not answer in time. */
export async function listResources(server: ToolServer, signal: AbortSignal): Promise<readonly ListedResource[]> {
  const { resources } = await server.ask((client, options) => client.listResources(undefined, options), signal);
  const { resourceTemplates } = await server.ask(listTemplates, signal);
  return [
    ...resources.map((resource) => toListed(resource, resource.uri, false)),
    ...resourceTemplates.map((template) => toListed(template, template.uriTemplate, true)),
  ].slice(0, MAX_LISTED);
}

/** Lists templates. Many servers with resources do not know the request. */
async function listTemplates(client: Client, options: Parameters<Client["listResourceTemplates"]>[1]) {
  return client.listResourceTemplates(undefined, options).catch((error: unknown) => {
    if (options?.signal?.aborted) throw error;
    return { resourceTemplates: [] };
  });
}

function toListed(
  { name, title, mimeType, description }: Resource | ResourceTemplateType,
  uri: string,
  isTemplate: boolean,
): ListedResource {
  return { uri, name: title ?? name, isTemplate, mimeType, description };
}

/** Formats a resource as one line, even if its texts have several. */
function formatListed({ uri, name, isTemplate, mimeType, description = "" }: ListedResource): string {
  const [line = ""] = description.trim().split(/\r?\n/, 1);
  const about = [name, mimeType ?? "", line].filter((text) => text !== "" && text !== uri);
  const facts = about.map((text) => toLine(text.slice(0, 200).toWellFormed())).join("; ");
  return `- ${toLine(uri.slice(0, 4000).toWellFormed())}${isTemplate ? " (fill in the braces)" : ""}${facts === "" ? "" : `: ${facts}`}`;
}
