/** Texts to sentences. */

const abbreviations = new Set(
  (
    "e.g i.e etc vs cf approx resp incl excl no fig sec ch al mr mrs ms dr prof st jr sr inc ltd co dept est vol " +
    "z.b d.h u.a u.ä o.ä bzw ca vgl ggf evtl inkl exkl nr abs art bsp sog usw u.s.w s.o s.u max min hr fr " +
    "vb vs örn bkz sn no yy doç prof"
  ).split(" "),
);

const wideMarks = new Set(Array.from("。！？．"));
const marks = new Set([".", "!", "?", "…", ...wideMarks]);
const closers = new Set(Array.from(`"'”’»)]」』）】*_`));

/** Sentences of a paragraph, trimmed. A full stop inside a number, a name or an abbreviation ends none. Linear. */
export function toSentences(text: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const mark = text.charAt(index);
    if (!marks.has(mark)) continue;
    // The whole run of marks at once, so that "......" costs its length only.
    const end = skipClosers(text, index + 1);
    if (isSentenceEnd(text, mark, index, end)) {
      pushSentence(sentences, text.slice(start, end));
      start = end;
    }
    index = end - 1;
  }
  pushSentence(sentences, text.slice(start));
  return sentences;
}

function pushSentence(sentences: string[], text: string): void {
  const sentence = text.trim();
  if (sentence !== "") sentences.push(sentence);
}

/** Whether the mark at `index`, with what closes behind it up to `end`, ends a sentence. */
function isSentenceEnd(text: string, mark: string, index: number, end: number): boolean {
  if (wideMarks.has(mark)) return true;
  const next = text.charAt(end);
  if (next === "") return true;
  if (!/\s/.test(next) || (mark === "." && isAbbreviation(text, index))) return false;
  return !/\p{Ll}/u.test(text.charAt(end + 1));
}

function skipClosers(text: string, from: number): number {
  let end = from;
  while (end < text.length && (closers.has(text.charAt(end)) || marks.has(text.charAt(end)))) end += 1;
  return end;
}

/** The word before the stop is an abbreviation, one letter, or a small number, as in dates and lists: "12. Mai". */
function isAbbreviation(text: string, stop: number): boolean {
  let start = stop;
  while (start > 0 && stop - start < 12 && /[\p{L}\p{N}.]/u.test(text.charAt(start - 1))) start -= 1;
  const word = text.slice(start, stop).toLowerCase();
  return abbreviations.has(word) || /^\p{L}$/u.test(word) || (/^\d{1,2}$/.test(word) && Number(word) <= 31);
}

/** A text of at most `limit` characters, cut at a sentence, else at a word, with `…`. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let kept = "";
  for (const sentence of toSentences(text.slice(0, limit + 1))) {
    if (!/[.!?。！？…]["'”’»)\]」』）]*$/u.test(sentence)) break;
    const next = kept === "" ? sentence : `${kept}${/[。！？]$/u.test(kept) ? "" : " "}${sentence}`;
    if (next.length > limit) break;
    kept = next;
  }
  if (kept.length >= limit / 3) return kept;
  const piece = text.slice(0, limit - 1);
  const blank = piece.lastIndexOf(" ");
  const end = blank > limit / 2 ? blank : toWholeCharacter(piece);
  return `${piece.slice(0, end).replace(/[\s,;:、，]+$/u, "")}…`;
}

function toWholeCharacter(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}
