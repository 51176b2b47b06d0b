/** Makes documents of type tool_call, for every tool without its own document (R8, R16). */
import type { ToolCallResult, ToolResult } from "@sheaf/protocol";
import { cutToPayload, toUtf8Length } from "./payload-limits.ts";
import { type ToolCall, type ToolDocument, type ToolOrigin, toToolError } from "./tool-document.ts";

/** Starts the document at once, when the model starts to write the call (N44). */
export function createToolCallDocument(call: ToolCall): ToolDocument {
  const { writer, origin } = call;
  const writeArguments = () => {
    writer.write("tool_call_arguments", { documentId: call.open().id, arguments: call.arguments ?? {} });
  };
  return {
    open: () => {
      const document = call.start({});
      const { toolName, toolCallId } = origin;
      writer.write("tool_call_start", { documentId: document.id, toolName, toolCallId });
      return document;
    },
    pushArguments: (delta) => {
      if (call.arguments === undefined) writer.writeDelta("arguments_delta", call.open().id, delta);
    },
    takeArguments: writeArguments,
    pushOutput: (event) => {
      // Output before complete arguments would break the grammar (N44).
      if (call.arguments !== undefined) writer.writeOutput(call.open().id, event);
    },
    end: (toolResult) => {
      const { arguments: given = {}, rawArguments } = call;
      if (call.arguments === undefined) writeArguments();
      const result = toCallResult(origin, toolResult);
      writer.write("tool_result", { documentId: call.open().id, result });
      const duration_ms = toolResult.durationMs;
      call.end({ ...origin, arguments: given, rawArguments, result, duration_ms }, null);
    },
  };
}

/** Returns the result of a call (N36), cut to one payload (N55). */
function toCallResult(origin: ToolOrigin, result: ToolResult): ToolCallResult {
  if (result.status !== "success") {
    const { code, message } = toToolError(origin, result);
    return { status: "error", data: { errorCode: code, message } };
  }
  const data = cutToPayload(result.output);
  const base = { status: "success", data, ...(result.denied !== undefined && { denied: result.denied }) } as const;
  if (result.truncated !== true && data.length === result.output.length) return base;
  return { ...base, truncated: true, bytes: result.bytes ?? toUtf8Length(result.output) };
}
