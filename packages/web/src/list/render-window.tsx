import type { VNode } from "preact";
import type { RowMeasures } from "./row-measures.ts";

/** The drawn rows of a long column. */
interface Window {
  readonly measures: Pick<RowMeasures<never>, "toTop" | "toHeight">;
  /** Indices of the drawn rows, ascending. */
  readonly indices: readonly number[];
  /** Number of all rows. */
  readonly count: number;
  readonly renderSpace?: (key: string, height: number) => VNode;
}

/** Returns the elements at `indices`, with empty space for the others. */
export function renderWindow(
  { measures, indices, count, renderSpace = renderSpacer }: Window,
  renderIndex: (index: number) => VNode,
): VNode[] {
  const elements: VNode[] = [];
  let end = 0;
  for (const index of indices) {
    const top = measures.toTop(index);
    if (top > end) elements.push(renderSpace(`space-${index}`, top - end));
    elements.push(renderIndex(index));
    end = top + measures.toHeight(index);
  }
  const rest = measures.toTop(count) - end;
  if (rest > 0) elements.push(renderSpace("space-end", rest));
  return elements;
}

function renderSpacer(key: string, height: number): VNode {
  return <div key={key} class="spacer" aria-hidden="true" style={{ height: `${height}px` }} />;
}
