import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Button } from "../elements/button.tsx";
import { useUnfolded } from "../elements/remembered.ts";
import { createItemChunker, type ItemChunk } from "../list/chunk-items.ts";
import { createRowMeasures } from "../list/row-measures.ts";
import { Windowed } from "../list/windowed.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { DiffLine } from "./diff-lines.ts";
import { diffColumns, DiffColumns, type DiffRow, renderRow, toRows } from "./diff-rows.tsx";
import { splitAtGaps } from "./hunks.ts";
import { useDiffColours } from "./use-diff-colours.ts";

interface DiffPanelProps {
  readonly lines: readonly DiffLine[];
  readonly isSplit: boolean;
  readonly label: string;
  /** Language as in a fence, or "". */
  readonly language: string;
  readonly memoryKey: string;
}

/** Number of lines up to which a change is unfolded. */
const foldedLines = 40;
/** Height of a line in pixels, until it is measured. */
const lineHeight = 20;

/** A change, line by line: in one column, or old and new side by side. */
export function DiffPanel({ lines, isSplit, label, language, memoryKey }: DiffPanelProps) {
  const messages = useMessages();
  const [isUnfolded, setUnfolded] = useUnfolded(`${memoryKey}/diff`);
  const canFold = lines.length > foldedLines + 10;
  const shown = useMemo(
    () => (canFold && !isUnfolded ? lines.slice(0, foldedLines) : lines),
    [canFold, isUnfolded, lines],
  );
  const colours = useDiffColours(
    useMemo(() => splitAtGaps(shown).map((hunk) => hunk.lines), [shown]),
    language,
    true,
  );
  const rows = useMemo(() => toRows(shown, isSplit), [shown, isSplit]);
  const [toChunks] = useState(() => createItemChunker<DiffRow>());
  const [measures] = useState(() => createRowMeasures<ItemChunk<DiffRow>>(({ items }) => items.length * lineHeight));
  return (
    <>
      <div class="diff-frame" tabIndex={0} role="region" aria-label={label}>
        <Windowed
          as="table"
          class={isSplit ? "diff split" : "diff"}
          attributes={{ "aria-rowcount": rows.length }}
          before={<DiffColumns isSplit={isSplit} />}
          parts={toChunks(rows)}
          measures={measures}
          toVersion={() => colours}
          renderSpace={renderSpace}
          render={({ key, from, items }, marks) => (
            <tbody key={key} {...marks}>
              {items.map((row, index) => renderRow(row, colours, from + index + 1))}
            </tbody>
          )}
        />
      </div>
      {canFold ? (
        <Button
          kind="fold"
          label={isUnfolded ? messages.showLess : messages.showAllLines({ lines: lines.length })}
          aria-expanded={isUnfolded}
          onClick={() => setUnfolded(!isUnfolded)}
        />
      ) : undefined}
    </>
  );
}

function renderSpace(key: string, height: number): VNode {
  return (
    <tbody key={key} aria-hidden="true">
      <tr>
        <td colSpan={diffColumns} style={{ height: `${height}px` }} />
      </tr>
    </tbody>
  );
}
