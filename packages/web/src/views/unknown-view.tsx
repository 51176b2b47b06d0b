import { Card } from "../elements/card.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { isOpen, type ViewProps } from "./view.ts";

/** A document of an unknown type: shows its content, or nothing (N13). */
export function UnknownView({ document, responseId }: ViewProps) {
  if (document.content === null) return undefined;
  return (
    <Card icon="file" title={<VisibleText text={document.type} />}>
      <Markdown text={document.content} isComplete={!isOpen(document)} memoryKey={`${responseId}/${document.id}`} />
    </Card>
  );
}
