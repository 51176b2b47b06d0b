import { createJsonEndFinder } from "./json-end-finder.ts";

/** Cuts text that comes in pieces into the JSON objects it holds. */
export interface JsonTextDecoder {
  /** The texts of the objects that `text` completes. */
  push(text: string): string[];
  /** What is left of an object that the body broke off in. */
  end(): string[];
}

/**
 * Takes one object, objects one a line (NDJSON), objects written over several lines, and an array of objects, whose
 * elements come one by one (Gemini without `alt=sse`). Whatever stands between objects is skipped.
 */
export function createJsonTextDecoder(): JsonTextDecoder {
  const endFinder = createJsonEndFinder();
  /** Pieces of the object that has begun. */
  let pieces: string[] = [];

  return {
    push(text) {
      const values: string[] = [];
      let position = 0;
      for (;;) {
        if (pieces.length === 0) position = text.indexOf("{", position);
        if (position === -1 || position >= text.length) return values;
        const end = endFinder.findEnd(text, position);
        pieces.push(end === -1 ? text.slice(position) : text.slice(position, end));
        if (end === -1) return values;
        values.push(pieces.join(""));
        pieces = [];
        position = end;
      }
    },
    end() {
      const rest = pieces.join("");
      pieces = [];
      return rest === "" ? [] : [rest];
    },
  };
}
