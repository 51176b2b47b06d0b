/** The structure of stream events (R14 to R16, N43). */
import { isJsonObject } from "./json-object.ts";
import { instant, responseMetadata, toolCallResult, usage } from "./response-part-shapes.ts";
import { amount, count, fields, list, object, oneOf, only, text } from "./shape.ts";
import type { Shape } from "./shape.ts";
import type { StreamEventName } from "./stream-events.ts";

const delta = fields({ documentId: text, delta: text });

/** Of a payload that is the same for everybody. */
const payloads: Readonly<Record<Exclude<StreamEventName, "response_start" | "snapshot">, Shape>> = {
  document_start: fields({ id: text, type: text, sequence: count }, { metadata: object }),
  content_delta: delta,
  tool_call_start: fields({ documentId: text, toolName: text, toolCallId: text }),
  arguments_delta: delta,
  tool_call_arguments: fields({ documentId: text, arguments: object }),
  output_delta: fields({ documentId: text, stream: oneOf("stdout", "stderr"), delta: text }),
  tool_result: fields({ documentId: text, result: toolCallResult }),
  document_end: fields(
    { documentId: text },
    { finalContent: text, finalContentSha256: text, finalContentLength: count, metadata: object },
  ),
  reasoning_delta: fields({ delta: text }),
  approval_request: fields({
    approvalId: text,
    documentId: text,
    title: text,
    description: text,
    subject: object,
    options: list(fields({ id: text, label: text, kind: text })),
    expiresAt: text,
  }),
  approval_resolved: fields({ approvalId: text, optionId: text, by: text }),
  provider_wait: fields({ code: text, until: instant, tries: count }),
  done: fields({ usage }, { id: text, status: oneOf("completed", "error"), metadata: responseMetadata }),
};

const envelope = fields({
  id: only("an integer of at least 1", (value) => Number.isSafeInteger(value) && Number(value) >= 1),
  event: text,
  data: object,
});

/**
 * The envelope, and the payload of the events that this version knows (X14); how closely the response of a snapshot
 * and the mode are looked at is the caller's choice.
 */
export function createEventShape(parts: { readonly response: Shape; readonly mode: Shape }): Shape {
  const byName: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
    ...Object.entries(payloads),
    [
      "response_start",
      fields(
        { id: text, conversationId: text, model: text, mode: parts.mode, created: instant },
        { status: oneOf("streaming"), protocol: fields({ version: text }), heartbeat_ms: amount },
      ),
    ],
    ["snapshot", fields({ response: parts.response })],
  ]);
  return (value) => {
    const problem = envelope(value);
    if (problem !== undefined || !isJsonObject(value)) return problem;
    const found = byName.get(value["event"])?.(value["data"]);
    return found === undefined ? undefined : `.data${found}`;
  };
}
