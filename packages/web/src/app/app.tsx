import { createClient } from "@sheaf/client";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Highlighter } from "../code/highlighter.ts";
import { HighlighterCache } from "../code/use-highlight.ts";
import { focusComposer } from "../composer/focus-composer.ts";
import { Announcer } from "../elements/announcer.tsx";
import { ConfirmProvider } from "../elements/confirm.tsx";
import { SettingsContext } from "../elements/settings.tsx";
import type { Settings } from "../elements/stored-settings.ts";
import { useLoaded } from "../elements/use-loaded.ts";
import { chooseLanguage } from "../messages/languages.ts";
import { loadMessages } from "../messages/load-messages.ts";
import { english, type Messages } from "../messages/messages.ts";
import { MessageContext } from "../messages/use-messages.ts";
import { createSessionPort, isSignedOut, takeTicket } from "../session/session.ts";
import { setWriter } from "../session/writer.ts";
import { SignIn } from "../session/sign-in.tsx";
import { findStorage } from "./find-storage.ts";
import { useStoredSettings } from "./use-stored-settings.ts";
import { Workplace } from "./workplace.tsx";

/** State of the sign-in: unknown, signed out, signed out after an invalid ticket, or signed in. */
type SessionState = "unknown" | "out" | "badTicket" | "in";

export function App() {
  const port = useStoredSettings();
  const { settings } = port;
  const messages = useLoadedMessages(settings.language);
  const [session] = useState(() => createSessionPort((secret) => setWriter(findStorage(), secret)));
  const [highlighters] = useState(() => new Map<string, Promise<Highlighter | undefined>>());
  const [client] = useState(() => createClient({ baseUrl: "" }));
  const [state, setState] = useState<SessionState>("unknown");
  // The same function after a change of settings, so that nothing below starts again.
  const [signOut] = useState(() => () => setState("out"));
  useAppearance(settings);
  const wasAsked = useRef(false);
  useEffect(() => {
    // The button that had the focus is gone.
    if (state === "in" && wasAsked.current) focusComposer();
    wasAsked.current = state === "out" || state === "badTicket";
  }, [state]);
  useEffect(() => {
    const ticket = takeTicket();
    if (ticket !== undefined) {
      void session.openWithTicket(ticket).then((isOpen) => setState(isOpen ? "in" : "badTicket"));
      return;
    }
    // The page stays empty until the answer: otherwise a token typed at once would land in the search field.
    const setFromAnswer = (error?: unknown): void => setState(isSignedOut(error) ? "out" : "in");
    void client.listWorkspaces().then(() => setFromAnswer(), setFromAnswer);
  }, [client, session]);
  if (state === "unknown" || messages === undefined) return undefined;
  return (
    <MessageContext.Provider value={messages}>
      <SettingsContext.Provider value={port}>
        <HighlighterCache.Provider value={highlighters}>
          <Announcer>
            <ConfirmProvider>
              {state === "in" ? (
                <Workplace client={client} session={session} onSignedOut={signOut} />
              ) : (
                <SignIn session={session} hasBadTicket={state === "badTicket"} onSignedIn={() => setState("in")} />
              )}
            </ConfirmProvider>
          </Announcer>
        </HighlighterCache.Provider>
      </SettingsContext.Provider>
    </MessageContext.Provider>
  );
}

/** Returns the texts in the chosen language; undefined until they have loaded. */
function useLoadedMessages(chosen: string): Messages | undefined {
  const language = chooseLanguage(chosen, navigator.languages);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return useLoaded(() => loadMessages(language), [language], language === "en" ? english : undefined);
}

/** Repeats the work of `public/appearance.js` before the first paint, after each change. */
function useAppearance({ theme, density }: Settings): void {
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (theme === "system") delete dataset["theme"];
    else dataset["theme"] = theme;
    if (density === "compact") dataset["density"] = density;
    else delete dataset["density"];
  }, [theme, density]);
}
