/** A document as a heading with paragraphs and code, as on paper. */
import type { ClarificationQuestion, Document, PlanTodo, TodoChange, RunEvent } from "@sheaf/protocol";
import { toOneLine } from "@sheaf/base/to-one-line";
import { formatAttachment } from "@sheaf/base/files/attachment";

/** A paragraph of Markdown, or code, which stays as it is. */
export type SectionPart =
  | { readonly kind: "prose"; readonly text: string }
  | { readonly kind: "code"; readonly text: string; readonly language: string };

export interface DocumentSection {
  /** Plain text; "" for text of the model, which has no heading. */
  readonly heading: string;
  readonly parts: readonly SectionPart[];
}

/** Converts a document; each of the ten types has its own form (N13). */
export function toDocumentSection(document: Document): DocumentSection {
  switch (document.type) {
    case "text":
      return { heading: "", parts: [toProse(document.content)] };
    case "code_block":
      return { heading: "", parts: [toCode(document.content, document.metadata.language)] };
    case "code_reference": {
      const { filePath, startLine, endLine, language } = document.metadata;
      return { heading: `${filePath}, lines ${startLine} to ${endLine}`, parts: [toCode(document.content, language)] };
    }
    case "file_edit":
      return toFileEdit(document);
    case "tool_call": {
      const { toolName, arguments: args, result } = document.metadata;
      const output = typeof result.data === "string" ? result.data : JSON.stringify(result.data, undefined, 2);
      const outcome = result.status === "error" ? " (failed)" : "";
      return {
        heading: `${toolName}${outcome}`,
        parts: [toCode(JSON.stringify(args, undefined, 2), "json"), toCode(output, "")],
      };
    }
    case "terminal_command": {
      const { command, output, exitCode } = document.metadata;
      return { heading: `Command, exit code ${exitCode}`, parts: [toCode(`$ ${command}\n${output}`, "console")] };
    }
    case "plan": {
      const { title, overview, todos } = document.metadata;
      return { heading: `Plan: ${title}`, parts: [toProse(overview), toProse(document.content), toTodoList(todos)] };
    }
    case "clarification":
      return {
        heading: "Question",
        parts: [toProse(document.content), ...document.metadata.questions.map(toQuestion)],
      };
    case "error":
      return { heading: `Error ${document.metadata.errorCode}`, parts: [toProse(document.content)] };
    case "todo_update":
      return { heading: "Todo list", parts: [toTodoList(document.metadata.todos)] };
  }
}

const operations = { create: "Created", edit: "Edited", delete: "Deleted", rename: "Renamed" } as const;

function toFileEdit({ content, metadata }: Extract<Document, { type: "file_edit" }>): DocumentSection {
  const { operation, filePath, newFilePath, patch, language, state = "applied" } = metadata;
  const target = newFilePath === undefined ? "" : ` to ${newFilePath}`;
  const outcome = state === "applied" ? "" : ` (${state})`;
  const code = patch === undefined ? toCode(content ?? "", language) : toCode(patch, "diff");
  return { heading: `${operations[operation]} ${filePath}${target}${outcome}`, parts: code.text === "" ? [] : [code] };
}

const marks = { pending: "[ ]", in_progress: "[>]", completed: "[x]", cancelled: "[-]" } as const;

function toTodoList(todos: readonly (PlanTodo | TodoChange)[]): SectionPart {
  return toProse(todos.map(({ id, status, content = id }) => `- ${marks[status]} ${toOneLine(content)}`).join("\n"));
}

function toQuestion({ id, text, options }: ClarificationQuestion): SectionPart {
  const lines = options.map((option) => `- ${toOneLine(option.id)}: ${toOneLine(option.label)}`);
  return toProse([`${toOneLine(id)}: ${toOneLine(text)}`, ...(lines.length > 0 ? ["", ...lines] : [])].join("\n"));
}

function toProse(text: string): SectionPart {
  return { kind: "prose", text: text.trim() };
}

function toCode(text: string, language: string): SectionPart & { readonly kind: "code" } {
  return { kind: "code", text, language };
}

/** Returns the prompt with the names of its attachments. */
export function toPrompt(events: readonly RunEvent[]): string {
  const [start] = events;
  if (start?.type !== "run_start") return "";
  const { prompt, attachments = [] } = start;
  const names = attachments.map((attachment) => `[${formatAttachment(attachment)}]`);
  return [prompt, ...names].filter((line) => line !== "").join("\n");
}
