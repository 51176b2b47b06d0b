import { useState } from "preact/hooks";
import { Button } from "../elements/button.tsx";
import { useMessages } from "../messages/use-messages.ts";

interface LineCommentProps {
  readonly line: number;
  /** Puts the comment into the message. */
  readonly onComment: (text: string) => void;
}

/** A comment on a line, which becomes a part of the next message. */
export function LineComment({ line, onComment }: LineCommentProps) {
  const messages = useMessages();
  const [text, setText] = useState("");
  const [isTaken, setTaken] = useState(false);
  if (isTaken) return <p>{messages.comment.taken}</p>;
  return (
    <form
      class="line-comment"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === "") return;
        onComment(text.trim());
        setTaken(true);
      }}
    >
      <input
        type="text"
        class="text-field"
        aria-label={messages.commentOnLine({ line })}
        placeholder={messages.commentOnLine({ line })}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Button kind="quiet" type="submit" label={messages.comment.take} disabled={text.trim() === ""} />
    </form>
  );
}
