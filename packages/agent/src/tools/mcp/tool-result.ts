/** What a tool of a server gave, as the outcome of a call: bounded, never trusted (S-71). */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { McpEffect } from "@sheaf/protocol";
import type { ToolOutcome } from "../tool.ts";

/** Longest text that goes to the model and into the log, in UTF-16 units. */
const MAX_TEXT = 100_000;

/** Text as it is, everything else by a line that names it. */
export function toMcpOutcome(server: string, tool: string, result: CallToolResult): ToolOutcome {
  const parts = result.content.map(toText);
  if (parts.length === 0 && result.structuredContent !== undefined)
    parts.push(JSON.stringify(result.structuredContent));
  const whole = parts.join("\n");
  const isCut = whole.length > MAX_TEXT;
  const output = isCut ? cutMiddle(whole) : whole;
  const isError = result.isError === true;
  const content = [{ type: "text", text: output }] as const;
  const effect: McpEffect = { kind: "mcp", server, tool, content, isError };
  const common = { output, effect, ...(isCut && { truncated: true as const, bytes: Buffer.byteLength(whole) }) };
  if (!isError) return { status: "success", ...common };
  const [line = ""] = output.trim().split("\n", 1);
  const message = `${server}:${tool} failed: ${line === "" ? "it said nothing more" : line.slice(0, 500)}`;
  return { status: "error", ...common, error: { code: "TOOL_FAILED", message, details: "" } };
}

function toText(block: CallToolResult["content"][number]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type} ${block.mimeType}, ${Math.floor((block.data.length * 3) / 4)} bytes, not shown]`;
    case "resource_link":
      return `[link ${block.name}: ${block.uri}]`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource ${block.resource.uri}, not shown]`;
    default:
      return "[content of an unknown kind, not shown]";
  }
}

/** The begin and the end tell most. */
function cutMiddle(text: string): string {
  const half = MAX_TEXT / 2;
  return `${text.slice(0, half)}\n… ${text.length - MAX_TEXT} characters cut out …\n${text.slice(-half)}`;
}
