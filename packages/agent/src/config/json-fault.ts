/** Where a text stops being JSON. The message of `JSON.parse` quotes the text, which may hold a key (S-41): this one does not. */

/** A place in a text, both from 1. */
export interface TextPlace {
  readonly line: number;
  /** UTF-16 units. */
  readonly column: number;
}

/** The first place at which no JSON can go on; undefined: the text is JSON. */
export function findJsonFault(text: string): TextPlace | undefined {
  if (readJson(text) === "whole") return undefined;
  let good = 0;
  let bad = text.length + 1;
  // A beginning with a fault in it stays faulty however the text goes on, so the shortest one can be searched by halves.
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (middle <= text.length && readJson(text.slice(0, middle)) !== "faulty") good = middle;
    else bad = middle;
  }
  const lines = text.slice(0, good).split("\n");
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/** `begun`: it may still become JSON. */
function readJson(text: string): "whole" | "begun" | "faulty" {
  try {
    JSON.parse(text);
    return "whole";
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    if (message.includes("end of JSON input")) return "begun";
    const [, position] = / at position (\d+)/.exec(message) ?? [];
    return position !== undefined && Number(position) >= text.length ? "begun" : "faulty";
  }
}
