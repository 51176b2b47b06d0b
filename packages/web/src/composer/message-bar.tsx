import type { ComponentChildren } from "preact";
import { VisibleText } from "../elements/visible-text.tsx";

interface MessageBarProps {
  readonly label: string;
  readonly text: string;
  /** Buttons of the bar. */
  readonly children: ComponentChildren;
}

/** A message above the field that waits, or that the user edits. */
export function MessageBar({ label, text, children }: MessageBarProps) {
  return (
    <div class="queued" role="status">
      <span class="queued-label">{label}</span>
      <VisibleText as="span" class="queued-text" text={text} />
      {children}
    </div>
  );
}
