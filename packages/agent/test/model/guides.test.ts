import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readInstruction } from "../../src/model/offline/instruction.ts";
import { createPromptReader } from "../../src/model/offline/reading.ts";
import { createScriptedModelFrom } from "../../src/model/scripted.ts";

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
  const languages = { English: "en", German: "de", Turkish: "tr", Japanese: "ja", Chinese: "zh-TW" } as const;
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
  const reader = createPromptReader();

  test("has examples in all languages", () => {
    expect(rows.length).toBeGreaterThan(70);
  });

  test.each(rows)("%s: %s", (language, example) => {
    const { intent, reading } = readInstruction(reader, example, language);
    expect(intent.kind).not.toBe("unknown");
    expect(intent.kind).not.toBe("missing");
    expect(reading.language).toBe(language);
  });
});
