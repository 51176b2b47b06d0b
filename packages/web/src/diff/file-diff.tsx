import { type ComponentChildren, toChildArray } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../elements/button.tsx";
import { useIsNear } from "../elements/use-is-near.ts";
import { useMessages } from "../messages/use-messages.ts";
import type { DiffLine } from "./diff-lines.ts";
import { diffColumns, DiffColumns, renderRows } from "./diff-rows.tsx";
import { divideGap, findHiddenLines, type GapParts, type Hunk } from "./hunks.ts";
import { type LineNotes, type ReadLineNote, useLineNotes } from "./line-notes.tsx";
import { type DiffColours, useDiffColours } from "./use-diff-colours.ts";
import { lineStep, type FileLines, type ReadFileLines, useFileLines } from "./use-file-lines.ts";

interface FileDiffProps {
  readonly hunks: readonly Hunk[];
  readonly isSplit: boolean;
  readonly label: string;
  /** Language as in a fence, or "". */
  readonly language: string;
  /** Reads the present file around the hunks; absent: the diff shows only the hunks. */
  readonly read: ReadFileLines | undefined;
  /** Reads the note about a line; absent: line numbers aren't buttons. */
  readonly readNote?: ReadLineNote | undefined;
  /** Renders the buttons of a hunk. */
  readonly renderAction: (hunk: number) => ComponentChildren;
}

/** Number of lines up to which a hunk is unfolded. */
const foldedLines = 60;

/** The changes of a file as one table. The user can show lines between the hunks, which the page then reads. */
export function FileDiff({ hunks, isSplit, label, language, read, readNote, renderAction }: FileDiffProps) {
  const notes = useLineNotes(readNote);
  const frame = useRef<HTMLDivElement>(null);
  const file = useFileLines(read, () => frame.current?.focus({ preventScroll: true }));
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const gaps = useMemo(
    () =>
      (file === undefined ? [] : findHiddenLines(hunks, file.totalLines)).map((gap, index) =>
        gap === undefined || file === undefined
          ? undefined
          : divideGap(gap, file.shown.get(index) ?? { start: 0, end: 0 }, file.texts),
      ),
    [hunks, file?.shown, file?.texts, file?.totalLines],
  );
  const parts = useMemo(() => joinParts(hunks, gaps), [hunks, gaps]);
  const isNear = useIsNear(frame);
  const colours = useDiffColours(parts, language, isNear);
  const renderGapPart = (lines: readonly DiffLine[] | undefined) => renderRows(lines ?? [], isSplit, colours, notes);
  const renderHead = ({ section }: Hunk, index: number): ComponentChildren[] => [
    section === "" ? undefined : <span class="gap-section">{section}</span>,
    renderAction(index),
  ];
  return (
    <>
      <div class="diff-frame" tabIndex={0} role="region" aria-label={label} ref={frame}>
        <table class={isSplit ? "diff split" : "diff"}>
          <DiffColumns isSplit={isSplit} />
          {hunks.map((hunk, index) => (
            <tbody key={index}>
              {renderGapPart(gaps[index]?.start)}
              <GapRow gap={gaps[index]} index={index} file={file} isFirst={index === 0} isLast={false}>
                {isBelowGap(gaps[index]) ? renderHead(hunk, index) : undefined}
              </GapRow>
              {renderGapPart(gaps[index]?.end)}
              {isBelowGap(gaps[index]) ? undefined : <GapRow>{renderHead(hunk, index)}</GapRow>}
              <HunkRows
                hunk={hunk}
                isSplit={isSplit}
                colours={colours}
                notes={notes}
                isUnfolded={unfolded.has(index)}
                onUnfold={() => setUnfolded(new Set([...unfolded, index]))}
              />
            </tbody>
          ))}
          <tbody>
            {renderGapPart(gaps[hunks.length]?.start)}
            <GapRow gap={gaps[hunks.length]} index={hunks.length} file={file} isFirst={false} isLast />
            {renderGapPart(gaps[hunks.length]?.end)}
          </tbody>
        </table>
      </div>
      {file?.problem === undefined ? undefined : (
        <p class="card-note problem" role="alert">
          {file.problem}
        </p>
      )}
    </>
  );
}

