import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { english, type Messages } from "./english.ts";

/** The page's texts, and the language as browsers name it. */
export interface MessageScope {
  readonly messages: Messages;
  /** BCP 47, for instance `zh-TW`. */
  readonly language: string;
}

export const MessageContext = createContext<MessageScope>({ messages: english, language: "en" });

export function useMessages(): Messages {
  return useContext(MessageContext).messages;
}

export function useLanguage(): string {
  return useContext(MessageContext).language;
}
