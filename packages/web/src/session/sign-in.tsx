import { useEffect, useId, useRef, useState } from "preact/hooks";
import { CodedText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { SessionPort } from "./session.ts";

interface SignInProps {
  readonly session: SessionPort;
  /** True if the address had an invalid ticket. */
  readonly hasBadTicket: boolean;
  readonly onSignedIn: () => void;
}

export function SignIn({ session, hasBadTicket, onSignedIn }: SignInProps) {
  const messages = useMessages();
  const noteId = useId();
  const [token, setToken] = useState("");
  const [failure, setFailure] = useState(hasBadTicket ? messages.ticketFailed : "");
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const signIn = async (): Promise<void> => {
    setBusy(true);
    setFailure("");
    try {
      if (await session.openWithToken(token.trim())) return onSignedIn();
      setFailure(messages.signInFailed);
    } catch {
      setFailure(messages.unreachable);
    } finally {
      setBusy(false);
      setToken("");
    }
  };
  return (
    <main class="sign-in">
      <form
        class="sign-in-card"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn();
        }}
      >
        <img src="/icon.svg" alt="" width="40" height="40" />
        <h1>{messages.signInTitle}</h1>
        <p>
          <CodedText text={messages.signInText} />
        </p>
        <label class="sign-in-label">
          {messages.token}
          <input
            ref={field}
            type="password"
            class="text-field"
            autocomplete="off"
            aria-describedby={noteId}
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        {failure === "" ? undefined : (
          <p class="sign-in-failure" role="alert">
            <CodedText text={failure} />
          </p>
        )}
        <button type="submit" class="primary-button" disabled={isBusy || token.trim() === ""}>
          {messages.signIn}
        </button>
        <p class="sign-in-note" id={noteId}>
          {messages.tokenNote}
        </p>
      </form>
    </main>
  );
}
