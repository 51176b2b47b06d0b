import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeWithFixtures } from "../../../../../../test/support/fixtures.ts";
import { verifies } from "../../../../../../test/support/verifies.ts";
import { chinesePhrases } from "../../../../src/model/offline/phrases/chinese.ts";
import { englishPhrases } from "../../../../src/model/offline/phrases/english.ts";
import { germanPhrases } from "../../../../src/model/offline/phrases/german.ts";
import { japanesePhrases } from "../../../../src/model/offline/phrases/japanese.ts";
import type { Phrases } from "../../../../src/model/offline/phrases/phrases.ts";
import { turkishPhrases } from "../../../../src/model/offline/phrases/turkish.ts";
import { formatSummaryFile } from "../../../../src/model/offline/step-summary.ts";
import { createDigest } from "../../../../src/model/offline/summary/create-digest.ts";
import type { Digest } from "../../../../src/model/offline/summary/digest.ts";

const folder = join(import.meta.dirname, "../../../fixtures/texts");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const summarise = (text: string, path: string, phrases: Phrases = englishPhrases): string =>
  formatSummaryFile([{ name: path, path, text }], phrases);
const sectionOf = ({ sections }: Digest, label: string): string[] =>
  sections.find((section) => section.label === label)?.entries.map(({ text }) => text) ?? [];

