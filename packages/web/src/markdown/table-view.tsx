import type { Table, TableCell, TableRow } from "mdast";
import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useMessages } from "../messages/use-messages.ts";
import { toCellText, toColumnSizes } from "./column-sizes.ts";

interface TableViewProps {
  readonly table: Table;
  readonly renderCell: (cell: TableCell) => ComponentChildren;
}

/**
 * A table of a text. If it is wider than the text, it has its own scroll bar, which the keyboard reaches. Otherwise it
 * scrolls with the page, so that its head stays visible.
 */
export function TableView({ table, renderCell }: TableViewProps) {
  const messages = useMessages();
  const frame = useRef<HTMLDivElement>(null);
  const isWide = useOverflow(frame);
  const [head, ...rows] = table.children;
  const sizes = toColumnSizes(table);
  const renderRow = (row: TableRow, Cell: "th" | "td"): VNode => (
    <tr>
      {row.children.map((cell, column) => (
        <Cell class={`align-${table.align?.[column] ?? "start"} column-${sizes[column] ?? "short"}`}>
          {renderCell(cell)}
        </Cell>
      ))}
    </tr>
  );
  const names = head?.children.map(toCellText).filter((text) => text !== "");
  const columns = names?.join(messages.listSeparator) ?? "";
  const scrolling = isWide && {
    tabIndex: 0,
    role: "group" as const,
    "aria-label": columns === "" ? messages.table : messages.tableOf({ columns }),
  };
  return (
    <div class={isWide ? "table-frame wide" : "table-frame"} ref={frame} dir="auto" {...scrolling}>
      <table>
        {head === undefined ? undefined : <thead>{renderRow(head, "th")}</thead>}
        <tbody>{rows.map((row) => renderRow(row, "td"))}</tbody>
      </table>
    </div>
  );
}

/** Returns true while the only child of an element is wider than the element. */
function useOverflow(frame: { readonly current: HTMLElement | null }): boolean {
  const [isWide, setWide] = useState(false);
  useLayoutEffect(() => {
    const { current } = frame;
    const child = current?.firstElementChild;
    if (!current || !child) return undefined;
    const measure = (): void => setWide(child.getBoundingClientRect().width > current.clientWidth + 1);
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    observer.observe(child);
    measure();
    return () => observer.disconnect();
  }, []);
  return isWide;
}
