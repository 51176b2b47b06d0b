/** Lines about hooks, for a person at a terminal (C80). */
import { type HookResult, readNotices } from "@sheaf/protocol";
import type { Locale } from "../tools/tool-traits.ts";

type Words = Readonly<
  Record<"hook" | "objected" | "continued" | "asked" | "ended" | "changed" | "informed" | "failed" | "timedOut", string>
>;

const words: Readonly<Record<Locale, Words>> = {
  en: {
    hook: "Hook",
    objected: "objected to the result",
    continued: "continued the answer",
    asked: "asked for your decision",
    ended: "ended the run",
    changed: "changed the arguments",
    informed: "told the model something",
    failed: "failed",
    timedOut: "took too long",
  },
  de: {
    hook: "Hook",
    objected: "hat das Ergebnis beanstandet",
    continued: "hat die Antwort weitergehen lassen",
    asked: "hat um Ihre Entscheidung gebeten",
    ended: "hat den Lauf beendet",
    changed: "hat die Argumente geändert",
    informed: "hat dem Modell etwas mitgeteilt",
    failed: "ist fehlgeschlagen",
    timedOut: "hat zu lange gebraucht",
  },
  tr: {
    hook: "Kanca",
    objected: "sonuca itiraz etti",
    continued: "yanıtın sürmesini istedi",
    asked: "kararınızı istedi",
    ended: "çalışmayı bitirdi",
    changed: "bağımsız değişkenleri değiştirdi",
    informed: "modele bilgi verdi",
    failed: "başarısız oldu",
    timedOut: "çok uzun sürdü",
  },
  ja: {
    hook: "フック：",
    objected: "結果に異議",
    continued: "回答の続行を要求",
    asked: "あなたの判断を要求",
    ended: "実行を終了",
    changed: "引数を変更",
    informed: "モデルに情報を追加",
    failed: "失敗",
    timedOut: "時間切れ",
  },
  "zh-TW": {
    hook: "掛鉤：",
    objected: "對結果提出異議",
    continued: "要求繼續回答",
    asked: "要求您決定",
    ended: "結束執行",
    changed: "變更引數",
    informed: "提供資訊給模型",
    failed: "執行失敗",
    timedOut: "逾時",
  },
};

/** Exit code of a command that took too long (N37). */
const timeoutCode = 124;

/** Events whose refusal is in the line of the call, or in the failure of the run. */
const refusing: ReadonlySet<string> = new Set(["PreToolUse", "UserPromptSubmit"]);

/** Returns one line for each fact that a person would otherwise miss, after the hook's message to the user. */
export function formatHook(result: HookResult, locale: Locale): readonly string[] {
  const { event, status, exitCode, decision, reason = "", arguments: given, context, notice } = result;
  const set = words[locale];
  const isRefusal = decision === "block" && refusing.has(event);
  const deeds = [
    ...(status === "failed" && notice === undefined ? [exitCode === timeoutCode ? set.timedOut : set.failed] : []),
    ...(decision === "ask" ? [set.asked] : []),
    ...(decision === "end" ? [set.ended] : []),
    ...(decision === "block" && !isRefusal
      ? [event === "Stop" || event === "Verify" ? set.continued : set.objected]
      : []),
    ...(given ? [set.changed] : []),
    ...(context === undefined ? [] : [set.informed]),
  ];
  const why = reason === "" || isRefusal ? "" : `: ${reason}`;
  const args = given ? ` ${JSON.stringify(given)}` : "";
  const line = deeds.length === 0 || isRefusal ? [] : [`${set.hook} ${deeds.join(" · ")} (${event})${why}${args}`];
  return [...readNotices(result).map(({ message }) => message), ...line];
}
