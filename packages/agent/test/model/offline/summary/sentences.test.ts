import fc from "fast-check";
import { expect, test } from "vitest";
import { cutText, toSentences } from "../../../../src/model/offline/summary/sentences.ts";

test.each([
  ["One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]],
  ["It is e.g. Mr. Brown's, i.e. No. 99. Next.", ["It is e.g. Mr. Brown's, i.e. No. 99.", "Next."]],
  ["Am 12. Mai kam er. Am 13. ging er.", ["Am 12. Mai kam er.", "Am 13. ging er."]],
  ["Das ist z.B. gut. Es kostet ca. 5 Euro.", ["Das ist z.B. gut.", "Es kostet ca. 5 Euro."]],
  ["Bu vb. şeyler için. Yeni cümle.", ["Bu vb. şeyler için.", "Yeni cümle."]],
  ["Version 1.2.3 of a.ts is here. Ok.", ["Version 1.2.3 of a.ts is here.", "Ok."]],
  ['He said "Go." Then he went.', ['He said "Go."', "Then he went."]],
  ["Wait... what? Yes.", ["Wait... what?", "Yes."]],
  ["これは文です。次の文です！最後？はい", ["これは文です。", "次の文です！", "最後？", "はい"]],
  ["「終わり。」と言った。", ["「終わり。」", "と言った。"]],
  ["這是句子。下一句！", ["這是句子。", "下一句！"]],
  ["", []],
])("%s", (text, sentences) => {
  expect(toSentences(text)).toEqual(sentences);
});

test("sentences hold all of the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "B", ".", "!", "。", " ", "」", "1", "e.g. ") }), (text) => {
      expect(toSentences(text).join("").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
    }),
  );
});

test("a text is cut at a sentence, else at a word", () => {
  expect(cutText("First sentence. Second sentence is longer.", 30)).toBe("First sentence.");
  expect(cutText("no sentence ends here but words do", 20)).toBe("no sentence ends…");
  expect(cutText("short", 20)).toBe("short");
  expect(cutText("一".repeat(50), 20)).toBe(`${"一".repeat(19)}…`);
  expect(cutText("😀".repeat(50), 20).isWellFormed()).toBe(true);
});
