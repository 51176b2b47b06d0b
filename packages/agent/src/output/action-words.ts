/** The words of the `text` format, by language (C11). */
import type { ToolResult } from "@sheaf/protocol";

/** Languages with their own words. */
export type Locale = "en" | "de" | "tr" | "ja" | "zh-TW";

/** What an action line says. */
type Action =
  | "read"
  | "edited"
  | "created"
  | "deleted"
  | "renamed"
  | "command"
  | "searched"
  | "listed"
  | "todos"
  | "plan"
  | "question"
  | "fetched"
  | "web"
  | "agent"
  | "skill"
  | "tool";

type Words = Readonly<Record<Action | "failed" | "refused" | "cancelled", string>>;

const words: Readonly<Record<Locale, Words>> = {
  en: {
    read: "Read file",
    edited: "Edited file",
    created: "Created new file",
    deleted: "Deleted file",
    renamed: "Renamed file",
    command: "Ran terminal command",
    searched: "Searched files",
    listed: "Listed folder",
    todos: "Updated todo list",
    plan: "Updated plan",
    question: "Asked a question",
    fetched: "Fetched web page",
    web: "Searched the web",
    agent: "Ran subagent",
    skill: "Read skill",
    tool: "Called tool",
    failed: "failed",
    refused: "refused",
    cancelled: "cancelled",
  },
  de: {
    read: "Datei gelesen",
    edited: "Datei bearbeitet",
    created: "Neue Datei erstellt",
    deleted: "Datei gelöscht",
    renamed: "Datei umbenannt",
    command: "Terminal-Befehl ausgeführt",
    searched: "Dateien durchsucht",
    listed: "Ordner aufgelistet",
    todos: "Aufgabenliste aktualisiert",
    plan: "Plan aktualisiert",
    question: "Rückfrage gestellt",
    fetched: "Webseite abgerufen",
    web: "Im Web gesucht",
    agent: "Subagent ausgeführt",
    skill: "Skill gelesen",
    tool: "Werkzeug aufgerufen",
    failed: "fehlgeschlagen",
    refused: "abgelehnt",
    cancelled: "abgebrochen",
  },
  tr: {
    read: "Dosya okundu",
    edited: "Dosya düzenlendi",
    created: "Yeni dosya oluşturuldu",
    deleted: "Dosya silindi",
    renamed: "Dosya yeniden adlandırıldı",
    command: "Terminal komutu çalıştırıldı",
    searched: "Dosyalarda arandı",
    listed: "Klasör listelendi",
    todos: "Yapılacaklar listesi güncellendi",
    plan: "Plan güncellendi",
    question: "Soru soruldu",
    fetched: "Web sayfası getirildi",
    web: "Web'de arandı",
    agent: "Alt ajan çalıştırıldı",
    skill: "Beceri okundu",
    tool: "Araç çağrıldı",
    failed: "başarısız",
    refused: "reddedildi",
    cancelled: "iptal edildi",
  },
  ja: {
    read: "ファイルを読み取りました",
    edited: "ファイルを編集しました",
    created: "新しいファイルを作成しました",
    deleted: "ファイルを削除しました",
    renamed: "ファイル名を変更しました",
    command: "ターミナルコマンドを実行しました",
    searched: "ファイルを検索しました",
    listed: "フォルダーを一覧表示しました",
    todos: "TODOリストを更新しました",
    plan: "計画を更新しました",
    question: "質問しました",
    fetched: "Webページを取得しました",
    web: "Webを検索しました",
    agent: "サブエージェントを実行しました",
    skill: "スキルを読み取りました",
    tool: "ツールを呼び出しました",
    failed: "失敗",
    refused: "拒否",
    cancelled: "キャンセル",
  },
  "zh-TW": {
    read: "已讀取檔案",
    edited: "已編輯檔案",
    created: "已建立新檔案",
    deleted: "已刪除檔案",
    renamed: "已重新命名檔案",
    command: "已執行終端機指令",
    searched: "已搜尋檔案",
    listed: "已列出資料夾",
    todos: "已更新待辦清單",
    plan: "已更新計畫",
    question: "已提出問題",
    fetched: "已擷取網頁",
    web: "已搜尋網路",
    agent: "已執行子代理",
    skill: "已讀取技能",
    tool: "已呼叫工具",
    failed: "失敗",
    refused: "遭拒絕",
    cancelled: "已取消",
  },
};

/** The locale that a value such as `de_DE.UTF-8`, `zh-Hant` or `tr` names; English for every other (C11). */
export function toLocale(value: string): Locale {
  const [language = "", region = ""] = value.toLowerCase().split(/[.@]/, 1)[0]!.split(/[-_]/);
  if (language === "zh") return ["tw", "hk", "mo", "hant"].includes(region) ? "zh-TW" : "en";
  return language === "de" || language === "tr" || language === "ja" ? language : "en";
}

const actionsByTool: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["read_file", "read"],
  ["write_file", "created"],
  ["edit_file", "edited"],
  ["delete_file", "deleted"],
  ["rename_file", "renamed"],
  ["run_terminal_cmd", "command"],
  ["grep_search", "searched"],
  ["glob_search", "searched"],
  ["codebase_search", "searched"],
  ["list_dir", "listed"],
  ["todo_write", "todos"],
  ["create_plan", "plan"],
  ["ask_question", "question"],
  ["web_fetch", "fetched"],
  ["web_search", "web"],
  ["run_agent", "agent"],
  ["read_skill", "skill"],
]);

/** One action line (C11): `Read file`; a call that did not succeed says so after a colon. */
export function formatAction(toolName: string, result: ToolResult, locale: Locale): string {
  const set = words[locale];
  const action = toAction(toolName, result);
  const { effect } = result;
  const named = effect?.kind === "agent" || effect?.kind === "skill" ? ` ${effect.name}` : "";
  const word = action === "tool" ? `${set.tool} ${toolName}` : `${set[action]}${named}`;
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

function toAction(toolName: string, { effect }: ToolResult): Action {
  // write_file onto a file that was there changes it: the log knows.
  if (effect?.kind === "file_edit" && effect.changes[0]?.operation === "edit") return "edited";
  return actionsByTool.get(toolName) ?? "tool";
}
