/** The structure of stream events (R14 to R16, N43), as far as a reader relies on it. */
import type { Fields, Pattern } from "./pattern.ts";
import { payloadFields } from "./payload-fields.ts";
import { responseMetadata, toolCallResult, usage } from "./response-part-patterns.ts";

/** What a payload always has and is no text: a field is the same thing in every event. */
const required: Fields = {
  sequence: "count",
  arguments: "object",
  stream: ["stdout", "stderr"],
  result: toolCallResult,
  response: "object",
  subject: "object",
  options: [{ id: "text", label: "text", kind: "text" }],
  created: "instant",
  until: "instant",
  tries: "count",
  usage,
};

/** What may be missing; with the event before it where that makes a difference. */
const optional: Fields = {
  metadata: "object",
  finalContent: "text",
  finalContentSha256: "text",
  finalContentLength: "count",
  protocol: { version: "text" },
  heartbeat_ms: "amount",
  "response_start.status": ["streaming"],
  "done.id": "text",
  "done.status": ["completed", "error"],
  "done.metadata": responseMetadata,
};

/** By event name. */
export const payloadPatterns: ReadonlyMap<unknown, Fields> = new Map(
  Object.entries(payloadFields).map(([event, names]) => [
    event,
    Object.fromEntries(
      names.map((name): [string, Pattern] => {
        const found = optional[`${event}.${name}`] ?? optional[name];
        return found === undefined ? [name, required[name] ?? "text"] : [`${name}?`, found];
      }),
    ),
  ]),
);
