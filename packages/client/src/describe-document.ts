/** Documents as plain text, for user interfaces without a view of their own for each type. */
import type { Document } from "@sheaf/protocol";

export interface PlainDocument {
  /** What it is about: a path, a command, the name of a tool; "" for text. */
  readonly title: string;
  /** What it says; of a type that this version does not know, its content or its metadata. */
  readonly text: string;
}

/** Nothing of it is HTML: a model or a tool wrote it. */
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
