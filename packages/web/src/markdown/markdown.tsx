import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useKept } from "../elements/remembered.ts";
import { useGrowingText } from "../elements/use-growing-text.ts";
import { createRowMeasures, type RowMeasures } from "../list/row-measures.ts";
import { type PartMarks, Windowed } from "../list/windowed.tsx";
import { type BlockParser, createBlockParser, type MarkdownBlock } from "./block-parser.ts";
import { type MarkdownScope, renderFootnotes, renderNode } from "./render-node.tsx";

interface MarkdownProps {
  readonly text: string;
  /** False while more text may follow. */
  readonly isComplete: boolean;
  /** Key under which the page stores the parsed text until it is visible again. */
  readonly memoryKey: string;
}

/** Milliseconds per frame for parsing, and the shortest pause after it. */
const frameShare = 8;
/** Length of the pause before the open end is parsed again, as a multiple of the last parsing's time. */
const pauseFactor = 6;

/** A Markdown text that may grow. Each frame parses a bounded part; final blocks are never rendered again. */
export function Markdown({ text: source, isComplete, memoryKey }: MarkdownProps) {
  const text = useGrowingText(source, !isComplete);
  const state = useKept(`${memoryKey}/markdown`, createMarkdownState);
  const [, redraw] = useState(0);
  const hasMore = runSteps(state, text, isComplete);
  useEffect(() => {
    if (!hasMore) return undefined;
    const frame = requestAnimationFrame(() => redraw((count) => count + 1));
    return () => cancelAnimationFrame(frame);
  });
  const { scope } = state;
  return (
    <Windowed
      class="markdown"
      parts={state.parser.blocks}
      measures={state.measures}
      render={(block, marks) => renderBlock(block, scope, marks)}
      after={
        <>
          {state.parser.rest === "" ? undefined : <p class="unparsed">{state.parser.rest.slice(0, 1024)}</p>}
          {isComplete && !hasMore ? renderFootnotes(scope) : undefined}
        </>
      }
    />
  );
}

interface MarkdownState {
  readonly parser: BlockParser;
  readonly scope: MarkdownScope;
  readonly measures: RowMeasures<MarkdownBlock>;
  /** The text that the last call parsed. */
  text: string;
  isComplete: boolean;
  hasMore: boolean;
  /** Moment until which new text waits, in milliseconds of `performance.now`. */
  pauseUntil: number;
}

function createMarkdownState(): MarkdownState {
  const parser = createBlockParser();
  const scope: MarkdownScope = {
    get definitions() {
      return parser.definitions;
    },
  };
  const measures = createRowMeasures(estimateBlock);
  return { parser, scope, measures, text: "", isComplete: false, hasMore: true, pauseUntil: 0 };
}

function runSteps(state: MarkdownState, text: string, isComplete: boolean): boolean {
  if (!state.hasMore && state.text === text && state.isComplete === isComplete) return false;
  const start = performance.now();
  if (!isComplete && start < state.pauseUntil) return true;
  const deadline = start + frameShare;
  do state.hasMore = state.parser.step(text, isComplete);
  while (state.hasMore && performance.now() < deadline);
  state.text = text;
  state.isComplete = isComplete;
  const end = performance.now();
  // A frame may draw twice: once for new text, once for the rest of the old text.
  state.pauseUntil = end + (state.hasMore ? frameShare : (end - start) * pauseFactor);
  return state.hasMore;
}

/** Estimates the height of a block in pixels, until it is measured. */
function estimateBlock({ size, isContinued }: MarkdownBlock): number {
  return (isContinued ? 4 : 12) + Math.ceil(size / 88) * 26;
}

function renderBlock({ key, node, isContinued }: MarkdownBlock, scope: MarkdownScope, marks: PartMarks): VNode {
  return (
    <div key={key} class={isContinued ? "block continued" : "block"} {...marks}>
      {renderNode(node, scope)}
    </div>
  );
}
