/** Turns an answer into text for the clipboard. */
import type { Document } from "@sheaf/protocol";
import { joinPieces } from "@sheaf/protocol/pieces";
import { readTodos } from "../todos/fold-todos.ts";
import { readText } from "../views/metadata.ts";
import type { ShownDocument } from "../views/view.ts";

/** Returns the texts, code and plans of an answer as Markdown. */
export function toAnswerText(documents: readonly Document[]): string {
  const parts: string[] = [];
  /** Pieces of one text, separated only by calls. */
  let pieces: string[] = [];
  const end = (): void => {
    if (pieces.length > 0) parts.push(joinPieces(pieces));
    pieces = [];
  };
  for (const document of documents as unknown as readonly ShownDocument[]) {
    if (document.type === "text") {
      pieces.push(document.content ?? "");
      continue;
    }
    const markdown = toMarkdown(document);
    if (markdown === undefined) continue;
    end();
    parts.push(markdown);
  }
  end();
  return parts.join("\n\n");
}

/** Returns a document as Markdown; undefined for an action such as a tool call. */
function toMarkdown({ type, content, metadata }: ShownDocument): string | undefined {
  switch (type) {
    case "clarification":
      return content ?? "";
    case "code_block":
      return toFence(readText(metadata, "language"), content ?? "");
    case "code_reference":
      return toFence(
        `${String(metadata["startLine"])}:${String(metadata["endLine"])}:${readText(metadata, "filePath")}`,
        content ?? "",
      );
    case "plan":
      return [`## ${readText(metadata, "title")}`, content ?? "", toTodoList(metadata)].join("\n\n").trimEnd();
    default:
      return undefined;
  }
}

function toTodoList(metadata: ShownDocument["metadata"]): string {
  return readTodos(metadata)
    .map(({ id, content, status }) => `- [${status === "completed" ? "x" : " "}] ${content === "" ? id : content}`)
    .join("\n");
}

/** Puts a text into a fence longer than any inside it. */
function toFence(info: string, text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${info}\n${text}\n${fence}`;
}
