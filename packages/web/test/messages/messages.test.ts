import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LanguageCode } from "../../src/messages/languages.ts";
import { chooseLanguage, languageNames } from "../../src/messages/languages.ts";
import { createMessages, english, type LanguageFile } from "../../src/messages/messages.ts";

const folder = join(import.meta.dirname, "../../src");
const readLanguage = (code: string): LanguageFile =>
  JSON.parse(readFileSync(join(folder, `messages/${code.toLowerCase()}.json`), "utf8")) as LanguageFile;

/** Every text by its path; plural forms are one text. */
function readTexts(value: unknown, path = ""): readonly [string, string][] {
  if (typeof value === "string") return [[path, value]];
  const parts = Object.entries(value as object);
  if (Object.hasOwn(value as object, "other")) return [[path, parts.map(([, text]) => text as string).join("|")]];
  return parts.flatMap(([name, part]) => readTexts(part, path === "" ? name : `${path}.${name}`));
}

/** Sorted, with blanks between. */
const toPlaceholders = (text: string): string =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!))].toSorted().join(" ");

const texts = new Map(readTexts(readLanguage("en")));

/** Words that are the same in English. */
const shared = /^(?:Agent|Plan|Text|Code|Token|Model|JSON|Markdown|Details|Start|Editor|Hook|Subagent|, )$/;

describe.each(Object.keys(languageNames).filter((code) => code !== "en"))("%s", (code) => {
  const file = readLanguage(code);
  const own = new Map(readTexts(file));

  test("has every text, and none stays English", () => {
    expect([...own.keys()]).toEqual([...texts.keys()]);
    const untranslated = [...own].filter(
      ([path, text]) => text === texts.get(path) && !/[^\p{L}, ]/u.test(text) && text !== "" && !shared.test(text),
    );
    expect(untranslated).toEqual([]);
    expect([...own].filter(([path, text]) => (text.trim() === "") !== (texts.get(path) === ""))).toEqual([]);
  });

  test("names itself, and has the placeholders of English", () => {
    expect(file.texts.locale).toBe(code);
    const differing = [...own].filter(([path, text]) => toPlaceholders(text) !== toPlaceholders(texts.get(path)!));
    expect(differing).toEqual([]);
  });
});

test.each([
  ["en", 1, "1 step"],
  ["en", 1234, "1,234 steps"],
  ["de", 1, "1 Schritt"],
  ["de", 1234, "1.234 Schritte"],
  ["tr", 1, "1 adım"],
  ["ja", 1234, "1,234 ステップ"],
] satisfies [LanguageCode, number, string][])("%s counts %d as %s", (code, turns, expected) => {
  expect(createMessages(readLanguage(code)).turns({ turns })).toBe(expected);
});

test("a value is text, whatever is in it", () => {
  for (const title of ["{title}", "$&", "$1", "{other}", ""])
    expect(english.deletedTitle({ title })).toBe(`Deleted “${title}”`);
});

test("the page gives each template exactly its placeholders", () => {
  const calls = globSync("**/*.{ts,tsx}", { cwd: folder }).flatMap((path) =>
    [...readFileSync(join(folder, path), "utf8").matchAll(/messages\.(\w+)\(\{(.*?)\}\)/gs)].map(
      ([, name, given]) => [name!, given!] as const,
    ),
  );
  expect(calls.length).toBeGreaterThan(50);
  for (const [name, given] of calls) {
    // The names at the outer level: whatever is in parentheses belongs to a value.
    let flat = given;
    while (/\([^()]*\)/.test(flat)) flat = flat.replaceAll(/\([^()]*\)/g, "");
    const names = flat.split(",").flatMap((part) => /^\s*(\w+)/.exec(part)?.[1] ?? []);
    const text = texts.get(`templates.${name}`) ?? "";
    // A number may choose the form of a text that does not contain it.
    const isNumberOnly = text.includes("|") && !text.includes("{");
    expect([name, isNumberOnly ? "" : names.toSorted().join(" ")]).toEqual([name, toPlaceholders(text)]);
  }
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
