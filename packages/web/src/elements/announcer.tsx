import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useState } from "preact/hooks";

const Announce = createContext<(text: string) => void>(() => undefined);

/** Tells people who listen what changed: states, never the flow of the answer. */
export function useAnnounce(): (text: string) => void {
  return useContext(Announce);
}

/** Holds the one live region of the page. */
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
