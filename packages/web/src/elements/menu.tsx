import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";
import { listen } from "./listen.ts";

interface MenuProps {
  readonly icon: IconName;
  readonly label: string;
  readonly children: ComponentChildren;
}

/** A button that shows more buttons. Arrow keys move between them, Escape closes. */
export function Menu({ icon, label, children }: MenuProps) {
  const [isShown, setShown] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const listId = useId();
  useLayoutEffect(() => {
    if (!isShown) return undefined;
    const items = (): HTMLElement[] => [...(frame.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    items()[0]?.focus();
    const closeOutside = (event: Event): void => {
      if (!(event.target instanceof Node) || !frame.current?.contains(event.target)) setShown(false);
    };
    const move = (event: KeyboardEvent): void => {
      const all = items();
      const index = all.indexOf(document.activeElement as HTMLElement);
      if (event.key === "Escape") {
        setShown(false);
        button.current?.focus();
      } else if (event.key === "ArrowDown") all[(index + 1) % all.length]?.focus();
      else if (event.key === "ArrowUp") all.at(index - 1)?.focus();
      else return;
      event.preventDefault();
    };
    const stops = [
      listen(document, ["pointerdown", "focusin"], closeOutside),
      listen(frame.current!, ["keydown"], move),
    ];
    return () => stops.forEach((stop) => stop());
  }, [isShown]);
  return (
    <div class="menu" ref={frame}>
      <button
        type="button"
        class="tool-button"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={isShown}
        aria-controls={listId}
        aria-label={label}
        title={label}
        onClick={() => setShown(!isShown)}
      >
        <Icon name={icon} />
      </button>
      <div
        class="menu-list"
        id={listId}
        role="menu"
        aria-label={label}
        hidden={!isShown}
        // The chosen item is hidden now, so the button gets the focus. A dialog of the item returns it there.
        onClickCapture={() => button.current?.focus()}
        onClick={() => setShown(false)}
      >
        {children}
      </div>
    </div>
  );
}

interface MenuItemProps {
  readonly icon: IconName;
  readonly children: ComponentChildren;
  readonly onSelect: () => void;
  readonly isDangerous?: boolean;
}

export function MenuItem({ icon, children, onSelect, isDangerous = false }: MenuItemProps) {
  return (
    <button type="button" role="menuitem" class={isDangerous ? "menu-item dangerous" : "menu-item"} onClick={onSelect}>
      <Icon name={icon} />
      {children}
    </button>
  );
}
