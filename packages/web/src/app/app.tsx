import { createClient } from "@sheaf/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Highlighter } from "../code/highlighter.ts";
import { HighlighterCache } from "../code/use-highlight.ts";
import { Announcer } from "../elements/announcer.tsx";
import { ConfirmProvider } from "../elements/confirm.tsx";
import { readSettings, type Settings, SettingsContext, writeSettings } from "../elements/settings.tsx";
import { english } from "../messages/english.ts";
import { chooseLanguage } from "../messages/languages.ts";
import { loadMessages } from "../messages/load-messages.ts";
import { MessageContext, type MessageScope } from "../messages/use-messages.ts";
import { createSessionPort, takeTicket } from "../session/session.ts";
import { SignIn } from "../session/sign-in.tsx";
import { Workplace } from "./workplace.tsx";

/** Whether somebody is signed in: not known yet, nobody, or a user with a session. */
type SessionState = "unknown" | "out" | "badTicket" | "in";

/** The whole page. */
export function App() {
  const [settings, setSettings] = useState(() => readSettings(findStorage()));
  const scope = useMessageScope(settings.language);
  const [session] = useState(createSessionPort);
  const [highlighters] = useState(() => new Map<string, Promise<Highlighter | undefined>>());
  const [client] = useState(() => createClient({ baseUrl: "" }));
  const [state, setState] = useState<SessionState>("unknown");
  useTheme(settings.theme);
  useEffect(() => {
    const ticket = takeTicket();
    if (ticket === undefined) setState("in");
    else void session.openWithTicket(ticket).then((isOpen) => setState(isOpen ? "in" : "badTicket"));
  }, [session]);
  const port = useMemo(
    () => ({
      settings,
      change: (change: Partial<Settings>) => {
        const next = { ...settings, ...change };
        writeSettings(findStorage(), next);
        setSettings(next);
      },
    }),
    [settings],
  );
  if (state === "unknown" || scope === undefined) return undefined;
  return (
    <MessageContext.Provider value={scope}>
      <SettingsContext.Provider value={port}>
        <HighlighterCache.Provider value={highlighters}>
          <Announcer>
            <ConfirmProvider>
              {state === "in" ? (
                <Workplace client={client} session={session} onSignedOut={() => setState("out")} />
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

/** Texts in the chosen language; undefined until they have loaded. */
function useMessageScope(chosen: string): MessageScope | undefined {
  const language = chooseLanguage(chosen, navigator.languages);
  const [scope, setScope] = useState<MessageScope | undefined>(
    language === "en" ? { messages: english, language } : undefined,
  );
  useEffect(() => {
    document.documentElement.lang = language;
    let isWanted = true;
    const load = async (): Promise<void> => {
      const messages = await loadMessages(language);
      if (isWanted) setScope({ messages, language });
    };
    void load();
    return () => {
      isWanted = false;
    };
  }, [language]);
  return scope;
}

function useTheme(theme: Settings["theme"]): void {
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  }, [theme]);
}

/** Throws if the browser forbids it. */
function findStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
