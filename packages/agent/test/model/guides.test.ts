import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chinese } from "../../src/model/offline/languages/chinese.ts";
import { english } from "../../src/model/offline/languages/english.ts";
import { german } from "../../src/model/offline/languages/german.ts";
import { japanese } from "../../src/model/offline/languages/japanese.ts";
import { turkish } from "../../src/model/offline/languages/turkish.ts";
import { createOfflineModel } from "../../src/model/offline/offline.ts";
import { createScriptedModelFrom } from "../../src/model/scripted.ts";
import { runModel } from "./run-model.ts";

const guides = join(import.meta.dirname, "../../../../docs/guide");
const read = (name: string): string => readFileSync(join(guides, name), "utf8");

describe("docs/guide/scripted-models.md", () => {
  const blocks = [...read("scripted-models.md").matchAll(/^```json\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");

  test("has examples", () => {
    expect(blocks.length).toBeGreaterThan(10);
  });

  test.each(blocks)("%s", (block) => {
    const value = JSON.parse(block) as Record<string, unknown>;
    const turn = "events" in value ? value : { events: [value] };
    expect(createScriptedModelFrom("turns" in value ? value : { turns: [turn] }, "guide")).toBeDefined();
  });
});

describe("docs/guide/offline-model.md", () => {
  const languages = { English: english, German: german, Turkish: turkish, Japanese: japanese, Chinese: chinese };
  const rows = read("offline-model.md")
    .split("\n")
    .flatMap((line) => {
      const match = /^\| (English|German|Turkish|Japanese|Chinese) \|(.*)\|$/.exec(line);
      if (!match) return [];
      const language = languages[match[1] as keyof typeof languages];
      return [...(match[2] ?? "").matchAll(/``\s?(.+?)\s?``|`([^`]+)`/g)].map(
        (example) => [language, example[1] ?? example[2] ?? ""] as const,
      );
    });
  const model = createOfflineModel();
  const names = ["README.md", "a.md", "b.md", "package.json", "src/main.ts", "docs/guide.md", "hello.txt"];
  const files = Object.fromEntries(names.map((name) => [name, '{ "scripts": { "test": "vitest run" } }']));

  test("has examples in all languages", () => {
    expect(rows.length).toBeGreaterThan(70);
  });

  test.each(rows)("%o: %s", async ({ phrases, code }, example) => {
    const { result, calls } = await runModel(model, example, { files });
    expect(calls.map(({ tool }) => tool)).not.toContain("ask_question");
    expect(result).not.toContain(phrases.notUnderstood);
    for (const other of Object.values(languages)) {
      if (other.code !== code) expect(result).not.toContain(other.phrases.introduction);
    }
  });
});
