import { PlainText } from "../elements/plain-text.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { readText } from "./metadata.ts";
import { isOpen, type ViewProps } from "./view.ts";

/** A text (R4). */
export function TextView({ document, responseId }: ViewProps) {
  const text = document.content ?? "";
  if (readText(document.metadata, "format") === "plain") {
    return <PlainText class="plain-text" text={text} isOpen={isOpen(document)} />;
  }
  return <Markdown text={text} isComplete={!isOpen(document)} memoryKey={`${responseId}/${document.id}`} />;
}
