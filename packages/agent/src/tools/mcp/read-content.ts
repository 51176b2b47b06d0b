/** The content of a tool's result: text, and what can be attached to it (N68). */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Attachment } from "@sheaf/protocol";
import { findExcess, formatAttachment, toAttachment } from "../../workspace/attachment.ts";

type Block = CallToolResult["content"][number];

export interface McpContent {
  /** One for each block: text unchanged; everything else as a line that names it. */
  readonly texts: string[];
  readonly attachments: readonly Attachment[];
}

/** Never trusted: what an image is, its bytes say (S-102). */
export function readMcpContent(tool: string, blocks: readonly Block[]): McpContent {
  const attachments: Attachment[] = [];
  const attach = (kind: string, mimeType: string | undefined, data: string): string => {
    const bytes = Buffer.from(data, "base64");
    const made = toAttachment(bytes, `${tool} ${attachments.length + 1}`);
    const problem = made.ok ? findExcess([...attachments, made.value]) : `it ${made.problem}`;
    const isUnknown = !mimeType?.startsWith("image/") && mimeType !== "application/pdf";
    if (made.ok && problem === undefined) {
      attachments.push(made.value);
      return `[${formatAttachment(made.value)}]`;
    }
    const reason = isUnknown ? "" : `: ${problem}`;
    return `[${kind}${mimeType === undefined ? "" : ` ${mimeType}`}, ${bytes.length} bytes, not shown${reason}]`;
  };
  const toText = (block: Block): string => {
    switch (block.type) {
      case "text":
        return block.text;
      case "image":
        return attach("image", block.mimeType, block.data);
      case "audio":
        return `[audio ${block.mimeType}, ${Math.floor((block.data.length * 3) / 4)} bytes, not shown]`;
      case "resource_link":
        return `[link ${block.name}: ${block.uri}]`;
      case "resource": {
        const { resource } = block;
        return "text" in resource
          ? resource.text
          : attach(`resource ${resource.uri}`, resource.mimeType, resource.blob);
      }
      default:
        return "[content of an unknown kind, not shown]";
    }
  };
  return { texts: blocks.map(toText), attachments };
}
