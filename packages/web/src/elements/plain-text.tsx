import { useState } from "preact/hooks";
import { createRowMeasures } from "../list/row-measures.ts";
import { Windowed } from "../list/windowed.tsx";
import { copyText } from "./copy-text.ts";
import { createTextCutter, type TextChunk } from "./cut-text.ts";
import { useGrowingText } from "./use-growing-text.ts";

interface PlainTextProps {
  readonly text: string;
  readonly class: string;
  /** More may follow. */
  readonly isOpen?: boolean;
}

/** A text as it is, with its line ends. Of a long one, only the parts in sight are elements. */
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

/** Approximate height in pixels, until it was measured. */
function estimateChunk({ from, to, ends }: TextChunk): number {
  return Math.max(ends, Math.ceil((to - from) / 88)) * 26;
}
