/** Focuses the message field, the default place of the focus. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>(".composer-field")?.focus();
}

/**
 * Keeps the focus in the page when the focused button leaves it or is disabled: it moves to the button's article, to
 * its dialog, or to the message field. Otherwise the next Tab would start at the top of the page. Applies to the
 * keyboard alone: after a touch, the phone would open its keyboard.
 */
export function keepFocus(): void {
  let usesKeys = false;
  let button: Element | null = null;
  let article: HTMLElement | null | undefined;
  let dialog: Element | null | undefined;
  const follow = ({ type, detail, target }: UIEvent): void => {
    // The screen reader's click has no pointer either.
    if (type !== "focusin") usesKeys = detail === 0;
    button = target instanceof Element ? target.closest("button") : null;
    article = button?.closest<HTMLElement>("[role=article]");
    dialog = button?.closest("dialog");
  };
  for (const name of ["focusin", "keydown", "click"] as const) document.addEventListener(name, follow, true);
  new MutationObserver(() => {
    const { activeElement } = document;
    if (!usesKeys || !button || (button.isConnected && !button.matches(":disabled"))) return;
    if (activeElement !== document.body && activeElement !== button) return;
    if (article?.isConnected) article.focus({ preventScroll: true });
    else if (dialog?.isConnected) dialog.querySelector<HTMLElement>("button:enabled")?.focus({ preventScroll: true });
    else focusComposer();
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
}
