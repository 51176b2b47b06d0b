/** Words that carry the subject of a text. */
import { toFolded } from "../fold.ts";

const stopWords = new Set(
  (
    "the and for are but not you your with this that from have has had was were will would can could should may might must shall its it's our " +
    "their they them these those there here what when where which who whom how why all any both each few more most other some such than then " +
    "too very just also into onto over under about after before between through during above below again once only own same because while " +
    "been being does did doing done use used uses using see via per get got make makes made one two new now like need needs want let " +
    "der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind war waren wird werden wurde wurden kann können muss " +
    "müssen soll sollen auch auf aus bei mit nach von vom zum zur für über unter vor zwischen durch gegen ohne um als wie wenn dann dass daß weil " +
    "sich sie ihr ihre sein seine dieser diese dieses diesen diesem jeder jede jedes hier dort noch nur schon sehr mehr man mit einmal so " +
    "bir ve ile için bu şu da de mi mı ne gibi kadar daha çok en her olan olarak olur oldu değil ama veya ya hem sonra önce göre üzerinde tüm " +
    "http https www com org"
  )
    .split(" ")
    .map(toFolded),
);

const wordPattern =
  /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_]{3,60}|[\p{Script=Han}\p{Script=Katakana}ー]{2,60}/gu;
const widePattern = /^[\p{Script=Han}\p{Script=Katakana}ー]/u;

/** Terms of a text, in order: stems of words, pairs of Chinese and Japanese characters. */
export function toTerms(text: string): string[] {
  const terms: string[] = [];
  for (const match of text.matchAll(wordPattern)) {
    const word = match[0];
    if (widePattern.test(word)) {
      for (let index = 0; index + 1 < word.length; index += 1) terms.push(word.slice(index, index + 2));
      continue;
    }
    const folded = toFolded(word);
    if (!stopWords.has(folded) && !/^\d+$/.test(folded)) terms.push(toStem(folded));
  }
  return terms;
}

/** A crude stem that joins the forms of a word in English, German and Turkish. */
function toStem(word: string): string {
  return word.length > 6 ? word.slice(0, 6) : word.replace(/(?:es|s)$/, "");
}

/** How often each term occurs. */
export function countTerms(lists: Iterable<readonly string[]>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const terms of lists) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
