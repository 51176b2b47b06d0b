import { CodePanel } from "../code/code-panel.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { readFlag, readText } from "./metadata.ts";
import { isOpen, type ViewProps } from "./view.ts";

/** A block of code (R6). */
export function CodeBlockView({ document, responseId }: ViewProps) {
  const messages = useMessages();
  const purpose = readText(document.metadata, "purpose");
  const label = purpose === "example" || purpose === "suggestion" ? messages.purposes[purpose] : undefined;
  const isCut = document.metadata["closed"] === false || readFlag(document.metadata, "truncated");
  return (
    <CodePanel
      code={document.content ?? ""}
      language={readText(document.metadata, "language")}
      label={label}
      isOpen={isOpen(document)}
      note={isCut ? messages.notClosed : undefined}
      memoryKey={`${responseId}/${document.id}`}
    />
  );
}
