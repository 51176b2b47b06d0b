/** The page's languages, by their own names. */
export const languageNames = {
  en: "English",
  de: "Deutsch",
  ja: "日本語",
  tr: "Türkçe",
  "zh-TW": "繁體中文",
} as const;

export type LanguageCode = keyof typeof languageNames;

/**
 * Returns the page's language. @param chosen by the user; "" for no choice @param preferred by the browser, in its
 * order
 */
export function chooseLanguage(chosen: string, preferred: readonly string[]): LanguageCode {
  for (const wanted of [chosen, ...preferred]) {
    const found = findLanguage(wanted);
    if (found !== undefined) return found;
  }
  return "en";
}

function findLanguage(wanted: string): LanguageCode | undefined {
  if (isLanguage(wanted)) return wanted;
  const [language = ""] = wanted.toLowerCase().split("-");
  // The page has no other Chinese.
  if (language === "zh") return "zh-TW";
  return isLanguage(language) ? language : undefined;
}

function isLanguage(code: string): code is LanguageCode {
  return Object.hasOwn(languageNames, code);
}
