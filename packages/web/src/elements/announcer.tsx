import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useState } from "preact/hooks";

const Announce = createContext<(text: string) => void>(() => undefined);

/** Announces changes of state to screen readers, never the streaming answer. */
export function useAnnounce(): (text: string) => void {
  return useContext(Announce);
}

/** Contains the page's only live region. */
export function Announcer({ children }: { readonly children: ComponentChildren }) {
  const [{ text, count }, setState] = useState({ text: "", count: 0 });
  const announce = useCallback((next: string) => setState((before) => ({ text: next, count: before.count + 1 })), []);
  return (
    <Announce.Provider value={announce}>
      {children}
      <div class="unseen" role="status" aria-live="polite">
        {/* A key per announcement: the same words twice are read twice. */}
        <p key={count}>{text}</p>
      </div>
    </Announce.Provider>
  );
}
