/** Loads the texts of a language; English is always loaded. */
import type { LanguageCode } from "./languages.ts";
import { createMessages, english, type LanguageFile, type Messages } from "./messages.ts";

const loaders: Readonly<Record<Exclude<LanguageCode, "en">, () => Promise<{ readonly default: LanguageFile }>>> = {
  de: () => import("./de.json", { with: { type: "json" } }),
  ja: () => import("./ja.json", { with: { type: "json" } }),
  tr: () => import("./tr.json", { with: { type: "json" } }),
  "zh-TW": () => import("./zh-tw.json", { with: { type: "json" } }),
};

/** Loads a language's texts; returns the English ones if the file fails to load. */
export async function loadMessages(language: LanguageCode): Promise<Messages> {
  if (language === "en") return english;
  try {
    return createMessages((await loaders[language]()).default);
  } catch {
    return english;
  }
}
