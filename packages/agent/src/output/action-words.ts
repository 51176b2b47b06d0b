/** The words of the `text` format, by language (C11). */
import type { ToolResult } from "@sheaf/protocol";
import { editedWords } from "../tools/edit-file.ts";
import { describeTool } from "../tools/registry.ts";
import { locales, type Locale } from "../tools/tool-traits.ts";

type Words = Readonly<Record<"tool" | "failed" | "refused" | "cancelled", string>>;

const words: Readonly<Record<Locale, Words>> = {
  en: { tool: "Called tool", failed: "failed", refused: "refused", cancelled: "cancelled" },
  de: { tool: "Werkzeug aufgerufen", failed: "fehlgeschlagen", refused: "abgelehnt", cancelled: "abgebrochen" },
  tr: { tool: "Araç çağrıldı", failed: "başarısız", refused: "reddedildi", cancelled: "iptal edildi" },
  ja: { tool: "ツールを呼び出しました", failed: "失敗", refused: "拒否", cancelled: "キャンセル" },
  "zh-TW": { tool: "已呼叫工具", failed: "失敗", refused: "遭拒絕", cancelled: "已取消" },
};

/** Returns the locale of a value such as `de_DE.UTF-8`, `zh-Hant` or `tr`; English for any other (C11). */
export function toLocale(value: string): Locale {
  const [language = "", region = ""] = value.toLowerCase().split(/[.@]/, 1)[0]!.split(/[-_]/);
  if (language === "zh") return ["tw", "hk", "mo", "hant"].includes(region) ? "zh-TW" : "en";
  return language === "de" || language === "tr" || language === "ja" ? language : "en";
}

/** Returns one action line (C11): `Read file`, and after a colon the failure of a call that did not succeed. */
export function formatAction(toolName: string, result: ToolResult, locale: Locale): string {
  const set = words[locale];
  const { effect } = result;
  const isEdit = effect?.kind === "file_edit" && effect.changes[0]?.operation === "edit";
  const own = isEdit ? editedWords : describeTool(toolName)?.words;
  const named = effect?.kind === "agent" || effect?.kind === "skill" ? ` ${effect.name}` : "";
  const word = own ? `${own[locales.indexOf(locale)]}${named}` : `${set.tool} ${toolName}`;
  switch (result.status) {
    case "success":
      return word;
    case "error":
      return `${word}: ${set.failed} (${result.error?.message ?? ""})`;
    case "rejected":
      return `${word}: ${set.refused} (${result.error?.message ?? ""})`;
    case "cancelled":
      return `${word}: ${set.cancelled}`;
  }
}
