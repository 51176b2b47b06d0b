import type { RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useAnnounce } from "../elements/announcer.tsx";
import { Icon } from "../elements/icon.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import type { CompletionSource, OpenWord, Suggestion } from "./completion-sources.ts";

/** The visible suggestions for a word. */
interface Offer extends OpenWord {
  readonly source: CompletionSource;
  readonly suggestions: readonly Suggestion[];
  readonly chosen: number;
}

/** Suggests completions while the user types a word: arrows choose, Enter and Tab accept, Escape closes. */
export function useCompletion(
  field: RefObject<HTMLTextAreaElement | null>,
  sources: readonly CompletionSource[],
  onChange: (text: string) => void,
) {
  const announce = useAnnounce();
  const id = useId();
  const [offer, setOffer] = useState<Offer>();
  const asking = useRef<AbortController>(undefined);
  const close = (): void => {
    asking.current?.abort();
    setOffer(undefined);
  };
  useEffect(() => () => asking.current?.abort(), []);
  const look = async (): Promise<void> => {
    const { value = "", selectionStart = 0 } = field.current ?? {};
    asking.current?.abort();
    const found = sources
      .map((source) => ({ source, word: source.find(value, selectionStart) }))
      .find(({ word }) => word !== undefined);
    if (found?.word === undefined) return setOffer(undefined);
    const { source, word } = found;
    const asked = (asking.current = new AbortController());
    // If the server fails, the user can still type the word.
    const suggestions = await source.load(word.query, asked.signal).catch(() => []);
    if (asked.signal.aborted) return;
    const isNew = offer?.start !== word.start || offer.source.label !== source.label;
    if (suggestions.length > 0 && isNew) announce(source.sayNumber(suggestions.length));
    setOffer(suggestions.length === 0 ? undefined : { ...word, source, suggestions, chosen: 0 });
  };
  const take = ({ text }: Suggestion): void => {
    const { current } = field;
    if (!current || !offer) return;
    const end = current.selectionStart;
    const hasBlank = current.value[end] === " ";
    current.setRangeText(text, offer.start, hasBlank ? end + 1 : end, "end");
    onChange(current.value);
    close();
    current.focus();
  };
  /** Handles a key; returns true if the key was for the suggestions. */
  const press = ({ key, shiftKey, isComposing }: KeyboardEvent): boolean => {
    if (!offer || isComposing || shiftKey) return false;
    const { suggestions, chosen, source } = offer;
    const { value = "", selectionStart = 0 } = field.current ?? {};
    const query = source.find(value, selectionStart)?.query ?? offer.query;
    const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setOffer({ ...offer, chosen: (chosen + step + suggestions.length) % suggestions.length });
    else if (key === "Enter" && suggestions.some((suggestion) => source.isWhole(query, suggestion))) {
      // The word is complete: Enter sends the message.
      close();
      return false;
    } else if (key === "Enter" || key === "Tab") {
      // The user typed faster than the server answers: these suggestions were for a shorter word. The next Enter sends.
      if (query === offer.query) take(suggestions[chosen]!);
      else if (key === "Enter") close();
    } else if (key === "Escape") close();
    else return false;
    return true;
  };
  return {
    look: () => void look(),
    press,
    close,
    /** Attributes of the message field. */
    attributes: {
      "aria-autocomplete": "list",
      "aria-controls": offer && id,
      "aria-activedescendant": offer && `${id}-${offer.chosen}`,
    } as const,
    list: offer && <SuggestionList id={id} offer={offer} onTake={take} />,
  };
}

interface SuggestionListProps {
  readonly id: string;
  readonly offer: Offer;
  readonly onTake: (suggestion: Suggestion) => void;
}

function SuggestionList({ id, offer: { source, suggestions, chosen }, onTake }: SuggestionListProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  return (
    <ul class="suggestions" id={id} role="listbox" aria-label={source.label} ref={list}>
      {suggestions.map((suggestion, index) => (
        <li
          key={suggestion.name}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          // The field keeps the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(suggestion);
          }}
        >
          <Icon name={suggestion.icon} /> <SuggestionText suggestion={suggestion} />
        </li>
      ))}
    </ul>
  );
}

function SuggestionText({ suggestion: { name, hint, description } }: { readonly suggestion: Suggestion }) {
  if (hint === "" && description === "") return <VisibleText text={name} />;
  return (
    <span class="suggestion">
      <span>
        <VisibleText text={name} />
        {hint === "" ? undefined : (
          <span class="suggestion-hint">
            {" "}
            <VisibleText text={hint} />
          </span>
        )}
      </span>{" "}
      <VisibleText as="span" class="suggestion-text" dir="auto" text={description} />
    </span>
  );
}
