import type { ComponentChildren, VNode } from "preact";
import type { KeyedRow } from "./row-measures.ts";
import { useVirtualList, type ListController, type VirtualListOptions } from "./use-virtual-list.ts";

interface VirtualListProps<Row extends KeyedRow> extends VirtualListOptions<Row> {
  readonly render: (row: Row) => ComponentChildren;
  /** Label of a row, for screen readers. */
  readonly label: (row: Row) => string;
  readonly name: string;
  readonly isBusy: boolean;
}

/**
 * A long list in which only the visible rows are elements. It stays at its end while it grows, unless the user
 * scrolled up; then the visible rows stay where they are. The row with the focus is never removed.
 */
export function VirtualList<Row extends KeyedRow>(props: VirtualListProps<Row>) {
  const { rows, name, isBusy } = props;
  const { list, indices, scroller } = useVirtualList(props);
  const elements: VNode[] = [];
  let end = 0;
  for (const index of indices) {
    const top = list.measures.toTop(index);
    if (top > end) elements.push(<Spacer key={`space-${index}`} height={top - end} />);
    elements.push(renderRow(props, list, index));
    end = top + list.measures.toHeight(index);
  }
  const rest = list.measures.toTop(rows.length) - end;
  return (
    <div class="scroller" ref={scroller} onScroll={list.onScroll}>
      <div
        class="feed"
        role="feed"
        aria-label={name}
        aria-busy={isBusy}
        onKeyDown={list.onKeyDown}
        onFocusIn={list.onFocusIn}
        onFocusOut={list.onFocusOut}
      >
        {elements}
        {rest > 0 ? <Spacer key="space-end" height={rest} /> : undefined}
      </div>
    </div>
  );
}

function Spacer({ height }: { readonly height: number }) {
  return <div class="spacer" aria-hidden="true" style={{ height: `${height}px` }} />;
}

function renderRow<Row extends KeyedRow>(
  { rows, render, label }: VirtualListProps<Row>,
  list: ListController<Row>,
  index: number,
): VNode {
  const row = rows[index]!;
  const isReachable = list.focusedKey === undefined ? index === rows.length - 1 : row.key === list.focusedKey;
  return (
    <div
      key={row.key}
      class="row"
      role="article"
      data-key={row.key}
      aria-label={label(row)}
      aria-posinset={index + 1}
      aria-setsize={rows.length}
      tabIndex={isReachable ? 0 : -1}
      ref={list.observe}
    >
      {render(row)}
    </div>
  );
}
