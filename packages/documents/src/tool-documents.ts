/** Makes documents from tool calls (N28 to N42). */
import type {
  PartialMetadata,
  ToolCallArguments,
  ToolCallArgumentsDelta,
  ToolCallStart,
  ToolDocumentType,
  ToolOutputDelta,
  ToolResult,
} from "@sheaf/protocol";
import { createClarificationDocument } from "./clarification-document.ts";
import { createCommandDocument } from "./command-document.ts";
import { type ContentDocument, startContentDocument } from "./content-document.ts";
import { writeErrorDocument } from "./error-document.ts";
import { createFileEditDocument } from "./file-edit-document.ts";
import { createPlanDocument } from "./plan-document.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { createTodoDocument } from "./todo-document.ts";
import type { ToolArguments } from "./tool-arguments.ts";
import { createToolCallDocument } from "./tool-call-document.ts";
import {
  type CreateToolDocument,
  isNotExecuted,
  type ToolCall,
  type ToolDocument,
  type ToolOrigin,
  toToolError,
} from "./tool-document.ts";

/** The open calls of a run. It ignores events of other calls. */
export interface ToolDocuments {
  startCall(call: ToolCallStart): void;
  pushArguments(event: ToolCallArgumentsDelta): void;
  /** Takes the complete arguments. `time` is as in the log. */
  setArguments(event: ToolCallArguments, time: number): void;
  pushOutput(event: ToolOutputDelta): void;
  /** Returns the id of an open call's document, and starts it if necessary (X8). */
  startDocument(callId: string): string | undefined;
  /** Ends a call. `further` has more metadata for its document. */
  endCall(result: ToolResult, further?: PartialMetadata): void;
  /** Returns the kind of subagent that an open call runs; "" if it is unknown. */
  findAgentName(callId: string): string;
  /** Ends the run. Calls without a result become cancelled (N52). */
  end(time: number): void;
}

const creators: Readonly<Record<ToolDocumentType, CreateToolDocument>> = {
  tool_call: createToolCallDocument,
  file_edit: createFileEditDocument,
  terminal_command: createCommandDocument,
  plan: createPlanDocument,
  clarification: createClarificationDocument,
  todo_update: createTodoDocument,
};

class OpenCall implements ToolCall {
  readonly writer: StreamWriter;
  readonly workspace: string;
  readonly origin: ToolOrigin;
  readonly type: ToolDocumentType;
  readonly maker: ToolDocument;
  arguments: ToolArguments | undefined;
  rawArguments: string | undefined;
  document: ContentDocument | undefined;
  /** Time when the arguments were complete, from which the duration is measured. */
  since: number | undefined;
  further: PartialMetadata = {};

  constructor(writer: StreamWriter, workspace: string, start: ToolCallStart) {
    this.writer = writer;
    this.workspace = workspace;
    this.type = start.documentType;
    const { toolName, callId: toolCallId, providerCallId: providerToolCallId } = start;
    this.origin = { toolName, toolCallId, providerToolCallId };
    this.maker = creators[this.type](this);
  }

  open(): ContentDocument {
    this.document ??= this.maker.open();
    return this.document;
  }

  start(metadata: PartialMetadata, content = ""): ContentDocument {
    const document = startContentDocument(this.writer, this.type, { ...metadata, ...this.origin });
    document.write(content);
    return document;
  }

  end(metadata: PartialMetadata, content?: string | null, document = this.open()): void {
    document.end({ ...metadata, ...this.further, ...this.origin }, content);
  }
}

export function createToolDocuments(writer: StreamWriter, workspace: string): ToolDocuments {
  const calls = new Map<string, OpenCall>();

  function endCall(result: ToolResult, further: PartialMetadata = {}): void {
    const call = calls.get(result.callId);
    calls.delete(result.callId);
    // A call cancelled before it could be shown leaves no document (N10).
    if (call === undefined || (result.status === "cancelled" && call.document === undefined)) return;
    call.further = further;
    call.maker.end(result);
    if (result.status !== "success" && !isNotExecuted(result)) writeToolError(call, result);
  }

  return {
    startCall: (start) => {
      if (calls.has(start.callId)) return;
      const call = new OpenCall(writer, workspace, start);
      calls.set(start.callId, call);
      // All other documents wait until a part of them is known (N44).
      if (call.type === "tool_call") call.open();
    },
    pushArguments: ({ callId, delta }) => calls.get(callId)?.maker.pushArguments?.(delta),
    setArguments: (event, time) => {
      const call = calls.get(event.callId);
      if (call === undefined || call.arguments !== undefined) return;
      call.since = time;
      call.arguments = event.arguments;
      call.rawArguments = event.rawArguments;
      if (call.rawArguments === undefined || call.type === "tool_call") call.maker.takeArguments?.();
    },
    pushOutput: (event) => calls.get(event.callId)?.maker.pushOutput?.(event),
    startDocument: (callId) => calls.get(callId)?.open().id,
    endCall,
    findAgentName: (callId) => {
      const kind = calls.get(callId)?.arguments?.kind;
      return typeof kind === "string" ? kind : "";
    },
    end: (time) => {
      for (const [callId, { since = time }] of calls) {
        const error = { code: "CANCELLED", message: "The run ended before the tool did.", details: "" };
        const durationMs = Math.max(0, time - since);
        endCall({ type: "tool_result", callId, status: "cancelled", output: "", error, durationMs });
      }
    },
  };
}

/** Writes the error of a result, right after the document of the call (N39). */
function writeToolError({ writer, origin, document }: OpenCall, result: ToolResult): void {
  const { code: errorCode, message, details } = toToolError(origin, result);
  const recoverable = result.status !== "cancelled" || undefined;
  const relatedDocumentId = document?.id;
  writeErrorDocument(writer, message, { errorCode, source: origin.toolName, details, relatedDocumentId, recoverable });
}
