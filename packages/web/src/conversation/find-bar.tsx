import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../elements/button.tsx";
import { listen } from "../elements/listen.ts";
import type { VirtualListHandle } from "../list/use-virtual-list.ts";
import { useMessages } from "../messages/use-messages.ts";
import { createRowFinder, findPlaces, toFindPattern } from "./find-text.ts";
import type { Row } from "./rows.ts";

/** Words that a search found in a conversation. */
export interface Sought {
  readonly id: string;
  readonly text: string;
}

interface FindBarProps {
  readonly rows: readonly Row[];
  readonly list: RefObject<VirtualListHandle | null>;
  readonly sought: Sought | undefined;
  /** Called with the keys of the row with the match, and of its parts. */
  readonly onFind: (keys: readonly string[]) => void;
}

/** Milliseconds without typing after which the page moves. */
const typingPause = 150;
/** Milliseconds between two looks at a row that is drawn piece by piece, and the number of looks. */
const lookPause = 30;
const mostLooks = 200;

/** A bar that finds words in the whole conversation (Ctrl+F). It unfolds and draws all of the row with the match. */
export function FindBar({ rows, list, sought, onFind }: FindBarProps) {
  const messages = useMessages();
  /** The searched words; undefined while the bar is closed. */
  const [query, setQuery] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  const [findRows] = useState(createRowFinder);
  const found = useMemo(() => findRows(rows, query ?? ""), [findRows, rows, query]);
  const [current, setCurrent] = useState<string>();
  const place = useRef<{ index: number; timer?: ReturnType<typeof setTimeout> }>({ index: 0 }).current;
  const position = found.findIndex(({ key }) => key === current);
  const findElement = (key = ""): HTMLElement | null => document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const listPlaces = (key: string): readonly Range[] => {
    const element = findElement(key);
    const pattern = toFindPattern(query ?? "");
    return element && pattern ? findPlaces(element, pattern) : [];
  };
  /** Shows a place of a row, once all of the row is drawn; -1: the last one. */
  const show = (row: Row, index: number): void => {
    clearTimeout(place.timer);
    place.index = index;
    setCurrent(row.key);
    onFind([row, ...("parts" in row ? (row.parts ?? []) : [])].map(({ key }) => key));
    if (row.key !== current) list.current?.reveal(row.key);
    let [looks, known] = [0, 0];
    const look = (): void => {
      const places = listPlaces(row.key);
      const isSettled = places.length > 0 && places.length === known;
      [looks, known] = [looks + 1, places.length];
      if (!isSettled && looks < mostLooks) place.timer = setTimeout(look, lookPause);
      else {
        if (index < 0) place.index = places.length - 1;
        markPlaces(places, places[place.index]);
      }
    };
    place.timer = setTimeout(look, lookPause);
  };
  const go = (step: 1 | -1): void => {
    const next = place.index + step;
    const row = found[position];
    if (row && listPlaces(row.key)[next]) return show(row, next);
    const other = found.at((position + step) % found.length);
    if (other) show(other, step > 0 ? 0 : -1);
  };
  const leave = (): void => {
    clearTimeout(place.timer);
    markPlaces([], undefined);
    list.current?.reveal(undefined);
  };
  const close = (): void => {
    leave();
    onFind([]);
    setCurrent(undefined);
    setQuery(undefined);
    findElement(current)?.focus({ preventScroll: true });
  };
  useEffect(() => sought && setQuery(sought.text), [sought]);
  useEffect(() => {
    if (query === undefined) return undefined;
    const timer = setTimeout(() => {
      const row = found[position] ?? found[0];
      if (row) show(row, 0);
      else markPlaces([], undefined);
    }, typingPause);
    return () => clearTimeout(timer);
  }, [query]);
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      // A second Ctrl+F, or one in a dialog, is for the browser's own search.
      if (document.activeElement === field.current || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      setQuery((before) => before ?? "");
      setTimeout(() => field.current?.select());
    };
    const stop = listen(document, ["keydown"], open);
    return () => [stop, leave].forEach((end) => end());
  }, []);
  if (query === undefined) return undefined;
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
          if (event.key === "Escape") close();
          else if (event.key === "Enter" && !event.isComposing) go(event.shiftKey ? -1 : 1);
          else return;
          event.preventDefault();
        }}
      />
      <span class="find-count" role="status">
        {query.trim() === "" ? "" : `${position + 1}/${found.length}`}
      </span>
      <Button icon="send" label={messages.find.previous} onClick={() => go(-1)} />
      <Button icon="arrowDown" label={messages.find.next} onClick={() => go(1)} />
      <Button icon="close" label={messages.close} onClick={close} />
    </search>
  );
}

/** Marks places without new elements, and shows one of them. Old browsers show it without a mark. */
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
