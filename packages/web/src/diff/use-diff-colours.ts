import { useEffect, useState } from "preact/hooks";
import type { Highlighter, TokenLine } from "../code/highlighter.ts";
import { toGrammar } from "../code/languages.ts";
import { highlightLimit, useHighlighter } from "../code/use-highlight.ts";
import type { DiffLine } from "./diff-lines.ts";

/** Colours of lines that have been highlighted. */
export type DiffColours = ReadonlyMap<DiffLine, TokenLine>;

const none: DiffColours = new Map();

/**
 * Highlights parts of a file in pauses, the old and the new side separately, up to a limit for all parts together.
 * @param isWanted false: loads no grammar and highlights nothing
 */
export function useDiffColours(
  parts: readonly (readonly DiffLine[])[],
  language: string,
  isWanted: boolean,
): DiffColours {
  const highlighter = useHighlighter(isWanted ? toGrammar(language) : undefined);
  const [colours, setColours] = useState(none);
  useEffect(() => {
    if (highlighter === undefined) return undefined;
    const found = new Map<DiffLine, TokenLine>();
    const left = [...parts];
    let room = highlightLimit;
    let timer: ReturnType<typeof setTimeout>;
    const work = (): void => {
      const part = left.shift();
      if (part !== undefined) room -= colourPart(part, highlighter, room, found);
      if (left.length > 0 && room > 0) timer = setTimeout(work);
      else setColours(found);
    };
    timer = setTimeout(work);
    return () => clearTimeout(timer);
  }, [highlighter, parts]);
  return colours;
}

/** Highlights a part. Returns the length of its text, in UTF-16 units. */
function colourPart(
  part: readonly DiffLine[],
  highlighter: Highlighter,
  room: number,
  found: Map<DiffLine, TokenLine>,
): number {
  let length = 0;
  // An unchanged line gets the colours of the new side.
  for (const side of ["removed", "added"] as const) {
    const lines = part.filter(({ kind }) => kind === "same" || kind === side);
    const text = lines.map((line) => line.text).join("\n");
    length += text.length;
    if (length > room) break;
    if (side === "removed" && lines.every(({ kind }) => kind === "same")) continue;
    for (const [index, tokens] of highlighter.toLines(text).entries()) {
      const line = lines[index];
      if (line !== undefined) found.set(line, tokens);
    }
  }
  return length;
}
