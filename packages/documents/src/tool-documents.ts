/** Documents made from tool calls (N28 to N42). */
import type {
  ToolCallArguments,
  ToolCallArgumentsDelta,
  ToolCallStart,
  ToolDocumentType,
  ToolOutputDelta,
  ToolResult,
} from "@sheaf/protocol";
import { createClarificationDocument } from "./clarification-document.ts";
import { createCommandDocument } from "./command-document.ts";
import { writeErrorDocument } from "./error-document.ts";
import { createFileEditDocument } from "./file-edit-document.ts";
import { createPlanDocument } from "./plan-document.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { createTodoDocument } from "./todo-document.ts";
import { createToolCallDocument } from "./tool-call-document.ts";
import { isNotExecuted, type ToolDocument, toToolError } from "./tool-document.ts";

/** The open calls of a run. Events for calls that are not open are ignored. */
export interface ToolDocuments {
  startCall(call: ToolCallStart): void;
  pushArguments(event: ToolCallArgumentsDelta): void;
  /** `time` as in the log. */
  setArguments(event: ToolCallArguments, time: number): void;
  pushOutput(event: ToolOutputDelta): void;
  /** The document of an open call, which is started for it if need be (X8). */
  startDocument(callId: string): string | undefined;
  endCall(result: ToolResult): void;
  /** The run is over: calls without a result count as cancelled (N52). */
  end(time: number): void;
}

export function createToolDocuments(writer: StreamWriter, workspace: string): ToolDocuments {
  return new Documents(writer, workspace);
}

interface OpenCall {
  readonly start: ToolCallStart;
  readonly document: ToolDocument;
  /** When its arguments were complete: then its time begins. */
  since: number | undefined;
}

type CreateDocument = (writer: StreamWriter, call: ToolCallStart, workspace: string) => ToolDocument;

const creators: Readonly<Record<ToolDocumentType, CreateDocument>> = {
  tool_call: createToolCallDocument,
  file_edit: createFileEditDocument,
  terminal_command: createCommandDocument,
  plan: createPlanDocument,
  clarification: createClarificationDocument,
  todo_update: createTodoDocument,
};

class Documents implements ToolDocuments {
  readonly #writer: StreamWriter;
  readonly #workspace: string;
  readonly #calls = new Map<string, OpenCall>();

  constructor(writer: StreamWriter, workspace: string) {
    this.#writer = writer;
    this.#workspace = workspace;
  }

  startCall(call: ToolCallStart): void {
    if (this.#calls.has(call.callId)) return;
    const document = creators[call.documentType](this.#writer, call, this.#workspace);
    this.#calls.set(call.callId, { start: call, document, since: undefined });
  }

  pushArguments({ callId, delta }: ToolCallArgumentsDelta): void {
    this.#calls.get(callId)?.document.pushArguments?.(delta);
  }

  setArguments(event: ToolCallArguments, time: number): void {
    const call = this.#calls.get(event.callId);
    if (call === undefined) return;
    call.since ??= time;
    call.document.setArguments(event);
  }

  pushOutput(event: ToolOutputDelta): void {
    this.#calls.get(event.callId)?.document.pushOutput?.(event);
  }

  startDocument(callId: string): string | undefined {
    return this.#calls.get(callId)?.document.start();
  }

  endCall(result: ToolResult): void {
    const call = this.#calls.get(result.callId);
    if (call === undefined) return;
    this.#calls.delete(result.callId);
    const { document, start } = call;
    // A call that was cancelled before anything of it could be shown leaves no document (N10).
    if (result.status === "cancelled" && document.documentId === undefined) return;
    document.end(result);
    if (result.status !== "success" && !isNotExecuted(result)) this.#writeError(start, result, document.documentId);
  }

  end(time: number): void {
    for (const [callId, { since = time }] of this.#calls) {
      const error = { code: "CANCELLED", message: "The run ended before the tool did.", details: "" };
      const durationMs = Math.max(0, time - since);
      this.endCall({ type: "tool_result", callId, status: "cancelled", output: "", error, durationMs });
    }
  }

  /** N39, right behind the document of the call. */
  #writeError(call: ToolCallStart, result: ToolResult, documentId: string | undefined): void {
    const { code, message, details } = toToolError(call, result);
    writeErrorDocument(this.#writer, {
      message,
      errorCode: code,
      source: call.toolName,
      details,
      ...(documentId === undefined ? {} : { relatedDocumentId: documentId }),
      ...(result.status === "cancelled" ? {} : { recoverable: true }),
    });
  }
}
