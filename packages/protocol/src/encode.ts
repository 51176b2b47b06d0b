/** Writes the wire forms of a stream: Server-Sent Events, and newline-delimited JSON. */
import { needsNoEscape, toJsonLine } from "./json-line.ts";
import type { ContentDeltaData, StreamEvent } from "./stream-events.ts";

export { toJsonLine } from "./json-line.ts";

/**
 * Encodes one event: `id:`, `event:` and one `data:` line of JSON (N43, X1).
 * Escapes all line ends inside the payload, so that none can break out of it (S-54).
 */
export function encodeSse(event: StreamEvent): string {
  const id = Number.isSafeInteger(event.id) ? `id: ${event.id}\n` : "";
  if (event.event === "content_delta" && isOnlyDelta(event.data)) {
    const { documentId, delta } = event.data;
    // Nearly every event is such a delta, and concatenating its text is several times as fast.
    const text = needsNoEscape(delta) ? delta : toJsonLine(delta).slice(1, -1);
    return `${id}event: content_delta\ndata: {"documentId":"${documentId}","delta":"${text}"}\n\n`;
  }
  const name = event.event.replace(lineEnds, "");
  return `${id}event: ${name}\ndata: ${toJsonLine(event.data)}\n\n`;
}

/** True if the payload has only an id that needs no escape and a text, without fields of later versions. */
function isOnlyDelta(data: ContentDeltaData): boolean {
  let fields = 0;
  for (const _ in data) fields += 1;
  const { documentId, delta } = data;
  return fields === 2 && typeof documentId === "string" && typeof delta === "string" && needsNoEscape(documentId);
}

const lineEnds = /[\r\n\u2028\u2029]/g;

/** A comment that shows that the connection is alive (X5). */
export function encodeHeartbeat(): string {
  return ": hb\n\n";
}

/** Sets the client's waiting time before it connects again (X2). */
export function encodeRetry(milliseconds: number): string {
  return `retry: ${Math.max(0, Math.round(milliseconds))}\n\n`;
}

/** Encodes one record: always exactly one line that ends with LF (N43, X15). */
export function encodeNdjson(value: unknown): string {
  return `${toJsonLine(value)}\n`;
}
