import { expect, test } from "vitest";
import { isSentenceContinued, joinPieces, SEAM_CHARACTERS } from "../src/pieces.ts";

test.each([
  ["I will read it", " and answer."],
  ["I will read it ", "and answer."],
  ["I will read `a.ts`", " and answer."],
  ["I read it", ", then I answer."],
  ["I read it (again", ") and answer."],
  ["Ich öffne die Datei", " über den Pfad."],
  ["我來讀取檔案", "然後建立摘要。"],
  ["README.md を読み", "、要約します。"],
  ["سأقرأ الملف", " ثم أجيب."],
])("%j continues in %j", (earlier, later) => {
  expect(isSentenceContinued(earlier, later)).toBe(true);
  expect(joinPieces([earlier, " \n", later])).toBe(earlier + later);
});

test.each([
  ["I read it.", " and answer."],
  ["I read it. ", "npm test passes."],
  ["Let me look: ", "it is a list."],
  ["**Done.**", " the rest follows."],
  ['He said "no."', " then he left."],
  ["Let me look", "The file is a list."],
  ["Let me look", " The file is a list."],
  ["I run the tests", "npm test passes."],
  ["I read it", "\nand answer."],
  ["I read it\n", "and answer."],
  ["```\ncode\n```", " and more."],
  ["| a | b |", " and more."],
  ["我看一下。", "测试通过了。"],
  ["سأقرأ الملف", "تم"],
])("a paragraph ends with %j before %j", (earlier, later) => {
  expect(isSentenceContinued(earlier, later)).toBe(false);
  expect(joinPieces(["", earlier, later])).toBe(`${earlier.trimEnd()}\n\n${later.trimStart()}`);
});

test("one piece stays as it came, and the start of a long one does not matter", () => {
  expect(joinPieces(["", " a \n"])).toBe(" a \n");
  const long = `${"x. ".repeat(SEAM_CHARACTERS)}I will read it`;
  expect(isSentenceContinued(long, " and answer.")).toBe(true);
  expect(isSentenceContinued(long.slice(-SEAM_CHARACTERS), " and answer.")).toBe(true);
});
