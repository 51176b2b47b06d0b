/** A message of a server with an address may be as long as one of a program, and no longer (S-221). */
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/client";

/** The body fails where a message gets longer: an answer, or an event of a stream, which itself may go on for ever. */
export function limitMessages(fetch: typeof globalThis.fetch, maxBytes = STDIO_DEFAULT_MAX_BUFFER_SIZE): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request);
    const { body, headers, status, statusText } = response;
    if (!body) return response;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    return new Response(body.pipeThrough(createLimit(isStream, maxBytes)), { headers, status, statusText });
  };
}

const [LF, CR] = [10, 13];

function createLimit(isStream: boolean, maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>> {
  let size = 0;
  let isLineEmpty = true;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of isStream ? chunk : []) {
        size += 1;
        // An empty line ends an event.
        if (byte === LF && isLineEmpty) size = 0;
        if (byte !== CR) isLineEmpty = byte === LF;
        if (size > maxBytes) break;
      }
      if (!isStream) size += chunk.length;
      if (size > maxBytes) throw new Error(`it sends a message of more than ${maxBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
}