describe("a README", () => {
  const text = read("readme.md");
  const digest = createDigest(text, "README.md");

  test("title and purpose, without badges, menus, comments and front matter", () => {
    expect(digest.title).toBe("Tinywheel");
    expect(digest.purpose).toEqual([
      "Tinywheel turns small wheels without any oil. It is made for clocks, toys and model railways, and it runs on every desk.",
    ]);
  });

  test("commands without their output", () => {
    expect(digest.commands).toEqual(["npm install tinywheel", "npx tinywheel --help"]);
  });

  test("the outline, without the table of contents", () => {
    expect(digest.outline).toEqual([
      { depth: 0, text: "Install" },
      { depth: 0, text: "Usage" },
      { depth: 1, text: "Options" },
      { depth: 0, text: "Features" },
      { depth: 0, text: "License" },
    ]);
  });

  test("points are whole sentences and list items of the text", () => {
    expect(digest.points.length).toBeGreaterThanOrEqual(2);
    expect(digest.points).toContain("No oil – the wheels run dry for at least ten years.");
    expect(digest.points.some((point) => point.includes("MIT"))).toBe(false);
    expect(digest.points.some((point) => /Install|#/.test(point))).toBe(false);
  });

  test("counts", () => {
    const counts = Object.fromEntries(digest.counts.map(({ unit, count }) => [unit, count]));
    expect(counts).toMatchObject({
      lines: text.split("\n").length - 1,
      characters: text.length,
      code_blocks: 2,
      tables: 1,
      list_items: 6,
    });
  });

  test.each([
    [
      englishPhrases,
      ["# README summary", "## Purpose", "## Main points", "## Commands", "## Outline", "by Sheaf's offline model"],
    ],
    [
      germanPhrases,
      [
        "# README-Zusammenfassung",
        "## Zweck",
        "## Hauptpunkte",
        "## Befehle",
        "## Gliederung",
        "vom Offline-Modell von Sheaf",
      ],
    ],
    [
      turkishPhrases,
      ["# README Özeti", "## Amaç", "## Ana noktalar", "## Komutlar", "## Başlıklar", "çevrimdışı modeliyle"],
    ],
    [japanesePhrases, ["# README の要約", "## 目的", "## 要点", "## コマンド", "## 構成", "オフラインモデル"]],
    [chinesePhrases, ["# README 摘要", "## 用途", "## 重點", "## 指令", "## 大綱", "離線模型"]],
  ])("is put into words: %#", (phrases, words) => {
    const summary = summarise(text, "README.md", phrases);
    for (const word of words) expect(summary).toContain(word);
    expect(summary).toContain("Tinywheel turns small wheels without any oil.");
    expect(summary.endsWith("\n")).toBe(true);
    expect(summary.length).toBeLessThan(text.length);
  });
});

describe("other kinds of text", () => {
  test("the example of the base text", () => {
    const summary = summarise("# Projekt\n\nDies ist ein Beispielprojekt...", "README.md", germanPhrases);
    expect(
      summary.startsWith("# README-Zusammenfassung\n\n**Projekt**\n\n## Zweck\n\nDies ist ein Beispielprojekt...\n"),
    ).toBe(true);
    expect(summary).not.toContain("## Hauptpunkte");
  });

  test("a plain text: hard line ends are joined, abbreviations end no sentence", () => {
    const digest = createDigest(read("story.txt"), "story.txt");
    expect(digest.title).toBe("The Lighthouse Keeper's Handbook");
    expect(digest.purpose[0]).toBe(
      "A lighthouse keeper lights the lamp every evening and puts it out every morning. " +
        "The keeper also winds the clockwork that turns the lens, so that each lighthouse shows its own rhythm to the ships.",
    );
    expect(digest.points.length).toBeGreaterThanOrEqual(2);
    for (const point of digest.points)
      expect(read("story.txt").replaceAll(/\s+/g, " ")).toContain(point.replace(/…$/, ""));
  });

  test("Chinese", () => {
    const digest = createDigest(read("guide.zh.md"), "guide.md");
    expect(digest.title).toBe("茶園管理手冊");
    expect(digest.purpose).toEqual([
      "這份手冊說明如何管理高山茶園，從種植、採收到製茶都有詳細的步驟。茶農可以依照季節查閱各章內容。",
    ]);
    expect(digest.points.length).toBeGreaterThanOrEqual(1);
    for (const point of digest.points) expect(read("guide.zh.md").replaceAll("**", "")).toContain(point);
    expect(digest.commands).toEqual(["npm run tea"]);
    expect(digest.outline.map(({ text }) => text)).toEqual(["種植", "採收", "製茶"]);
  });

  test("Japanese: lines are joined without a blank", () => {
    const digest = createDigest(read("guide.ja.txt"), "guide.txt");
    expect(digest.title).toBe("駅の時刻表について");
    expect(digest.purpose[0]).toBe(
      "この文書は、駅の時刻表を読む方法を説明します。時刻表は平日と休日で内容が違うため、最初に曜日を確認してください。",
    );
    for (const point of digest.points) expect(read("guide.ja.txt").replaceAll("\n", "")).toContain(point);
  });

  test("TypeScript", () => {
    const digest = createDigest(read("server.ts.txt"), "src/server.ts");
    expect(digest.purpose).toEqual(["A tiny server for wheels. It answers with the number of rounds."]);
    expect(digest.sections[0]).toEqual({
      label: "exports",
      entries: [
        { text: "interface ServerOptions", isCode: true, line: 10, note: "What the server needs." },
        { text: "function startServer", isCode: true, line: 15, note: "Starts the server and listens." },
        { text: "const version", isCode: true, line: 23 },
      ],
      more: 0,
    });
    expect(sectionOf(digest, "imports")).toEqual(["node:http", "./wheel.ts"]);
    expect(digest.sections.find(({ label }) => label === "findings")?.entries).toEqual([
      { text: "// TODO: close it again", isCode: true, line: 16 },
      { text: 'console.log("listening");', isCode: true, line: 18 },
    ]);
  });

  test("Python", () => {
    const digest = createDigest(read("wheel.py.txt"), "wheel.py");
    expect(digest.purpose).toEqual(["Counts the rounds of a wheel."]);
    expect(sectionOf(digest, "members")).toEqual(["class Wheel", "def turn"]);
    expect(digest.sections[0]?.entries[1]?.note).toBe("Turns a wheel once.");
    expect(sectionOf(digest, "imports")).toEqual(["os", "collections"]);
  });

  test.each([
    [
      "a.go",
      "package a\n\n// Turn turns.\nfunc Turn(n int) int {\n\treturn n\n}\n\ntype Wheel struct {\n}\n",
      ["func Turn", "type Wheel"],
    ],
    ["a.rs", "//! Wheels.\n\npub fn turn() {}\nstruct Wheel;\nimpl Wheel {}\n", ["fn turn", "struct Wheel"]],
    [
      "A.java",
      "package a;\n\npublic class Wheel {\n  public int turn(int n) {\n    return n;\n  }\n}\n",
      ["class Wheel", "public turn"],
    ],
    [
      "a.c",
      "#include <stdio.h>\n\nstruct wheel { int n; };\n\nint turn(struct wheel *w) {\n  return 1;\n}\n",
      ["struct wheel", "turn"],
    ],
    ["a.rb", "class Wheel\n  def turn\n  end\nend\n", ["class Wheel", "def turn"]],
    ["a.sh", "#!/bin/sh\nset -e\nturn() {\n  echo 1\n}\n", ["turn"]],
    [
      "a.cjs",
      "const turn = (n) => n;\nmodule.exports = turn;\nmodule.exports.other = 1;\n",
      ["module.exports turn", "module.exports other"],
    ],
  ])("%s", (path, text, members) => {
    const digest = createDigest(text, path);
    expect([...sectionOf(digest, "members"), ...sectionOf(digest, "exports")]).toEqual(members);
  });

  test("package.json", () => {
    const manifest = {
      name: "demo",
      version: "1.2.3",
      description: "A demo of wheels.",
      bin: { demo: "bin/demo.js" },
      scripts: { test: "vitest run" },
      dependencies: { zod: "4.6.7" },
      devDependencies: { vitest: "5.1.0" },
      engines: { node: ">=24" },
      workspaces: ["packages/a"],
    };
    const summary = summarise(JSON.stringify(manifest, undefined, 2), "package.json");
    for (const words of [
      "**demo**",
      "A demo of wheels.",
      "`1.2.3`",
      "- `demo`: bin/demo.js",
      "- `test`: vitest run",
      "`zod 4.6.7`",
      "`vitest 5.1.0`",
      "`node >=24`",
      "`packages/a`",
    ]) {
      expect(summary).toContain(words);
    }
  });

  test("JSON, and what is none", () => {
    expect(summarise('{"a":[1,2],"b":{"c":null},"d":"x"}', "a.json")).toContain('- `a`: [2]\n- `b`: {c}\n- `d`: "x"');
    expect(summarise('[{"id":1},{"id":2}]', "a.json")).toContain("2 entries");
    expect(summarise('{"a":', "a.json")).toContain("It is not valid JSON: ");
    expect(summarise('{"__proto__":{"x":1},"constructor":1}', "a.json")).toContain("- `__proto__`: {x}");
  });

  test("a table", () => {
    const summary = summarise('name,"size, in mm",n\na,1,2\nb,3,4\n', "a.csv");
    expect(summary).toContain("## Columns\n\n`name`, `size, in mm`, `n`");
    expect(summary).toContain("2 rows");
  });

  test("a log", () => {
    const lines = Array.from(
      { length: 20 },
      (_, index) => `2026-01-01T10:00:${String(index + 10)}Z INFO started ${index}`,
    );
    lines.splice(
      5,
      0,
      "2026-01-01T10:00:15Z ERROR connection 17 lost",
      "2026-01-01T10:00:15Z WARN slow",
      "2026-01-01T10:00:16Z ERROR connection 18 lost",
    );
    const summary = summarise(lines.join("\n"), "app.log");
    expect(summary).toContain("- `ERROR connection 17 lost`".replace("`ERROR", "`Z ERROR"));
    expect(summary).toContain("(line 6): × 2");
    expect(summary).toContain("2 errors, 1 warning");
    expect(summary).toContain("2026-01-01T10:00:10 – 2026-01-01T10:00:29");
  });

  test("a diff", () => {
    const digest = createDigest(
      "diff --git a/x.ts b/x.ts\nindex 1..2 100644\n--- a/x.ts\n+++ b/x.ts\n@@ -1,2 +1,3 @@\n a\n+// TODO: b\n-c\n",
      undefined,
    );
    expect(digest.sections[0]?.entries).toEqual([{ text: "x.ts", isCode: true, note: "+1 −1" }]);
    expect(sectionOf(digest, "findings")).toEqual(["// TODO: b"]);
  });

  test("texts without a name are recognised by their content", () => {
    expect(sectionOf(createDigest(read("server.ts.txt"), undefined), "exports")).toContain("function startServer");
    expect(sectionOf(createDigest(read("wheel.py.txt"), undefined), "members")).toContain("class Wheel");
    expect(sectionOf(createDigest('{"a":1}', undefined), "contents")).toEqual(["a"]);
    expect(createDigest(read("readme.md"), undefined).title).toBe("Tinywheel");
    expect(createDigest(read("story.txt"), undefined).title).toBe("The Lighthouse Keeper's Handbook");
  });

  test("nothing is made up where nothing can be said", () => {
    expect(summarise("x\ny\n", "a.md")).toContain("a.md holds no sentences that could stand for the whole");
    expect(summarise("```\nx\n```\n", "a.md")).toContain("holds no sentences");
    expect(summarise("```\nx\n```\n", "a.md")).not.toContain("## Purpose");
  });
});

describe("lengths", () => {
  test("a longer text gets more points, up to eight", () => {
    const word = (number: number): string =>
      number
        .toString(26)
        .replaceAll(/\d/g, (digit) => "qrstuvwxyz".charAt(Number(digit)))
        .padStart(5, "z");
    const sentences = Array.from(
      { length: 300 },
      (_, i) => `The ${word(i * 911)} turns ${word(i * 677 + 1)} and ${word(i * 353 + 2)} with ${word(i * 211 + 3)}. `,
    );
    const toText = (count: number): string =>
      sentences
        .slice(0, count)
        .join("")
        .replaceAll(/((?:[^.]+\.){4}) /g, "$1\n\n");
    const short = createDigest(toText(12), "a.txt");
    const long = createDigest(toText(300), "a.txt");
    expect(short.points.length).toBeLessThan(long.points.length);
    expect(long.points.length).toBe(8);
  });

  test(verifies("S-72", "a text of a megabyte is sampled, and its counts are those of the whole"), () => {
    const part = `# Heading\n\n${read("story.txt")}\n\n\`\`\`sh\nls\n\`\`\`\n\n`;
    const text = part.repeat(Math.ceil(1_000_000 / part.length));
    const digest = createDigest(text, undefined);
    expect(digest.isSampled).toBe(true);
    expect(digest.counts.find(({ unit }) => unit === "headings")?.count).toBe(text.split("# Heading").length - 1);
    expect(digest.counts.find(({ unit }) => unit === "code_blocks")?.count).toBe(text.split("```sh").length - 1);
    expect(digest.points.length).toBeGreaterThan(0);
    expect(summarise(text, "a").length).toBeLessThan(6000);
  });

  const traps: readonly (readonly [string, string])[] = [
    ["brackets", "["],
    ["short paragraphs of brackets", `${"[".repeat(3000)}\n\n`],
    ["links", "[a](b"],
    ["backticks", "a `` b ` c\n\n"],
    ["dots", `${".".repeat(3000)}\n\n`],
    ["tags", "<a "],
    ["comments", "<!-- "],
    ["tables", "|-|-\n"],
    ["quotes", "> > > a\n"],
    ["headings", "# a\n"],
    ["fences", "```\n"],
    ["blanks", " "],
    ["emphasis", "*a**b***_c_"],
    ["code", "export function foo(a) { // TODO\n"],
    ["nested JSON", '{"a":['],
    ["Japanese", "これは長い文章です。改行はありません。"],
  ];
  test.each(traps)(verifies("S-72", "a megabyte of %s is read in linear time"), (_, part) => {
    const text = part.repeat(Math.ceil(1_000_000 / part.length)).slice(0, 1_000_000);
    // No clock here: quadratic work would exceed the time limit of the test by far.
    expect(summarise(text, "a.md").length).toBeLessThan(8000);
    expect(summarise(text, "a").length).toBeLessThan(8000);
  });
});

test("any text gives a summary of bounded length, the same each time", () => {
  const piece = fc.constantFrom(
    "# ",
    "- ",
    "```",
    "\n",
    "\n\n",
    "[a](b)",
    "![x](y)",
    "**b**",
    "`c`",
    "<h1>",
    "<!--",
    "-->",
    "|a|b|\n|-|-|\n",
    "> ",
    "1. ",
    "。",
    "...",
    "e.g. ",
    "---\n",
    "\t",
    "word ",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 400 }),
    fc.array(fc.oneof(piece, fc.string({ maxLength: 20 })), { maxLength: 60 }).map((pieces) => pieces.join("")),
  );
  fc.assert(
    fc.property(
      text,
      fc.constantFrom("a.md", "a.txt", "a.ts", "a.py", "a.json", "package.json", "a.csv", "a.log", "a.diff", "a"),
      (content, path) => {
        const summary = summarise(content, path);
        expect(summary).toBe(summarise(content, path));
        expect(summary.length).toBeLessThan(2000 + 4 * content.length);
      },
    ),
    { numRuns: 400 },
  );
});

describeWithFixtures("markdown", (fixtures) => {
  const answers = join(fixtures, "answers");
  test.each(readdirSync(answers))("%s", (name) => {
    const text = readFileSync(join(answers, name), "utf8");
    for (const phrases of [englishPhrases, japanesePhrases]) {
      const summary = summarise(text, name, phrases);
      expect(summary).toBe(summarise(text, name, phrases));
      expect(summary.length).toBeLessThan(Math.max(900, text.length));
      expect(summary.split("\n").filter((line) => line.startsWith("```")).length % 2).toBe(0);
    }
    const digest = createDigest(text, name);
    expect([...digest.purpose, ...digest.points, ...digest.sections].length + digest.counts.length).toBeGreaterThan(0);
    for (const point of digest.points) expect(point.length).toBeLessThanOrEqual(240);
  });
});
