import { useLayoutEffect, useRef } from "preact/hooks";
import { useMessages } from "../messages/use-messages.ts";

interface TitleFieldProps {
  readonly title: string;
  readonly style: string;
  /** Undefined: it stays as it was. */
  readonly onEnd: (title: string | undefined) => void;
}

/** Enter keeps the title, Escape does not; an empty one is none. */
export function TitleField({ title, style, onEnd }: TitleFieldProps) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  // Before the next paint: what somebody types right after choosing to rename belongs in here.
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
        // Neither for the drawer around it, nor for what has the focus next.
        event.preventDefault();
        if (key === "Escape") currentTarget.value = "";
        currentTarget.blur();
      }}
    />
  );
}
