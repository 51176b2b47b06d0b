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
import { pickDefined } from "./pick-defined.ts";
import { createPlanDocument } from "./plan-document.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { createTodoDocument } from "./todo-document.ts";
import { createToolCallDocument } from "./tool-call-document.ts";
import {
  type CreateToolDocument,
  isNotExecuted,
  type ToolDocument,
  type ToolOrigin,
  toToolError,
} from "./tool-document.ts";

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

interface OpenCall {
  readonly origin: ToolOrigin;
  readonly document: ToolDocument;
  /** When its arguments were complete: then its time begins. */
  since: number | undefined;
}

const creators: Readonly<Record<ToolDocumentType, CreateToolDocument>> = {
  tool_call: createToolCallDocument,
  file_edit: createFileEditDocument,
  terminal_command: createCommandDocument,
  plan: createPlanDocument,
  clarification: createClarificationDocument,
  todo_update: createTodoDocument,
};

export function createToolDocuments(writer: StreamWriter, workspace: string): ToolDocuments {
  const calls = new Map<string, OpenCall>();

  function endCall(result: ToolResult): void {
    const call = calls.get(result.callId);
    calls.delete(result.callId);
    // A call that was cancelled before anything of it could be shown leaves no document (N10).
    if (call === undefined || (result.status === "cancelled" && call.document.documentId === undefined)) return;
    call.document.end(result);
    if (result.status !== "success" && !isNotExecuted(result)) writeToolError(writer, call, result);
  }

  return {
    startCall: ({ callId, toolName, documentType, providerCallId }) => {
      if (calls.has(callId)) return;
      const origin = { toolName, toolCallId: callId, ...pickDefined({ providerToolCallId: providerCallId }) };
      calls.set(callId, { origin, document: creators[documentType](writer, origin, workspace), since: undefined });
    },
    pushArguments: ({ callId, delta }) => calls.get(callId)?.document.pushArguments?.(delta),
    setArguments: (event, time) => {
      const call = calls.get(event.callId);
      if (call === undefined) return;
      call.since ??= time;
      call.document.setArguments(event);
    },
    pushOutput: (event) => calls.get(event.callId)?.document.pushOutput?.(event),
    startDocument: (callId) => calls.get(callId)?.document.start(),
    endCall,
    end: (time) => {
      for (const [callId, { since = time }] of calls) {
        const error = { code: "CANCELLED", message: "The run ended before the tool did.", details: "" };
        const durationMs = Math.max(0, time - since);
        endCall({ type: "tool_result", callId, status: "cancelled", output: "", error, durationMs });
      }
    },
  };
}

/** N39, right behind the document of the call. */
function writeToolError(writer: StreamWriter, { origin, document }: OpenCall, result: ToolResult): void {
  const { code: errorCode, message, details } = toToolError(origin, result);
  const link = pickDefined({
    relatedDocumentId: document.documentId,
    recoverable: result.status !== "cancelled" || undefined,
  });
  writeErrorDocument(writer, { message, errorCode, source: origin.toolName, details, ...link });
}
