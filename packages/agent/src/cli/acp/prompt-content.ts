/** What a person writes in an editor, as a message. */
import type { ContentBlock } from "@agentclientprotocol/sdk/unstable";
import type { RunStart } from "@sheaf/protocol";
import { SheafError } from "../../base/errors.ts";
import { toFence } from "../../base/to-fence.ts";
import { toMessageAttachments } from "../../workspace/attachment.ts";

/**
 * Text unchanged, links by name and address, embedded text in full; images and other embedded files are attached.
 * @throws SheafError USAGE for audio, and for a file that is no image and no PDF (N65).
 */
export function toPromptMessage(content: readonly ContentBlock[]): Pick<RunStart, "prompt" | "attachments"> {
  const texts: string[] = [];
  const files: { readonly name: string; readonly bytes: Uint8Array }[] = [];
  for (const block of content) {
    const file = toFile(block, files.length + 1);
    if (file) files.push({ name: file.name, bytes: Buffer.from(file.data, "base64") });
    else texts.push(toBlockText(block));
  }
  const prompt = texts.join("\n\n");
  return files.length === 0 ? { prompt } : { prompt, attachments: toMessageAttachments(files) };
}

/** Bytes alone count: an address is never read (S-102). */
function toFile(block: ContentBlock, number: number): { readonly name: string; readonly data: string } | undefined {
  if (block.type === "image") return { name: block.uri || `image ${number}`, data: block.data };
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  return { name: block.resource.uri, data: block.resource.blob };
}

function toBlockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.name}](${block.uri})`;
    case "resource": {
      const { resource } = block;
      if (!("text" in resource)) return "";
      const fence = toFence(resource.text);
      return `${resource.uri}\n${fence}\n${resource.text}\n${fence}`;
    }
    default:
      throw new SheafError("USAGE", `a prompt holds ${block.type}: send text, images, links or embedded files`);
  }
}
