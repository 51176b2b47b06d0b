import { useMemo } from "preact/hooks";
import { useRemembered } from "../elements/remembered.ts";
import { useMessages } from "../messages/use-messages.ts";
import type { DiffLine } from "./diff-lines.ts";
import { DiffColumns, renderRows } from "./diff-rows.tsx";
import { useDiffColours } from "./use-diff-colours.ts";

interface DiffPanelProps {
  readonly lines: readonly DiffLine[];
  readonly isSplit: boolean;
  readonly label: string;
  /** As fences name it, or "". */
  readonly language: string;
  readonly memoryKey: string;
}

/** Longer changes are folded. */
const foldedLines = 40;

/** A change, line by line: in one column, or old and new side by side. */
export function DiffPanel({ lines, isSplit, label, language, memoryKey }: DiffPanelProps) {
  const messages = useMessages();
  const [isUnfolded, setUnfolded] = useRemembered(`${memoryKey}/diff`, false);
  const canFold = lines.length > foldedLines + 10;
  const shown = useMemo(
    () => (canFold && !isUnfolded ? lines.slice(0, foldedLines) : lines),
    [canFold, isUnfolded, lines],
  );
  const colours = useDiffColours(
    useMemo(() => splitAtGaps(shown), [shown]),
    language,
    true,
  );
  return (
    <>
      <div class="diff-frame" tabIndex={0} role="region" aria-label={label}>
        <table class={isSplit ? "diff split" : "diff"}>
          <DiffColumns isSplit={isSplit} />
          <tbody>{renderRows(shown, isSplit, colours)}</tbody>
        </table>
      </div>
      {canFold ? (
        <button type="button" class="fold-button" aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
          {isUnfolded ? messages.showLess : messages.showAllLines(lines.length)}
        </button>
      ) : undefined}
    </>
  );
}

function splitAtGaps(lines: readonly DiffLine[]): readonly (readonly DiffLine[])[] {
  const parts: DiffLine[][] = [[]];
  for (const line of lines) {
    if (line.kind === "gap") parts.push([]);
    else parts.at(-1)!.push(line);
  }
  return parts;
}
