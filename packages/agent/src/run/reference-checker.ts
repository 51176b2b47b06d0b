/** Finds out, while the model writes, whether the lines that it quotes stand in the file (N22). */
import { createTextParser, type TextParser, type TextSegmentCodeReference } from "@sheaf/documents";
import type { ModelEvent, RunEventBody } from "@sheaf/protocol";
import { createGrowingText } from "../base/growing-text.ts";

/** A closed code reference. */
export interface Quote extends Omit<TextSegmentCodeReference, "type" | "language"> {
  readonly content: string;
}

/** Whether a file holds a quote. Never throws. */
export type QuoteCheck = (quote: Quote) => Promise<boolean>;

/** Adds `reference_check` events in front of the events that close a reference. One per turn (N27). */
export interface ReferenceChecker {
  /** Undefined when no reference is closed by these events; then they go on as they are. */
  check(events: readonly ModelEvent[]): Promise<readonly RunEventBody[]> | undefined;
}

/** A checker for one turn. */
export function createReferenceChecker(isInFile: QuoteCheck): ReferenceChecker {
  let parser: TextParser = createTextParser();
  let open: TextSegmentCodeReference | undefined;
  let content = createGrowingText();
  let index = 0;

  /** The references that an event closes. */
  const takeQuotes = (event: ModelEvent): Quote[] => {
    const quotes: Quote[] = [];
    for (const part of readParts(event)) {
      if (part.type === "segment_start") {
        open = part.segment.type === "code_reference" ? part.segment : undefined;
        content = createGrowingText();
      } else if (part.type === "segment_delta") {
        if (open) content.push(part.delta);
      } else if (open) {
        quotes.push({
          filePath: open.filePath,
          startLine: open.startLine,
          endLine: open.endLine,
          content: content.text,
        });
        open = undefined;
      }
    }
    return quotes;
  };

  const readParts = (event: ModelEvent): ReturnType<TextParser["push"]> => {
    if (event.type === "text_delta") return parser.push(event.text);
    if (event.type !== "tool_call_start" && event.type !== "turn_end") return [];
    const parts = parser.end();
    parser = createTextParser();
    return parts;
  };

  return {
    check(events) {
      const quotes = events.map(takeQuotes);
      if (quotes.every((list) => list.length === 0)) return undefined;
      return addChecks(events, quotes);
    },
  };

  async function addChecks(events: readonly ModelEvent[], quotes: readonly Quote[][]): Promise<RunEventBody[]> {
    const result: RunEventBody[] = [];
    for (const [place, event] of events.entries()) {
      for (const quote of quotes[place]!) {
        result.push({ type: "reference_check", index, verified: await isInFile(quote) });
        index += 1;
      }
      result.push(event);
    }
    return result;
  }
}
