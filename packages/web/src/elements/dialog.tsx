import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useMessages } from "../messages/use-messages.ts";
import { Button } from "./button.tsx";

interface DialogProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** Buttons before the last one. */
  readonly others?: ComponentChildren;
  /** The last button, which starts the action; default: a button that closes. */
  readonly action?: ComponentChildren;
  /** Called for Escape and for a click outside the dialog. */
  readonly onClose: () => void;
  /** Shape of the dialog: it fills the page, or stands at its side. */
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
    // A dialog removed while open would lose the focus.
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
