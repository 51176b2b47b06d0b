import type { WorkspaceFileList } from "@sheaf/client";
import type { RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useAnnounce } from "../elements/announcer.tsx";
import { Icon } from "../elements/icon.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { findMention, type OpenMention, toMention } from "./mention.ts";

/** Files of the workspace by some letters of their paths. */
export type FindFiles = (query: string, signal: AbortSignal) => Promise<WorkspaceFileList>;

/** What is offered for a mention. */
interface Offer extends OpenMention {
  readonly paths: readonly string[];
  readonly chosen: number;
}

/** Offers files while a mention is being typed: arrows choose, Enter and Tab take, Escape closes. */
export function useMentions(
  field: RefObject<HTMLTextAreaElement | null>,
  findFiles: FindFiles,
  onChange: (text: string) => void,
) {
  const messages = useMessages();
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
    const mention = findMention(value, selectionStart);
    asking.current?.abort();
    if (!mention) return setOffer(undefined);
    const asked = (asking.current = new AbortController());
    // Without an answer the path can still be typed.
    const found = await findFiles(mention.query, asked.signal).catch(() => undefined);
    if (asked.signal.aborted) return;
    const paths = found?.files.map(({ path }) => path) ?? [];
    if (paths.length > 0 && offer?.start !== mention.start) announce(messages.filesOffered(paths.length));
    setOffer(paths.length === 0 ? undefined : { ...mention, paths, chosen: 0 });
  };
  const take = (path: string): void => {
    const { current } = field;
    if (!current || !offer) return;
    const end = current.selectionStart;
    const hasBlank = current.value[end] === " ";
    current.setRangeText(toMention(path), offer.start, hasBlank ? end + 1 : end, "end");
    onChange(current.value);
    close();
    current.focus();
  };
  /** Whether the key was for the offer. */
  const press = ({ key, shiftKey, isComposing }: KeyboardEvent): boolean => {
    if (!offer || isComposing || shiftKey) return false;
    const { paths, chosen } = offer;
    const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setOffer({ ...offer, chosen: (chosen + step + paths.length) % paths.length });
    else if (key === "Enter" || key === "Tab") take(paths[chosen]!);
    else if (key === "Escape") close();
    else return false;
    return true;
  };
  /** Begins a mention at the caret. */
  const begin = (): void => {
    const { current } = field;
    if (!current) return;
    const before = current.value.slice(0, current.selectionStart);
    const mark = before === "" || /\s$/.test(before) ? "@" : " @";
    current.setRangeText(mark, current.selectionStart, current.selectionEnd, "end");
    onChange(current.value);
    current.focus();
    void look();
  };
  return {
    look: () => void look(),
    press,
    close,
    begin,
    /** For the field. */
    attributes: {
      "aria-autocomplete": "list",
      "aria-controls": offer && id,
      "aria-activedescendant": offer && `${id}-${offer.chosen}`,
    } as const,
    list: offer && <MentionList id={id} offer={offer} label={messages.files} onTake={take} />,
  };
}

interface MentionListProps {
  readonly id: string;
  readonly offer: Offer;
  readonly label: string;
  readonly onTake: (path: string) => void;
}

function MentionList({ id, offer: { paths, chosen }, label, onTake }: MentionListProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  return (
    <ul class="mentions" id={id} role="listbox" aria-label={label} ref={list}>
      {paths.map((path, index) => (
        <li
          key={path}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          // The field keeps the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(path);
          }}
        >
          <Icon name="file" /> <VisibleText text={path} />
        </li>
      ))}
    </ul>
  );
}
