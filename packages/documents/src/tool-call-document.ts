/** Documents of type tool_call: every tool that has no document of its own (R8, R16). */
import type { ToolCallArguments, ToolCallResult, ToolResult } from "@sheaf/protocol";
import { cutToPayload, toUtf8Length } from "./payload-limits.ts";
import { pickDefined } from "./pick-defined.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { type ToolDocument, type ToolOrigin, toToolError } from "./tool-document.ts";

/** Starts at once, as the model begins to write the call (N44). */
export function createToolCallDocument(writer: StreamWriter, origin: ToolOrigin): ToolDocument {
  const documentId = writer.startDocument("tool_call", origin);
  const { toolName, toolCallId } = origin;
  writer.write("tool_call_start", { documentId, toolName, toolCallId });
  let given: Pick<ToolCallArguments, "arguments" | "rawArguments"> | undefined;

  const document: ToolDocument = {
    documentId,
    start: () => documentId,
    pushArguments: (delta) => {
      if (given === undefined) writer.writeDelta("arguments_delta", documentId, delta);
    },
    setArguments: (event) => {
      if (given !== undefined) return;
      given = event;
      writer.write("tool_call_arguments", { documentId, arguments: event.arguments });
    },
    pushOutput: (event) => {
      // Output before the arguments are complete cannot be; it would break the grammar (N44).
      if (given !== undefined) writer.writeOutput(documentId, event);
    },
    end: (toolResult) => {
      document.setArguments({ arguments: {} });
      const result = toCallResult(origin, toolResult);
      writer.write("tool_result", { documentId, result });
      writer.endDocument(documentId, {
        ...origin,
        arguments: given?.arguments,
        ...pickDefined({ rawArguments: given?.rawArguments }),
        result,
        duration_ms: toolResult.durationMs,
      });
    },
  };
  return document;
}

/** N36; what does not fit into one payload is cut (N55). */
function toCallResult(origin: ToolOrigin, result: ToolResult): ToolCallResult {
  if (result.status !== "success") {
    const { code, message } = toToolError(origin, result);
    return { status: "error", data: { errorCode: code, message } };
  }
  const data = cutToPayload(result.output);
  if (result.truncated !== true && data.length === result.output.length) return { status: "success", data };
  return { status: "success", data, truncated: true, bytes: result.bytes ?? toUtf8Length(result.output) };
}
