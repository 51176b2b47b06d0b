/** The content of a prompt of an editor as one text. */
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { SheafError } from "../../base/errors.ts";

/** Text as it is, links by name and address, embedded files whole. @throws SheafError USAGE for images and sound. */
export function toPromptText(content: readonly ContentBlock[]): string {
  return content.map(toBlockText).join("\n\n");
}

function toBlockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.name}](${block.uri})`;
    case "resource": {
      const { resource } = block;
      if (!("text" in resource))
        throw new SheafError("USAGE", `the attachment ${resource.uri} is no text: leave it out`);
      const longest = Math.max(2, ...[...resource.text.matchAll(/`+/g)].map(([run]) => run.length));
      const fence = "`".repeat(longest + 1);
      return `${resource.uri}\n${fence}\n${resource.text}\n${fence}`;
    }
    default:
      throw new SheafError("USAGE", `a prompt holds ${block.type}: send text, links or embedded text`);
  }
}
