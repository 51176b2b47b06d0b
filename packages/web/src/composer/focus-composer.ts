/** Focuses the message field, the default place of the focus. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>(".composer-field")?.focus();
}

/**
 * Moves the focus to the message field if it is inside an answer that changes under it, such as on a button that goes.
 * Applies to the keyboard alone: after a touch, the phone would open its keyboard.
 */
export function leaveAnswer(): void {
  const { activeElement } = document;
  if (activeElement?.closest("[role=feed]") && activeElement.matches(":focus-visible")) focusComposer();
}
