import type { VNode } from "preact";
import { Kept } from "./kept.tsx";
import { renderWindow } from "./render-window.tsx";
import { SightContext } from "./sight.ts";
import { type ListController, type ListRow, useVirtualList, type VirtualListOptions } from "./use-virtual-list.ts";

interface VirtualListProps<Row extends ListRow> extends VirtualListOptions<Row> {
  readonly render: (row: Row) => VNode;
  /** Label of a row, for screen readers. */
  readonly label: (row: Row) => string;
  readonly name: string;
  readonly isBusy: boolean;
}

/**
 * A long list in which only the visible rows are elements. It stays at its end while it grows, unless the user
 * scrolled up; then the visible rows stay where they are. The row with the focus is never removed.
 */
export function VirtualList<Row extends ListRow>(props: VirtualListProps<Row>) {
  const { rows, name, isBusy, label, render } = props;
  const { list, indices, scroller } = useVirtualList(props);
  const count = rows.length;
  return (
    <div class="scroller" ref={scroller} onScrollCapture={list.onScroll}>
      <div
        class="feed"
        role="feed"
        aria-label={name}
        aria-busy={isBusy}
        onKeyDown={list.onKeyDown}
        onFocusIn={list.onFocusIn}
        onFocusOut={list.onFocusOut}
      >
        <SightContext.Provider value={list}>
          {renderWindow({ measures: list.measures, indices, count }, (index) => {
            const row = rows[index]!;
            return renderRow({ row, index, count, list, label: label(row) }, <Kept item={row} render={render} />);
          })}
        </SightContext.Provider>
      </div>
    </div>
  );
}

interface DrawnRow<Row extends ListRow> {
  readonly row: Row;
  readonly index: number;
  readonly count: number;
  readonly list: ListController<Row>;
  readonly label: string;
}

function renderRow<Row extends ListRow>({ row, index, count, list, label }: DrawnRow<Row>, content: VNode): VNode {
  const isReachable = list.focusedKey === undefined ? index === count - 1 : row.key === list.focusedKey;
  return (
    <div
      key={row.key}
      class="row"
      role="article"
      data-key={row.key}
      aria-label={label}
      aria-posinset={index + 1}
      aria-setsize={count}
      tabIndex={isReachable ? 0 : -1}
      ref={list.observe}
    >
      {content}
    </div>
  );
}
