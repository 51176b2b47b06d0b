import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useMessages } from "../messages/use-messages.ts";
import { Button } from "./button.tsx";

interface DialogProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** Buttons before the last one. */
  readonly others?: ComponentChildren;
  /** The last button, which acts. Default: it closes. */
  readonly action?: ComponentChildren;
  /** Called for Escape and for a click outside the dialog. */
  readonly onClose: () => void;
  /** The dialog fills the page, or stands at its side. */
  readonly shape?: "wide" | "wide panel";
}

/** A native dialog: it keeps the focus inside and restores it afterwards. */
export function Dialog({ title, children, others, action, onClose, shape }: DialogProps) {
  const messages = useMessages();
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const { current } = element;
    current?.showModal();
    // An open dialog that is only removed gives the focus to nobody.
    return () => current?.close();
  }, []);
  return (
    <dialog
      class={`dialog ${shape ?? ""}`}
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {children}
        <div class="dialog-buttons">
          {others}
          {action ?? <Button kind="primary" label={messages.close} onClick={onClose} />}
        </div>
      </div>
    </dialog>
  );
}
