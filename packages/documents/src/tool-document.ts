/** What the documents of tool calls have in common. */
import type { ToolCallArguments, ToolCallMetadata, ToolOutputDelta, ToolResult } from "@sheaf/protocol";
import type { StreamWriter } from "./stream-writer.ts";

/** Writes the document, or the documents, that one tool call makes. */
export interface ToolDocument {
  /** Of the first document, once it has started. */
  readonly documentId: string | undefined;
  /** A piece of the arguments' JSON text. */
  pushArguments?(delta: string): void;
  /** The arguments are complete. */
  setArguments(event: Pick<ToolCallArguments, "arguments" | "rawArguments">): void;
  /** Live output. */
  pushOutput?(event: ToolOutputDelta): void;
  /** Starts the document if nothing has started it, for somebody has to refer to it (X8). Gives its id. */
  start(): string;
  /** Ends the document, and starts it before that if need be. */
  end(result: ToolResult): void;
}

/** The call that a document comes from (N28, N29). */
export type ToolOrigin = Pick<ToolCallMetadata, "toolName" | "toolCallId" | "providerToolCallId">;

export type CreateToolDocument = (writer: StreamWriter, origin: ToolOrigin, workspace: string) => ToolDocument;

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
