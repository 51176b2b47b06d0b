/** Loads the texts of a language; English is always loaded. */
import { english, type Messages } from "./english.ts";
import type { LanguageCode } from "./languages.ts";

const loaders: Readonly<Record<Exclude<LanguageCode, "en">, () => Promise<Messages>>> = {
  de: async () => (await import("./german.ts")).german,
  ja: async () => (await import("./japanese.ts")).japanese,
  tr: async () => (await import("./turkish.ts")).turkish,
  "zh-TW": async () => (await import("./chinese.ts")).chinese,
};

/** Falls back to English if the file cannot be loaded. */
export async function loadMessages(language: LanguageCode): Promise<Messages> {
  if (language === "en") return english;
  try {
    return await loaders[language]();
  } catch {
    return english;
  }
}
