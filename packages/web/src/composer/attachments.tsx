import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../elements/icon.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";

interface AttachmentProps {
  readonly paths: readonly string[];
  readonly onChange: (paths: readonly string[]) => void;
}

/** Files that the message mentions. */
export function AttachmentList({ paths, onChange }: AttachmentProps) {
  const messages = useMessages();
  if (paths.length === 0) return undefined;
  return (
    <ul class="attachments" aria-label={messages.attachments}>
      {paths.map((path) => (
        <li key={path} class="attachment">
          <Icon name="file" />
          <VisibleText text={path} />
          <button
            type="button"
            class="tool-button"
            aria-label={messages.removeAttachment(path)}
            onClick={() => onChange(paths.filter((other) => other !== path))}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A button that turns into a field for a path. */
export function AttachmentField({ paths, onChange }: AttachmentProps) {
  const messages = useMessages();
  const [isShown, setShown] = useState(false);
  const [path, setPath] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  // Before drawing, so that characters typed right after the click go into the field.
  useLayoutEffect(() => {
    if (isShown) field.current?.focus();
  }, [isShown]);
  const close = (): void => {
    setPath("");
    setShown(false);
    button.current?.focus();
  };
  const add = (): void => {
    const trimmed = path.trim().replace(/^@/, "");
    if (trimmed !== "" && !paths.includes(trimmed)) onChange([...paths, trimmed]);
    close();
  };
  return (
    <div class="attach">
      <button
        type="button"
        class="tool-button"
        ref={button}
        aria-label={messages.attach}
        title={messages.attach}
        aria-expanded={isShown}
        onClick={() => setShown(!isShown)}
      >
        <Icon name="clip" />
      </button>
      {isShown ? (
        <div class="attach-field">
          <input
            type="text"
            class="text-field"
            ref={field}
            aria-label={messages.attachLabel}
            placeholder="src/main.py"
            value={path}
            onInput={(event) => setPath(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== "Escape") return;
              event.preventDefault();
              event.stopPropagation();
              if (event.key === "Enter") add();
              else close();
            }}
          />
          <button type="button" class="quiet-button" onClick={add}>
            {messages.attachAdd}
          </button>
        </div>
      ) : undefined}
    </div>
  );
}
