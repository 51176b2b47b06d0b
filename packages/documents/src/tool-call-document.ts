/** Documents of type tool_call: every tool that has no document of its own (R8, R16). */
import type { ToolCallArguments, ToolCallResult, ToolCallStart, ToolOutputDelta, ToolResult } from "@sheaf/protocol";
import { cutToPayload, toPayloadPieces, toUtf8Length } from "./payload-limits.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { type ToolDocument, toToolError, toToolOrigin } from "./tool-document.ts";

/** Starts at once, as the model begins to write the call (N44). */
export function createToolCallDocument(writer: StreamWriter, call: ToolCallStart): ToolDocument {
  return new CallDocument(writer, call);
}

class CallDocument implements ToolDocument {
  readonly documentId: string;
  readonly #writer: StreamWriter;
  readonly #call: ToolCallStart;
  #arguments: ToolCallArguments | undefined;

  constructor(writer: StreamWriter, call: ToolCallStart) {
    this.#writer = writer;
    this.#call = call;
    const origin = toToolOrigin(call);
    this.documentId = writer.startDocument("tool_call", origin);
    const { toolName, toolCallId } = origin;
    writer.write({ event: "tool_call_start", data: { documentId: this.documentId, toolName, toolCallId } });
  }

  start(): string {
    return this.documentId;
  }

  pushArguments(delta: string): void {
    if (this.#arguments === undefined) this.#writer.writeDelta("arguments_delta", this.documentId, delta);
  }

  setArguments(event: ToolCallArguments): void {
    if (this.#arguments !== undefined) return;
    this.#arguments = event;
    this.#writer.write({
      event: "tool_call_arguments",
      data: { documentId: this.documentId, arguments: event.arguments },
    });
  }

  /** Output before the arguments are complete cannot be; it would break the grammar (N44). */
  pushOutput({ stream, delta }: ToolOutputDelta): void {
    if (this.#arguments === undefined) return;
    for (const piece of toPayloadPieces(delta)) {
      this.#writer.write({ event: "output_delta", data: { documentId: this.documentId, stream, delta: piece } });
    }
  }

  end(toolResult: ToolResult): void {
    this.setArguments({ type: "tool_call_arguments", callId: this.#call.callId, arguments: {} });
    const result = toCallResult(this.#call, toolResult);
    this.#writer.write({ event: "tool_result", data: { documentId: this.documentId, result } });
    const { arguments: values = {}, rawArguments } = this.#arguments ?? {};
    const metadata = {
      ...toToolOrigin(this.#call),
      arguments: values,
      ...(rawArguments === undefined ? {} : { rawArguments }),
      result,
      duration_ms: toolResult.durationMs,
    };
    this.#writer.write({ event: "document_end", data: { documentId: this.documentId, metadata } });
  }
}

/** N36; what does not fit into one payload is cut (N55). */
function toCallResult(call: ToolCallStart, result: ToolResult): ToolCallResult {
  if (result.status !== "success") {
    const { code, message } = toToolError(call, result);
    return { status: "error", data: { errorCode: code, message } };
  }
  const data = cutToPayload(result.output);
  if (result.truncated !== true && data.length === result.output.length) return { status: "success", data };
  return { status: "success", data, truncated: true, bytes: result.bytes ?? toUtf8Length(result.output) };
}
