import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useState } from "preact/hooks";

const Announce = createContext<(text: string) => void>(() => undefined);

/** Returns a function that announces changes of state to screen readers, but never the streaming answer. */
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
        {/* Each announcement has another key, so that screen readers repeat equal words. */}
        <p key={count}>{text}</p>
      </div>
    </Announce.Provider>
  );
}
