import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { english, type Messages } from "./messages.ts";

export const MessageContext = createContext<Messages>(english);

export function useMessages(): Messages {
  return useContext(MessageContext);
}

/** Returns the language of the texts as a tag for browsers (BCP 47), for instance `zh-TW`. */
export function useLanguage(): string {
  return useMessages().locale;
}
