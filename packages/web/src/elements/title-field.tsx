import { useLayoutEffect, useRef } from "preact/hooks";
import { useMessages } from "../messages/use-messages.ts";

interface TitleFieldProps {
  readonly title: string;
  readonly style: string;
  /** Called at the end, with undefined if the title stays unchanged. */
  readonly onEnd: (title: string | undefined) => void;
}

/** A field for a title. Enter accepts the new title, Escape and an empty field restore the old one. */
export function TitleField({ title, style, onEnd }: TitleFieldProps) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  // Select before the next paint, so that the first key after the click on "rename" replaces the title.
  useLayoutEffect(() => field.current?.select(), []);
  return (
    <input
      ref={field}
      class={style}
      dir="auto"
      maxLength={200}
      aria-label={messages.conversationTitle}
      defaultValue={title}
      onBlur={({ currentTarget: { value } }) => {
        const written = value.trim();
        onEnd(written === "" || written === title ? undefined : written);
      }}
      onKeyDown={(event) => {
        const { key, isComposing, currentTarget } = event;
        if (key !== "Escape" && (key !== "Enter" || isComposing)) return;
        // Otherwise the drawer, or the element that gets the focus next, would react to the key.
        event.preventDefault();
        if (key === "Escape") currentTarget.value = "";
        currentTarget.blur();
      }}
    />
  );
}
