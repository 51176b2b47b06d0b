import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { english, type Messages } from "./messages.ts";

export const MessageContext = createContext<Messages>(english);

export function useMessages(): Messages {
  return useContext(MessageContext);
}

/** The language of the texts, as browsers name it (BCP 47, for instance `zh-TW`). */
export function useLanguage(): string {
  return useMessages().locale;
}
