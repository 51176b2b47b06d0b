/** The structure of stream events (R14 to R16, N43). */
import { isJsonObject } from "./json-object.ts";
import { payloadFields } from "./payload-fields.ts";
import { instant, responseMetadata, toolCallResult, usage } from "./response-part-shapes.ts";
import { amount, count, fields, list, object, oneOf, only, text } from "./shape.ts";
import type { Shape } from "./shape.ts";

type Shapes = Readonly<Record<string, Shape>>;

/** What a payload always has and is no text: a field is the same thing in every event. */
const requiredShapes: Shapes = {
  sequence: count,
  arguments: object,
  stream: oneOf("stdout", "stderr"),
  result: toolCallResult,
  subject: object,
  options: list(fields({ id: text, label: text, kind: text })),
  created: instant,
  until: instant,
  tries: count,
  usage,
};

/** What may be missing; with the event before it where that makes a difference. */
const optionalShapes: Shapes = {
  metadata: object,
  finalContent: text,
  finalContentSha256: text,
  finalContentLength: count,
  protocol: fields({ version: text }),
  heartbeat_ms: amount,
  "response_start.status": oneOf("streaming"),
  "done.id": text,
  "done.status": oneOf("completed", "error"),
  "done.metadata": responseMetadata,
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
  const shapes: Shapes = { ...requiredShapes, ...parts };
  const byName: ReadonlyMap<unknown, Shape> = new Map(
    Object.entries(payloadFields).map(([event, names]) => {
      const required: Record<string, Shape> = {};
      const optional: Record<string, Shape> = {};
      for (const name of names) {
        const shape = optionalShapes[`${event}.${name}`] ?? optionalShapes[name];
        if (shape === undefined) required[name] = shapes[name] ?? text;
        else optional[name] = shape;
      }
      return [event, fields(required, optional)];
    }),
  );
  return (value) => {
    const problem = envelope(value);
    if (problem !== undefined || !isJsonObject(value)) return problem;
    const found = byName.get(value["event"])?.(value["data"]);
    return found === undefined ? undefined : `.data${found}`;
  };
}
