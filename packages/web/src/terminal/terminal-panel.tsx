import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useRemembered } from "../elements/remembered.ts";
import { useMessages } from "../messages/use-messages.ts";
import { createTerminalText, type TerminalLine } from "./terminal-text.ts";

interface TerminalPanelProps {
  readonly output: string;
  readonly label: string;
  readonly isLive: boolean;
  readonly memoryKey: string;
}

/** Lines shown of a long output: its end. */
const shownLines = 200;

/** Output of a command. While it runs, the end stays visible unless the user scrolled up. */
export function TerminalPanel({ output, label, isLive, memoryKey }: TerminalPanelProps) {
  const messages = useMessages();
  const [text] = useState(createTerminalText);
  const [showsAll, setShowsAll] = useRemembered(`${memoryKey}/output`, false);
  const elements = useRef(new WeakMap<TerminalLine, VNode>()).current;
  text.update(output);
  const { lines } = text;
  const hiddenLines = showsAll ? 0 : Math.max(0, lines.length - shownLines);
  const scroller = useFollowedEnd(isLive, output.length);
  return (
    <>
      {hiddenLines > 0 ? (
        <button type="button" class="fold-button terminal-fold" onClick={() => setShowsAll(true)}>
          {messages.showEarlierLines(hiddenLines)}
        </button>
      ) : undefined}
      <pre class="terminal-output" tabIndex={0} role="region" aria-label={label} ref={scroller}>
        {lines.slice(hiddenLines).map((line) => {
          const element = elements.get(line) ?? renderLine(line);
          elements.set(line, element);
          return element;
        })}
      </pre>
    </>
  );
}

function renderLine(line: TerminalLine): VNode {
  return (
    <span class="terminal-line">
      {line.map(({ text, style }) => (style === "" ? text : <span class={style}>{text}</span>))}
      {"\n"}
    </span>
  );
}

/** Keeps an element scrolled to its end while it grows. */
function useFollowedEnd(isLive: boolean, length: number) {
  const element = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const note = (): void => {
      isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < 24;
    };
    current.addEventListener("scroll", note, { passive: true });
    return () => current.removeEventListener("scroll", note);
  }, []);
  useEffect(() => {
    const { current } = element;
    if (isLive && isAtEnd.current && current !== null) current.scrollTop = current.scrollHeight;
  }, [isLive, length]);
  return element;
}
