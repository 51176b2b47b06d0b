/** What a person writes in an editor, as a message. */
import type { ContentBlock } from "@agentclientprotocol/sdk/unstable";
import type { RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { toFence } from "@sheaf/base/to-fence";
import { toMessageAttachments, type NamedBytes } from "@sheaf/base/files/attachment";

/**
 * Text unchanged, links by name and address, embedded text in full; images and other embedded files are attached.
 * @throws SheafError USAGE for audio, and for a file that no message may have (N65, N126).
 */
export function toPromptMessage(content: readonly ContentBlock[]): Pick<RunStart, "prompt" | "attachments"> {
  const texts: string[] = [];
  const files: NamedBytes[] = [];
  for (const block of content) {
    const file = toFile(block, files.length + 1);
    if (file) files.push(file);
    else texts.push(toBlockText(block));
  }
  const prompt = texts.join("\n\n");
  return files.length === 0 ? { prompt } : { prompt, attachments: toMessageAttachments(files) };
}

/** Bytes alone count: an address is never read (S-102). */
function toFile(block: ContentBlock, number: number): NamedBytes | undefined {
  if (block.type === "image") {
    return { name: block.uri || `image ${number}`, bytes: Buffer.from(block.data, "base64"), isText: false };
  }
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  return { name: block.resource.uri, bytes: Buffer.from(block.resource.blob, "base64") };
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
