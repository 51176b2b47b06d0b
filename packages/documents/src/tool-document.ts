/** Common parts of the documents of tool calls. */
import type { PartialMetadata, ToolCallMetadata, ToolOutputDelta, ToolResult } from "@sheaf/protocol";
import type { ContentDocument } from "./content-document.ts";
import type { StreamWriter } from "./stream-writer.ts";
import type { ToolArguments } from "./tool-arguments.ts";

/** A call while it is open. */
export interface ToolCall {
  readonly writer: StreamWriter;
  /** Absolute path. */
  readonly workspace: string;
  readonly origin: ToolOrigin;
  /** The complete arguments; {} if they do not parse, when `rawArguments` has their text (N30). */
  readonly arguments: ToolArguments | undefined;
  readonly rawArguments: string | undefined;
  /** The first document of the call, once started. */
  readonly document: ContentDocument | undefined;
  /** Returns the first document of the call; starts it if necessary. */
  open(): ContentDocument;
  /** Starts a document with the call's name and the start of its content. */
  start(metadata: PartialMetadata, content?: string): ContentDocument;
  /** Ends a document, by default the first. */
  end(metadata: PartialMetadata, content?: string | null, document?: ContentDocument): void;
}

/** Turns a call into one type of document. */
export interface ToolDocument {
  /** Starts the first document of the call. */
  open(): ContentDocument;
  /** Takes a piece of the arguments' JSON text. */
  pushArguments?(delta: string): void;
  /** Called when the arguments are complete. If they do not parse, only a `tool_call` is called. */
  takeArguments?(): void;
  /** Takes live output. */
  pushOutput?(event: ToolOutputDelta): void;
  /** Ends the document, or the documents, of the call. */
  end(result: ToolResult): void;
}

export type CreateToolDocument = (call: ToolCall) => ToolDocument;

/** The call of a document (N28, N29). */
export interface ToolOrigin extends Pick<ToolCallMetadata, "toolName" | "toolCallId"> {
  readonly providerToolCallId: string | undefined;
}

/** Returns the error of a result that is not a success. */
export function toToolError({ toolName }: ToolOrigin, result: ToolResult): NonNullable<ToolResult["error"]> {
  if (result.error !== undefined) return result.error;
  const code = fallbackCodes[result.status] ?? "INTERNAL";
  return { code, message: `${toolName} ended with status ${result.status}`, details: "" };
}

const fallbackCodes: Readonly<Partial<Record<ToolResult["status"], string>>> = {
  rejected: "PERMISSION_DENIED",
  cancelled: "CANCELLED",
};

/** Code of a call in another agent's stream that never ran. It did not fail, so it has no error document. */
export const notExecutedCode = "NOT_EXECUTED";

export function isNotExecuted({ status, error }: ToolResult): boolean {
  return status === "error" && error?.code === notExecutedCode;
}
