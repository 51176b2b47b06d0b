import { useState } from "preact/hooks";
import { createRowMeasures } from "../list/row-measures.ts";
import { Windowed } from "../list/windowed.tsx";
import { copyText } from "./copy-text.ts";
import { createTextCutter, type TextChunk } from "./cut-text.ts";
import { useGrowingText } from "./use-growing-text.ts";

interface PlainTextProps {
  readonly text: string;
  readonly class: string;
  /** True if more text may follow. */
  readonly isOpen?: boolean;
}

/** A text without formatting, with its line ends. Only the visible parts of a long text are elements. */
export function PlainText({ text: whole, class: className, isOpen = false }: PlainTextProps) {
  const text = useGrowingText(whole, isOpen);
  const [cutter] = useState(createTextCutter);
  const [measures] = useState(() => createRowMeasures<TextChunk>(estimateChunk));
  return (
    <Windowed
      class={className}
      parts={cutter.cut(text)}
      measures={measures}
      render={(chunk, marks) => (
        <p key={chunk.key} dir="auto" {...marks}>
          {copyText(text.slice(chunk.from, chunk.to))}
        </p>
      )}
    />
  );
}

/** Estimates the height of a chunk in pixels, until it is measured. */
function estimateChunk({ from, to, ends }: TextChunk): number {
  return Math.max(ends, Math.ceil((to - from) / 88)) * 26;
}
