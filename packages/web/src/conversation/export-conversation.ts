/** A conversation as a file. */
import type { Turn } from "@sheaf/client/chat";
import type { Document } from "@sheaf/protocol";
import { readObject, readText } from "../views/metadata.ts";
import type { ShownDocument } from "../views/view.ts";
import { readTodos } from "../todos/fold-todos.ts";

/** Everything, in the form of the Chat API. */
export function toJsonExport(id: string, title: string, turns: readonly Turn[]): string {
  const shown = turns.map(({ attachments, ...turn }) => {
    // An image at hand is no part of that form.
    const named = attachments?.map((file) => {
      const { blob: _, ...rest } = file;
      return rest;
    });
    return named ? { ...turn, attachments: named } : turn;
  });
  return `${JSON.stringify({ id, title, turns: shown }, undefined, 2)}\n`;
}

/** For people: messages as quotes, documents as Markdown. */
export function toMarkdownExport(title: string, turns: readonly Turn[]): string {
  const parts = turns.flatMap(({ message, response }) => [
    message.replaceAll(/^/gm, "> "),
    ...response.documents.map((document) => toMarkdown(document as unknown as ShownDocument)),
  ]);
  return `${[`# ${title.replaceAll(/\s+/g, " ")}`, ...parts.filter((part) => part !== "")].join("\n\n")}\n`;
}

/** The texts, code and plans of an answer as Markdown. */
export function toAnswerText(documents: readonly Document[]): string {
  return documents
    .filter(({ type }) => ["text", "code_block", "code_reference", "plan", "clarification"].includes(type))
    .map((document) => toMarkdown(document as unknown as ShownDocument))
    .join("\n\n");
}

function toMarkdown({ type, content, metadata }: ShownDocument): string {
  switch (type) {
    case "code_block":
      return toFence(readText(metadata, "language"), content ?? "");
    case "code_reference":
      return toFence(
        `${String(metadata["startLine"])}:${String(metadata["endLine"])}:${readText(metadata, "filePath")}`,
        content ?? "",
      );
    case "file_edit":
      return toFileEdit(content, metadata);
    case "terminal_command":
      return toFence("console", `$ ${readText(metadata, "command")}\n${readText(metadata, "output")}`.trimEnd());
    case "tool_call":
      return `**${readText(metadata, "toolName")}** \`${JSON.stringify(metadata["arguments"] ?? {})}\``;
    case "plan":
      return [`## ${readText(metadata, "title")}`, content ?? "", toTodoList(metadata)].join("\n\n").trimEnd();
    case "todo_update":
      return toTodoList(metadata);
    case "error":
      return `**${readText(metadata, "errorCode")}**: ${content ?? ""}`;
    default:
      return content ?? "";
  }
}

function toFileEdit(content: string | null, metadata: ShownDocument["metadata"]): string {
  const newPath = readText(metadata, "newFilePath");
  const path = [readText(metadata, "filePath"), newPath].filter((part) => part !== "").join(" → ");
  const head = `**${readText(metadata, "operation")}** \`${path}\``;
  const patch = readText(metadata, "patch");
  if (patch !== "") return `${head}\n\n${toFence("diff", patch.trimEnd())}`;
  const text = content ?? readText(readObject(metadata, "diff") ?? {}, "newString");
  return text === "" ? head : `${head}\n\n${toFence(readText(metadata, "language"), text)}`;
}

function toTodoList(metadata: ShownDocument["metadata"]): string {
  return readTodos(metadata)
    .map(({ id, content, status }) => `- [${status === "completed" ? "x" : " "}] ${content === "" ? id : content}`)
    .join("\n");
}

/** A fence longer than any in the text. */
function toFence(info: string, text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${info}\n${text}\n${fence}`;
}

/** Offers a text as a file to save. */
export function saveAsFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A name that every file system accepts. */
export function toFileName(title: string, extension: string): string {
  const name = title
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, "");
  return `${name === "" ? "conversation" : name}.${extension}`;
}
