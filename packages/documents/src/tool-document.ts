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
  /** Set once complete; {} if they do not parse: then they are in `rawArguments` (N30). */
  readonly arguments: ToolArguments | undefined;
  readonly rawArguments: string | undefined;
  /** The first document of the call, once started. */
  readonly document: ContentDocument | undefined;
  /** The same; starts it if necessary. */
  open(): ContentDocument;
  /** Starts a document that names its call, with the beginning of its content. */
  start(metadata: PartialMetadata, content?: string): ContentDocument;
  /** Ends a document, by default the first. */
  end(metadata: PartialMetadata, content?: string | null, document?: ContentDocument): void;
}

/** The way a call becomes one type of document. */
export interface ToolDocument {
  /** Starts the first document of the call. */
  open(): ContentDocument;
  /** A piece of the arguments' JSON text. */
  pushArguments?(delta: string): void;
  /** The arguments are complete. If they do not parse, only a `tool_call` is called. */
  takeArguments?(): void;
  /** Live output. */
  pushOutput?(event: ToolOutputDelta): void;
  /** Ends the document, or the documents, of the call. */
  end(result: ToolResult): void;
}

export type CreateToolDocument = (call: ToolCall) => ToolDocument;

/** The call that made a document (N28, N29). */
export interface ToolOrigin extends Pick<ToolCallMetadata, "toolName" | "toolCallId"> {
  readonly providerToolCallId: string | undefined;
}

/** What failed; for every result that is not a success. */
export function toToolError({ toolName }: ToolOrigin, result: ToolResult): NonNullable<ToolResult["error"]> {
  if (result.error !== undefined) return result.error;
  const code = fallbackCodes[result.status] ?? "INTERNAL";
  return { code, message: `${toolName} ended with status ${result.status}`, details: "" };
}

const fallbackCodes: Readonly<Partial<Record<ToolResult["status"], string>>> = {
  rejected: "PERMISSION_DENIED",
  cancelled: "CANCELLED",
};

/** Code of a call in a foreign stream that was never run. It did not fail, so it has no error document. */
export const notExecutedCode = "NOT_EXECUTED";

export function isNotExecuted({ status, error }: ToolResult): boolean {
  return status === "error" && error?.code === notExecutedCode;
}
