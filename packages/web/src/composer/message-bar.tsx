import { Button } from "../elements/button.tsx";
import { VisibleText } from "../elements/visible-text.tsx";

interface MessageBarProps {
  readonly label: string;
  readonly text: string;
  readonly removeLabel: string;
  readonly onRemove: () => void;
}

/** A message above the field: one that is sent after the answer, or one that is being edited. */
export function MessageBar({ label, text, removeLabel, onRemove }: MessageBarProps) {
  return (
    <div class="queued" role="status">
      <span class="queued-label">{label}</span>
      <VisibleText as="span" class="queued-text" text={text} />
      <Button icon="close" label={removeLabel} onClick={onRemove} />
    </div>
  );
}
