/** The content of a tool's result: text and attachments (N68). */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Attachment, McpContent } from "@sheaf/protocol";
import { findExcess, formatAttachment, toAttachment } from "@sheaf/base/files/attachment";

type Block = CallToolResult["content"][number];

export interface ReadContent {
  /** One part for each block: text unchanged, everything else as a line about it. */
  readonly content: readonly McpContent[];
  readonly attachments: readonly Attachment[];
}

/** Reads content without trusting it: its bytes decide on the type of an image (S-102). */
export function readMcpContent(tool: string, blocks: readonly Block[]): ReadContent {
  const attachments: Attachment[] = [];
  const attach = (kind: string, mimeType: string | undefined, data: string): McpContent => {
    const bytes = Buffer.from(data, "base64");
    const made = toAttachment(bytes, `${tool} ${attachments.length + 1}`);
    const problem = made.ok ? findExcess([...attachments, made.value]) : `it ${made.problem}`;
    const isUnknown = !mimeType?.startsWith("image/") && mimeType !== "application/pdf";
    if (made.ok && problem === undefined) {
      const { mediaType, sha256 } = made.value;
      attachments.push(made.value);
      const text = `[${formatAttachment(made.value)}]`;
      return mediaType === "application/pdf" ? toText(text) : { type: "image", text, sha256 };
    }
    const reason = isUnknown ? "" : `: ${problem}`;
    return toText(
      `[${kind}${mimeType === undefined ? "" : ` ${mimeType}`}, ${bytes.length} bytes, not shown${reason}]`,
    );
  };
  const read = (block: Block): McpContent => {
    switch (block.type) {
      case "text":
        return toText(block.text);
      case "image":
        return attach("image", block.mimeType, block.data);
      case "audio":
        return toText(`[audio ${block.mimeType}, ${Math.floor((block.data.length * 3) / 4)} bytes, not shown]`);
      case "resource_link":
        return toText(`[link ${block.name}: ${block.uri}]`);
      case "resource": {
        const { resource } = block;
        const text = "text" in resource ? resource.text : decodeBlob(resource.mimeType, resource.blob);
        if (text !== undefined) return toText(text);
        return attach(`resource ${resource.uri}`, resource.mimeType, "blob" in resource ? resource.blob : "");
      }
      default:
        return toText("[content of an unknown kind, not shown]");
    }
  };
  return { content: blocks.map(read), attachments };
}

/** Decodes text that a server sent as bytes; undefined if it isn't text. */
function decodeBlob(mimeType: string | undefined, blob: string): string | undefined {
  if (!mimeType?.startsWith("text/")) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(blob, "base64"));
  } catch {
    return undefined;
  }
}

function toText(text: string): McpContent {
  return { type: "text", text };
}
