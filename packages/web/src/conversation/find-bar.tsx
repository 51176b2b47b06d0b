import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../elements/button.tsx";
import type { VirtualListHandle } from "../list/use-virtual-list.ts";
import { useMessages } from "../messages/use-messages.ts";
import { createRowFinder, findPlaces, toFindPattern } from "./find-text.ts";
import type { Row } from "./rows.ts";

interface FindBarProps {
  readonly rows: readonly Row[];
  readonly list: RefObject<VirtualListHandle | null>;
  /** The words to begin with, such as those of a search. */
  readonly sought: string;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly onFind: (row: Row | undefined) => void;
  readonly onClose: () => void;
}

/** Milliseconds without typing after which the page moves. */
const typingPause = 150;
/** Frames in which a row may still change before its places are taken as they are. */
const mostFrames = 90;

/** Finds words in the whole conversation: also in rows that are not drawn, and in what is folded. */
export function FindBar({ rows, list, sought, field, onFind, onClose }: FindBarProps) {
  const messages = useMessages();
  const [query, setQuery] = useState(sought);
  const [findRows] = useState(createRowFinder);
  const found = useMemo(() => findRows(rows, query), [findRows, rows, query]);
  const [current, setCurrent] = useState<string>();
  const place = useRef({ index: 0, frame: 0 }).current;
  const position = found.findIndex(({ key }) => key === current);
  const listPlaces = (key: string | undefined): readonly Range[] => {
    const element = document.querySelector(`[data-key="${CSS.escape(key ?? "")}"]`);
    const pattern = toFindPattern(query);
    return element && pattern ? findPlaces(element, pattern) : [];
  };
  /** Shows a place of a row, once all of the row is drawn; -1: the last one. */
  const show = (row: Row, index: number): void => {
    cancelAnimationFrame(place.frame);
    setCurrent(row.key);
    onFind(row);
    if (row.key !== current) list.current?.reveal(row.key);
    let [frames, known] = [0, 0];
    const look = (): void => {
      const places = listPlaces(row.key);
      const isSettled = places.length > 0 && places.length === known;
      [frames, known] = [frames + 1, places.length];
      if (!isSettled && frames < mostFrames) place.frame = requestAnimationFrame(look);
      else {
        place.index = index < 0 ? places.length - 1 : index;
        markPlaces(places, places[place.index]);
      }
    };
    place.frame = requestAnimationFrame(look);
  };
  const go = (step: 1 | -1): void => {
    const next = place.index + step;
    const row = found[position];
    if (row && listPlaces(row.key)[next]) return show(row, next);
    const other = found.at((position + step) % found.length);
    if (other) show(other, step > 0 ? 0 : -1);
  };
  useEffect(() => setQuery(sought), [sought]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const row = found[position] ?? found[0];
      if (row) show(row, 0);
      else markPlaces([], undefined);
    }, typingPause);
    return () => clearTimeout(timer);
  }, [query]);
  useEffect(
    () => () => {
      cancelAnimationFrame(place.frame);
      markPlaces([], undefined);
      list.current?.reveal(undefined);
    },
    [list, place],
  );
  return (
    <search class="find-bar">
      <input
        type="search"
        class="text-field"
        ref={field}
        aria-label={messages.find.here}
        placeholder={messages.find.here}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          else if (event.key === "Enter" && !event.isComposing) go(event.shiftKey ? -1 : 1);
          else return;
          event.preventDefault();
        }}
      />
      <span class="find-count" role="status">
        {query.trim() === "" ? "" : messages.foundRows({ row: position + 1, rows: found.length })}
      </span>
      <Button icon="send" label={messages.find.previous} onClick={() => go(-1)} />
      <Button icon="arrowDown" label={messages.find.next} onClick={() => go(1)} />
      <Button icon="close" label={messages.close} onClick={onClose} />
    </search>
  );
}

/** Marks places without changing what is drawn, and shows one of them. Old browsers show it without a mark. */
function markPlaces(places: readonly Range[], here: Range | undefined): void {
  CSS.highlights?.set("found", new Highlight(...places));
  CSS.highlights?.set("found-here", new Highlight(...(here ? [here] : [])));
  const element = here?.startContainer.parentElement;
  const scroller = element?.closest(".scroller");
  if (!here || !element || !scroller) return;
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const frame = scroller.getBoundingClientRect();
  const { top, bottom } = here.getBoundingClientRect();
  if (top < frame.top + 48 || bottom > frame.bottom - 48) scroller.scrollTop += top - frame.top - frame.height / 3;
}
