/** Documents as plain text, for user interfaces that lack a view for a type. */
import type { Document } from "@sheaf/protocol";

export interface PlainDocument {
  /** Subject of the document: a path, a command, the name of a tool; "" for text. */
  readonly title: string;
  /** Text of the document; for an unknown type, its content or its metadata. */
  readonly text: string;
}

/** Describes a document as plain text. Don't use it as HTML: a model or a tool wrote it. */
export function describeDocument({ type, content, metadata }: Document): PlainDocument {
  switch (type) {
    case "text":
      return { title: "", text: content };
    case "code_reference":
      return { title: `${metadata.filePath}:${metadata.startLine}`, text: content };
    case "code_block":
      return { title: metadata.language, text: content };
    case "file_edit":
      return { title: metadata.filePath, text: metadata.patch ?? content ?? "" };
    case "terminal_command":
      return { title: `$ ${metadata.command}`, text: metadata.output };
    case "plan":
      return { title: metadata.title, text: content };
    case "error":
      return { title: metadata.errorCode, text: content };
    case "todo_update": {
      const lines = metadata.todos.map(({ id, content: what = id, status }) => `${status}: ${what}`);
      return { title: type, text: lines.join("\n") };
    }
    case "clarification": {
      const lines = metadata.questions.map(({ text, options }) => [text, ...options.map(({ label }) => `- ${label}`)]);
      return { title: type, text: lines.flat().join("\n") };
    }
    case "tool_call":
      return { title: metadata.toolName, text: JSON.stringify(metadata.arguments) };
    default:
      return { title: type, text: content ?? JSON.stringify(metadata) };
  }
}
