/** The outcome of a server's call. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { McpEffect } from "@sheaf/protocol";
import { cutMiddle } from "@sheaf/base/files/text-format";
import type { ToolReturn } from "../tool.ts";
import { readMcpContent } from "./read-content.ts";

/** Longest text that goes into the log, in UTF-16 units. */
const MAX_TEXT = 100_000;

/** Converts a result: text as it is, images and PDF attached, all else as a line. Bounded, never trusted (S-71). */
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
  const message = `${server}:${tool} failed: ${line === "" ? "it gave no reason" : line.slice(0, 500)}`;
  return { status: "error", ...common, error: { code: "TOOL_FAILED", message, details: "" } };
}
