import { describe, expect, test } from "vitest";
import { chinese } from "../../src/messages/chinese.ts";
import { english, type Messages } from "../../src/messages/english.ts";
import { german } from "../../src/messages/german.ts";
import { japanese } from "../../src/messages/japanese.ts";
import { chooseLanguage } from "../../src/messages/languages.ts";
import { turkish } from "../../src/messages/turkish.ts";

const takesList = new Set(["waitsFor", "tableOf", "allowAlways", "rejectAlways"]);

/** Every text by its path; functions get marked words and numbers. */
function readTexts(value: unknown, path = ""): [string, string][] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value === "function") {
    const odd: Readonly<Record<string, readonly unknown[]>> = {
      todoChange: [{ status: "completed", content: "«0»" }, 3],
      allowAllOnce: ["tool_call", 3, "«0»"],
    };
    const given = odd[path] ?? ["«0»", "«1»", "«2»"];
    const isNumeric = [
      "answerEnded",
      "turns",
      "showAllLines",
      "showEarlierLines",
      "linesChanged",
      "changedFiles",
      "showLinesAbove",
      "showLinesBelow",
      "showHiddenLines",
      "linesShown",
      "lines",
      "exitCode",
      "revision",
      "progress",
      "question",
      "sendAnswers",
      "answersLeft",
    ].includes(path);
    const text: unknown = takesList.has(path) ? value(["«0»"]) : value(...(isNumeric ? [4, 7] : given));
    return [[path, text as string]];
  }
  return Object.entries(value as object).flatMap(([name, part]) =>
    readTexts(part, path === "" ? name : `${path}.${name}`),
  );
}

const texts = new Map(readTexts(english));

/** Words that are the same in English. */
const shared = new Set([
  "Agent",
  "Plan",
  "Text",
  "Code",
  "Token",
  "Model",
  "JSON",
  "Markdown",
  "Details",
  "Start",
  "Editor",
  "Hook",
  "Subagent",
]);

describe.each<[string, Messages]>([
  ["de", german],
  ["ja", japanese],
  ["tr", turkish],
  ["zh-TW", chinese],
])("%s", (_language, messages) => {
  const own = new Map(readTexts(messages));

  test("has every text, and none stays English", () => {
    expect([...own.keys()].toSorted()).toEqual([...texts.keys()].toSorted());
    const untranslated = [...own].filter(
      ([path, text]) => text !== "" && text === texts.get(path) && !/[^\p{L} ]/u.test(text) && !shared.has(text),
    );
    expect(untranslated).toEqual([]);
    expect([...own].filter(([path, text]) => (text.trim() === "") !== (texts.get(path) === ""))).toEqual([]);
  });

  test("says what it was given", () => {
    for (const [path, text] of texts) {
      for (const word of ["«0»", "«1»", "«2»"])
        expect([path, own.get(path)!.includes(word)]).toEqual([path, text.includes(word)]);
    }
  });
});

describe("the language of the page", () => {
  test.each([
    ["", ["de-AT", "en"], "de"],
    ["", ["fr", "ja-JP"], "ja"],
    ["", ["zh-CN"], "zh-TW"],
    ["", ["fr"], "en"],
    ["tr", ["de"], "tr"],
    ["xx", ["de"], "de"],
    ["__proto__", [], "en"],
  ])("chosen %j, browser %j: %s", (chosen, preferred, expected) => {
    expect(chooseLanguage(chosen, preferred)).toBe(expected);
  });
});
