import { useLayoutEffect, useRef } from "preact/hooks";
import { focusComposer } from "../composer/focus-composer.ts";
import { useStore } from "../elements/use-store.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { Deletions, PendingDeletion } from "./deletions.ts";

/** A list of recent deletions, each with an undo. */
export function DeletionToasts({ deletions }: { readonly deletions: Deletions }) {
  const messages = useMessages();
  const pending = useStore(deletions).filter(({ isSent }) => isSent !== true);
  if (pending.length === 0) return undefined;
  return (
    <section class="toasts" aria-label={messages.deletions}>
      {pending.map((deletion) => (
        <Toast key={deletion.id} deletion={deletion} deletions={deletions} />
      ))}
    </section>
  );
}

function Toast({ deletion: { id, title }, deletions }: { deletion: PendingDeletion; deletions: Deletions }) {
  const messages = useMessages();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    // The focused row is gone, so the undo button gets the focus.
    button.current?.focus();
    const { current } = button;
    return () => {
      if (current === document.activeElement) focusComposer();
    };
  }, []);
  return (
    <div
      class="toast"
      onPointerEnter={() => deletions.hold(id)}
      onPointerLeave={() => deletions.release(id)}
      onFocusIn={({ target }) => {
        if (target instanceof Element && target.matches(":focus-visible")) deletions.hold(id);
      }}
      onFocusOut={() => deletions.release(id)}
    >
      <VisibleText as="span" class="toast-text" dir="auto" text={messages.deletedTitle({ title })} />
      <button type="button" class="plain-button" ref={button} onClick={() => deletions.undo(id)}>
        {messages.undoDeletion}
      </button>
    </div>
  );
}
