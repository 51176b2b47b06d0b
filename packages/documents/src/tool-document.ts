/** What the documents of tool calls have in common. */
import type { PartialMetadata, ToolCallMetadata, ToolOutputDelta, ToolResult } from "@sheaf/protocol";
import type { ContentDocument } from "./content-document.ts";
import type { StreamWriter } from "./stream-writer.ts";
import type { ToolArguments } from "./tool-arguments.ts";

/** A call while it is open. */
export interface ToolCall {
  readonly writer: StreamWriter;
  /** Absolute. */
  readonly workspace: string;
  readonly origin: ToolOrigin;
  /** Once they are complete; {} where they do not parse: then `rawArguments` holds them (N30). */
  readonly arguments: ToolArguments | undefined;
  readonly rawArguments: string | undefined;
  /** The first document that the call makes, once it has started. */
  readonly document: ContentDocument | undefined;
  /** The same; starts it if nothing has. */
  open(): ContentDocument;
  /** Starts a document that names the call it comes from, with the beginning of its content. */
  start(metadata: PartialMetadata, content?: string): ContentDocument;
  /** Ends one, if no other is named the first. */
  end(metadata: PartialMetadata, content?: string | null, document?: ContentDocument): void;
}

/** How one type of document is made of a call. */
export interface ToolDocument {
  /** Starts the first document of the call. */
  open(): ContentDocument;
  /** A piece of the arguments' JSON text. */
  pushArguments?(delta: string): void;
  /** The arguments are complete. Those that do not parse tell nothing: only a `tool_call` takes them. */
  takeArguments?(): void;
  /** Live output. */
  pushOutput?(event: ToolOutputDelta): void;
  /** Ends the document, or the documents, of the call. */
  end(result: ToolResult): void;
}

export type CreateToolDocument = (call: ToolCall) => ToolDocument;

/** The call that a document comes from (N28, N29). */
export interface ToolOrigin extends Pick<ToolCallMetadata, "toolName" | "toolCallId"> {
  readonly providerToolCallId: string | undefined;
}

/** What failed; every result that is no success has it. */
export function toToolError({ toolName }: ToolOrigin, result: ToolResult): NonNullable<ToolResult["error"]> {
  if (result.error !== undefined) return result.error;
  const code = fallbackCodes[result.status] ?? "INTERNAL";
  return { code, message: `${toolName} ended with status ${result.status}`, details: "" };
}

const fallbackCodes: Readonly<Partial<Record<ToolResult["status"], string>>> = {
  rejected: "PERMISSION_DENIED",
  cancelled: "CANCELLED",
};

/** Code of a call that a foreign stream holds and nobody ran: no failure, so it has no error document. */
export const notExecutedCode = "NOT_EXECUTED";

export function isNotExecuted({ status, error }: ToolResult): boolean {
  return status === "error" && error?.code === notExecutedCode;
}
