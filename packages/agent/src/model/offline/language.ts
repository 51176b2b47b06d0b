/** Languages that the offline model understands and answers in. */
export type Language = "en" | "de" | "tr" | "ja" | "zh-TW";
