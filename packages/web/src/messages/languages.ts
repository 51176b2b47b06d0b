/** The languages of the page, by their own names. */
export const languageNames = {
  en: "English",
  de: "Deutsch",
  ja: "日本語",
  tr: "Türkçe",
  "zh-TW": "繁體中文",
} as const;

export type LanguageCode = keyof typeof languageNames;

/**
 * The language of the page.
 * @param chosen by the person; "" for none
 * @param preferred of the browser, the most wanted first
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
  // The only Chinese that the page has.
  if (language === "zh") return "zh-TW";
  return isLanguage(language) ? language : undefined;
}

function isLanguage(code: string): code is LanguageCode {
  return Object.hasOwn(languageNames, code);
}
