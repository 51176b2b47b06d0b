/** A conversation as one Markdown text. */
import { toResponse } from "@sheaf/documents";
import { toFence } from "@sheaf/base/to-fence";
import { toVisibleText } from "../visible-text.ts";
import { toPrompt, toDocumentSection, type SectionPart } from "./document-sections.ts";
import type { ConversationExport, ExportedResponse } from "./conversation-export.ts";

/** The part of an export that people read. */
interface ReadableExport {
  readonly conversation: Pick<ConversationExport["conversation"], "title">;
  /** Responses, oldest first. */
  readonly responses: readonly Pick<ExportedResponse, "events">[];
}

/** Formats prompts as quotes, documents in order, code in fences that it cannot close. Shows controls (S-70). */
export function formatMarkdownExport({ conversation, responses }: ReadableExport): string {
  const parts = [`# ${toInline(conversation.title)}`];
  for (const { events } of responses) {
    parts.push("## Prompt", toQuote(toPrompt(events)), "## Answer");
    const { documents, messages = [] } = toResponse(events);
    for (const document of documents) {
      const { heading, parts: body } = toDocumentSection(document);
      if (heading !== "") parts.push(`### ${toInline(heading)}`);
      parts.push(...body.map(formatPart).filter((text) => text !== ""));
      for (const { after, message } of messages) if (after === document.sequence) parts.push(toQuote(message));
    }
  }
  return toVisibleText(`${parts.join("\n\n")}\n`);
}

function toQuote(text: string): string {
  return text.replaceAll(/^/gm, "> ");
}

function formatPart(part: SectionPart): string {
  if (part.kind === "prose") return part.text;
  const fence = toFence(part.text);
  return `${fence}${part.language}\n${part.text}${part.text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** Escapes text that others wrote, so that it stays text inside a heading. */
function toInline(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[\\`*_[\]<>#|]/g, "\\$&");
}
