import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type BlockParser, createBlockParser, type MarkdownBlock } from "./block-parser.ts";
import { type MarkdownScope, renderFootnotes, renderNode } from "./render-node.tsx";

interface MarkdownProps {
  readonly text: string;
  /** False while more text may follow. */
  readonly isComplete: boolean;
}

/** Milliseconds per frame that parsing may take. */
const frameShare = 8;
/** An open block that takes longer is not parsed again for this many times as long. */
const pauseFactor = 6;

/** Markdown that may still grow. Each frame parses a bounded part; what is final is never rendered again. */
export function Markdown({ text, isComplete }: MarkdownProps) {
  const [state] = useState(createMarkdownState);
  const [, redraw] = useState(0);
  const hasMore = runSteps(state, text, isComplete);
  useEffect(() => {
    if (!hasMore) return undefined;
    const frame = requestAnimationFrame(() => redraw((count) => count + 1));
    return () => cancelAnimationFrame(frame);
  });
  const scope = useRef(state.scope).current;
  return (
    <div class="markdown">
      {state.parser.blocks.map((block) => renderBlock(block, state, scope))}
      {state.parser.rest === "" ? undefined : <p class="unparsed">{state.parser.rest.slice(0, 4096)}</p>}
      {isComplete && !hasMore ? renderFootnotes(scope) : undefined}
    </div>
  );
}

interface MarkdownState {
  readonly parser: BlockParser;
  readonly scope: MarkdownScope;
  /** Elements by block: the same element is not compared again. */
  readonly elements: WeakMap<MarkdownBlock, VNode>;
  /** What the last call parsed. */
  text: string;
  isComplete: boolean;
  hasMore: boolean;
  /** Until this moment, new text waits. Milliseconds of `performance.now`. */
  pauseUntil: number;
}

function createMarkdownState(): MarkdownState {
  const parser = createBlockParser();
  const scope: MarkdownScope = {
    get definitions() {
      return parser.definitions;
    },
  };
  return { parser, scope, elements: new WeakMap(), text: "", isComplete: false, hasMore: true, pauseUntil: 0 };
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
  if (!state.hasMore && end > deadline) state.pauseUntil = end + (end - start) * pauseFactor;
  return state.hasMore;
}

function renderBlock(block: MarkdownBlock, { elements }: MarkdownState, scope: MarkdownScope): VNode {
  const known = elements.get(block);
  if (known !== undefined) return known;
  const element = (
    <div key={block.key} class={block.isContinued ? "block continued" : "block"}>
      {renderNode(block.node, scope)}
    </div>
  );
  elements.set(block, element);
  return element;
}
