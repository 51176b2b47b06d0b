import { createSseDecoder } from "@sheaf/protocol";
import { createChunkDecoder } from "./chunk-decoder.ts";
import { createJsonEndFinder } from "./json-end-finder.ts";

/** The text of one payload, with the name of its event or "". */
export interface BodyMessage {
  readonly data: string;
  readonly event: string;
}

/** Cuts the body of a provider's answer into payloads, for any chunks. Strings and bytes may be mixed. */
export interface BodyDecoder {
  push(chunk: Uint8Array | string): BodyMessage[];
  /** Ends the body. Returns an unfinished last payload as well, since parsing shows if it is usable. */
  end(): BodyMessage[];
}

/** A body decoder of one kind, for whole characters. */
interface TextBodyDecoder {
  push(text: string): BodyMessage[];
  end(): BodyMessage[];
}

/**
 * Creates a decoder. A body is an event stream, unless its first character is a bracket or brace. Then it is JSON, one
 * object or many: an answer that is not streamed, an error, NDJSON, or Gemini's array. If the first character is the
 * "<" of a web page, it calls `onPage`.
 */
export function createBodyDecoder({ onPage }: { readonly onPage?: () => void } = {}): BodyDecoder {
  const chunks = createChunkDecoder();
  let decoder: TextBodyDecoder | undefined;
  /** The text up to the first character that is not blank. */
  let start = "";

  function pushText(text: string): BodyMessage[] {
    if (decoder !== undefined) return decoder.push(text);
    start += text;
    const first = /[^\s\uFEFF]/u.exec(text);
    if (first === null) return [];
    if (first[0] === "<") onPage?.();
    decoder = first[0] === "{" || first[0] === "[" ? createJsonBodyDecoder() : createEventStreamDecoder();
    return decoder.push(start);
  }

  return {
    push: (chunk) => pushText(chunks.push(chunk)),
    end: () => [...pushText(chunks.end()), ...(decoder?.end() ?? [])],
  };
}

function createEventStreamDecoder(): TextBodyDecoder {
  const decoder = createSseDecoder();
  const push = (text: string) =>
    decoder.push(text).map(({ data, event }) => ({ data, event: event === "message" ? "" : event }));
  // Two line ends complete the last line and the last event.
  return { push, end: () => push("\n\n") };
}

/**
 * Takes one object, one object a line (NDJSON), objects over several lines, and an array of objects, whose elements
 * arrive one by one (Gemini without `alt=sse`). Words between objects are a message that does not parse.
 */
function createJsonBodyDecoder(): TextBodyDecoder {
  const endFinder = createJsonEndFinder();
  /** Pieces of the open object, or of the text before the next one. */
  let pieces: string[] = [];
  let isOpen = false;

  function takePieces(): BodyMessage[] {
    const data = pieces.join("");
    pieces = [];
    return isOpen || /[^\s,[\]]/.test(data) ? [{ data, event: "" }] : [];
  }

  return {
    push(text) {
      const messages: BodyMessage[] = [];
      let position = 0;
      while (position < text.length) {
        const end = isOpen ? endFinder.findEnd(text, position) : text.indexOf("{", position);
        pieces.push(end === -1 ? text.slice(position) : text.slice(position, end));
        if (end === -1) break;
        messages.push(...takePieces());
        isOpen = !isOpen;
        position = end;
      }
      return messages;
    },
    end: takePieces,
  };
}
