import type { ComponentChildren, VNode } from "preact";
import { type DiffLine, toPairs } from "./diff-lines.ts";
import { toSegments } from "./line-segments.ts";
import type { DiffColours } from "./use-diff-colours.ts";

/** Columns of a table of changes, in either layout. */
export const diffColumns = 4;

/** Widths of the columns. One column: the browser finds them. */
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

/** Rows of a table: in one column, or old and new side by side. */
export function renderRows(lines: readonly DiffLine[], isSplit: boolean, colours: DiffColours): VNode[] {
  return isSplit ? renderSplit(lines, colours) : lines.map((line) => renderUnified(line, colours));
}

const signs = { same: " ", added: "+", removed: "−", gap: "" } as const;

function renderUnified(line: DiffLine, colours: DiffColours): VNode {
  if (line.kind === "gap") return renderGap(line);
  return (
    <tr class={`diff-${line.kind}`}>
      <td class="diff-number">{line.oldNumber}</td>
      <td class="diff-number">{line.newNumber}</td>
      <td class="diff-sign">{signs[line.kind]}</td>
      <td class="diff-text">{renderText(line, colours)}</td>
    </tr>
  );
}

function renderSplit(lines: readonly DiffLine[], colours: DiffColours): VNode[] {
  return toPairs(lines).map(({ left, right }) => {
    if (left?.kind === "gap") return renderGap(left);
    return (
      <tr>
        <td class={`diff-number ${toSide(left)}`}>{left?.oldNumber}</td>
        <td class={`diff-text ${toSide(left)}`}>{left === undefined ? undefined : renderText(left, colours)}</td>
        <td class={`diff-number ${toSide(right)}`}>{right?.newNumber}</td>
        <td class={`diff-text ${toSide(right)}`}>{right === undefined ? undefined : renderText(right, colours)}</td>
      </tr>
    );
  });
}

function toSide(line: DiffLine | undefined): string {
  return line === undefined ? "diff-none" : `diff-${line.kind}`;
}

function renderGap({ text }: DiffLine): VNode {
  return (
    <tr class="diff-gap">
      <td colSpan={diffColumns}>⋯ {text}</td>
    </tr>
  );
}

function renderText(line: DiffLine, colours: DiffColours): ComponentChildren {
  if (line.text === "") return "\u200B";
  return toSegments(line.text, colours.get(line), line.changed).map(({ text, kind, isChanged }) => {
    const shown = kind === "" ? text : <span class={`token-${kind}`}>{text}</span>;
    return isChanged ? <mark>{shown}</mark> : shown;
  });
}