/** True if the hunk follows hidden lines directly, so that one row serves both. */
function isBelowGap(gap: GapParts | undefined): boolean {
  return gap?.hidden !== undefined && gap.end.length === 0;
}

/** Joins the lines that follow each other without a gap. */
function joinParts(hunks: readonly Hunk[], gaps: readonly (GapParts | undefined)[]): readonly (readonly DiffLine[])[] {
  const parts: DiffLine[][] = [[]];
  for (let index = 0; index <= hunks.length; index += 1) {
    const gap = gaps[index];
    parts.at(-1)!.push(...(gap?.start ?? []));
    if (gap?.hidden !== undefined || (gap === undefined && gaps.length === 0)) parts.push([]);
    parts.at(-1)!.push(...(gap?.end ?? []), ...(hunks[index]?.lines ?? []));
  }
  return parts.filter((lines) => lines.length > 0);
}

interface HunkRowsProps {
  readonly hunk: Hunk;
  readonly isSplit: boolean;
  readonly colours: DiffColours;
  readonly notes: LineNotes | undefined;
  readonly isUnfolded: boolean;
  readonly onUnfold: () => void;
}

function HunkRows({ hunk: { lines }, isSplit, colours, notes, isUnfolded, onUnfold }: HunkRowsProps) {
  const messages = useMessages();
  if (isUnfolded || lines.length <= foldedLines + 10) return <>{renderRows(lines, isSplit, colours, notes)}</>;
  return (
    <>
      {renderRows(lines.slice(0, foldedLines), isSplit, colours, notes)}
      <tr class="diff-gap">
        <td colSpan={diffColumns}>
          <div class="gap-bar">
            <Button kind="gap" label={messages.showAllLines({ lines: lines.length })} onClick={onUnfold} />
          </div>
        </td>
      </tr>
    </>
  );
}

interface GapRowProps {
  readonly gap?: GapParts | undefined;
  readonly index?: number;
  readonly file?: FileLines | undefined;
  /** True if no hunk is above the gap. */
  readonly isFirst?: boolean;
  readonly isLast?: boolean;
  readonly children?: ComponentChildren;
}

/** A row for hidden lines: buttons that show them, and the actions of the hunk below. */
function GapRow({ gap, index = 0, file, isFirst = false, isLast = false, children }: GapRowProps) {
  const hidden = gap?.hidden;
  if (hidden === undefined && toChildArray(children).length === 0) return undefined;
  return (
    <tr class="diff-gap">
      <td colSpan={diffColumns}>
        <div class="gap-bar">
          {hidden === undefined || file === undefined ? undefined : (
            <GapButtons hidden={hidden} index={index} file={file} isFirst={isFirst} isLast={isLast} />
          )}
          {children}
        </div>
      </td>
    </tr>
  );
}

interface GapButtonsProps extends Required<Pick<GapRowProps, "index" | "isFirst" | "isLast">> {
  readonly hidden: NonNullable<GapParts["hidden"]>;
  readonly file: FileLines;
}

function GapButtons({ hidden: { from, to }, index, file, isFirst, isLast }: GapButtonsProps) {
  const messages = useMessages();
  const size = to === undefined ? undefined : to - from + 1;
  const isLong = size === undefined || size > lineStep;
  return (
    <>
      {isLong && !isFirst ? (
        <Button
          {...toStep(messages.showLinesBelow({ lines: lineStep }), file)}
          icon="arrowDown"
          onClick={() => file.show(index, "start", from, lineStep)}
        />
      ) : undefined}
      {isLong && !isLast ? (
        <Button
          {...toStep(messages.showLinesAbove({ lines: lineStep }), file)}
          icon="send"
          onClick={() => file.show(index, "end", to! - lineStep + 1, lineStep)}
        />
      ) : undefined}
      <Button
        kind="gap"
        label={size === undefined || isLast ? messages.showRestOfFile : messages.showHiddenLines({ lines: size })}
        disabled={file.isBusy}
        onClick={() => file.show(index, isFirst ? "end" : "start", from, size ?? Infinity)}
      />
    </>
  );
}

function toStep(name: string, { isBusy }: FileLines) {
  return { kind: "gap", label: `${lineStep}`, "aria-label": name, title: name, disabled: isBusy } as const;
}
