import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { useLoaded } from "../elements/use-loaded.ts";
import { toGrammar } from "./languages.ts";
import type { Highlighter, TokenLine } from "./highlighter.ts";
import { loadHighlighter } from "./load-highlighter.ts";

/** The known tokens of a code. */
export interface Highlighting {
  /** Tokens by line, without lines that have changed since or are above the limit. */
  readonly lines: readonly TokenLine[];
  /** Highlights other lines, piece by piece; undefined if the code is short enough to be highlighted at once. */
  readonly highlighter: Highlighter | undefined;
}

/** Limit in UTF-16 units, since highlighting longer code would block the page: only its visible parts get colours. */
export const highlightLimit = 60_000;
/** Highlighting growing code takes at most 1/share of the time. */
const share = 12;

/** Highlights code in pauses. While it grows, highlighted code stays as it is; the rest follows. */
export function useHighlight(code: string, language: string): Highlighting {
  const highlighter = useHighlighter(toGrammar(language));
  const [highlighted, setHighlighted] = useState<HighlightedCode>();
  const pause = useRef({ until: 0 });
  const isLong = code.length > highlightLimit;
  useEffect(() => {
    if (highlighter === undefined || isLong || highlighted?.code === code) return undefined;
    const timer = setTimeout(
      () => {
        const startedAt = performance.now();
        const lines = highlighter.toLines(code);
        const endedAt = performance.now();
        pause.current.until = endedAt + (endedAt - startedAt) * share;
        setHighlighted({ code, lines });
      },
      Math.max(0, pause.current.until - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [highlighter, isLong || code, highlighted]);
  return { lines: toUsableLines(highlighted, code), highlighter: isLong ? highlighter : undefined };
}

/** Lines of tokens, and the code that they make up. */
interface HighlightedCode {
  readonly code: string;
  readonly lines: readonly TokenLine[];
}

/** Returns the tokens of the lines that haven't changed. */
function toUsableLines(highlighted: HighlightedCode | undefined, code: string): readonly TokenLine[] {
  if (highlighted === undefined) return [];
  if (highlighted.code === code) return highlighted.lines;
  return code.startsWith(highlighted.code) ? highlighted.lines.slice(0, -1) : [];
}

/** Loaded grammars, so that each is read and compiled once. */
export const HighlighterCache = createContext<Map<string, Promise<Highlighter | undefined>>>(new Map());

/** Returns the highlighter once its grammar has loaded. @param grammar undefined: loads none */
export function useHighlighter(grammar: string | undefined): Highlighter | undefined {
  const cache = useContext(HighlighterCache);
  const load = async () => {
    if (grammar === undefined) return undefined;
    const loading = cache.get(grammar) ?? loadHighlighter(grammar);
    cache.set(grammar, loading);
    return { grammar, highlighter: await loading };
  };
  const loaded = useLoaded(load, [grammar, cache]);
  return loaded?.grammar === grammar ? loaded?.highlighter : undefined;
}
