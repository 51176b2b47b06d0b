import { createSseDecoder } from "@sheaf/protocol";
import { createChunkDecoder } from "./chunk-decoder.ts";
import { createJsonTextDecoder } from "./json-text-decoder.ts";

/** The text of one payload and the name of the event that brought it, or "". */
export interface BodyMessage {
  readonly data: string;
  readonly event: string;
}

/** Cuts the body of a provider's answer into payloads, whatever the chunks. Strings and bytes may be mixed. */
export interface BodyDecoder {
  push(chunk: Uint8Array | string): BodyMessage[];
  /** An unfinished last payload comes too; whether it is of use shows when it is parsed. */
  end(): BodyMessage[];
}

/** A body decoder of one kind, for whole characters. */
interface TextBodyDecoder {
  push(text: string): BodyMessage[];
  end(): BodyMessage[];
}

/**
 * A body is an event stream unless its first character is a bracket: then it is JSON, one object or many (an answer that
 * is not streamed, an error, NDJSON, Gemini's array).
 */
export function createBodyDecoder(): BodyDecoder {
  const chunks = createChunkDecoder();
  let decoder: TextBodyDecoder | undefined;
  /** Blanks before the first character. */
  let start = "";

  function pushText(text: string): BodyMessage[] {
    if (decoder !== undefined) return decoder.push(text);
    start += text;
    const first = /[^\s\uFEFF]/u.exec(text);
    if (first === null) return [];
    decoder = first[0] === "{" || first[0] === "[" ? createJsonBodyDecoder() : createEventStreamDecoder();
    return decoder.push(start);
  }

  return {
    push: (chunk) => pushText(chunks.push(chunk)),
    end: () => [...pushText(chunks.end()), ...(decoder?.end() ?? [])],
  };
}

function createJsonBodyDecoder(): TextBodyDecoder {
  const decoder = createJsonTextDecoder();
  return {
    push: (text) => decoder.push(text).map(toMessage),
    end: () => decoder.end().map(toMessage),
  };
}

function toMessage(data: string): BodyMessage {
  return { data, event: "" };
}

function createEventStreamDecoder(): TextBodyDecoder {
  const decoder = createSseDecoder();
  const push = (text: string) =>
    decoder.push(text).map(({ data, event }) => ({ data, event: event === "message" ? "" : event }));
  // Two line ends end the last line and the last event, if the body has not.
  return { push, end: () => push("\n\n") };
}
