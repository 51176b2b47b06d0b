import type { ComponentChildren, VNode } from "preact";
import { toVisibleCode } from "../elements/visible-text.tsx";
import { type DiffLine, type DiffPair, toPairs } from "./diff-lines.ts";
import type { LineNotes } from "./line-notes.tsx";
import { toSegments } from "./line-segments.ts";
import type { DiffColours } from "./use-diff-colours.ts";

/** Columns of a table of changes, in either layout. */
export const diffColumns = 4;

/** Widths of the columns; in the layout with one, the browser chooses them. */
export function DiffColumns({ isSplit }: { readonly isSplit: boolean }) {
  if (!isSplit) return undefined;
  return (
    <colgroup>
      <col class="diff-number-column" />
      <col />
      <col class="diff-number-column" />
      <col />
    </colgroup>
  );
}

/** A row of a table: a line, or a pair of them side by side. */
export type DiffRow = DiffLine | DiffPair;

export function toRows(lines: readonly DiffLine[], isSplit: boolean): readonly DiffRow[] {
  return isSplit ? toPairs(lines) : lines;
}

/** Renders rows of a table: in one column, or old and new side by side. */
export function renderRows(
  lines: readonly DiffLine[],
  isSplit: boolean,
  colours: DiffColours,
  notes?: LineNotes,
): VNode[] {
  return toRows(lines, isSplit).flatMap((row) => {
    const shown = renderRow(row, colours, undefined, notes);
    const line = "kind" in row ? row.newNumber : row.right?.newNumber;
    return line === undefined || line !== notes?.line ? shown : [shown, renderNote(notes.note)];
  });
}

function renderNote(note: ComponentChildren): VNode {
  return (
    <tr class="diff-gap">
      <td colSpan={diffColumns} role="status" dir="auto">
        {note}
      </td>
    </tr>
  );
}

/** Renders a row. @param position among all rows of the table, from 1, if others may not be drawn */
export function renderRow(row: DiffRow, colours: DiffColours, position?: number, notes?: LineNotes): VNode {
  const toNumber = notes?.renderNumber ?? ((line?: number) => line);
  return "kind" in row
    ? renderUnified(row, colours, toNumber, position)
    : renderSplit(row, colours, toNumber, position);
}

const signs = { same: " ", added: "+", removed: "−", gap: "" } as const;

type ToNumber = LineNotes["renderNumber"];

function renderUnified(line: DiffLine, colours: DiffColours, toNumber: ToNumber, position?: number): VNode {
  if (line.kind === "gap") return renderGap(line, position);
  return (
    <tr class={`diff-${line.kind}`} aria-rowindex={position}>
      <td class="diff-number">{line.oldNumber}</td>
      <td class="diff-number">{toNumber(line.newNumber)}</td>
      <td class="diff-sign">{signs[line.kind]}</td>
      <td class="diff-text">{renderText(line, colours)}</td>
    </tr>
  );
}

function renderSplit({ left, right }: DiffPair, colours: DiffColours, toNumber: ToNumber, position?: number): VNode {
  if (left?.kind === "gap") return renderGap(left, position);
  return (
    <tr aria-rowindex={position}>
      <td class={`diff-number ${toSide(left)}`}>{left?.oldNumber}</td>
      <td class={`diff-text ${toSide(left)}`}>{left === undefined ? undefined : renderText(left, colours)}</td>
      <td class={`diff-number ${toSide(right)}`}>{toNumber(right?.newNumber)}</td>
      <td class={`diff-text ${toSide(right)}`}>{right === undefined ? undefined : renderText(right, colours)}</td>
    </tr>
  );
}

function toSide(line: DiffLine | undefined): string {
  return line === undefined ? "diff-none" : `diff-${line.kind}`;
}

function renderGap({ text }: DiffLine, position?: number): VNode {
  return (
    <tr class="diff-gap" aria-rowindex={position}>
      <td colSpan={diffColumns}>⋯ {text}</td>
    </tr>
  );
}

function renderText(line: DiffLine, colours: DiffColours): ComponentChildren {
  if (line.text === "") return "\u200B";
  return toSegments(line.text, colours.get(line), line.changed).map(({ text, kind, isChanged }) => {
    const code = toVisibleCode(text);
    const shown = kind === "" ? code : <span class={`token-${kind}`}>{code}</span>;
    return isChanged ? <mark>{shown}</mark> : shown;
  });
}
