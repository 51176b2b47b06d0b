import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createOfflineModel } from "../src/offline/offline.ts";
import { createScriptedModelFrom } from "../src/scripted.ts";
import { runModel } from "./run-model.ts";

const pages = join(import.meta.dirname, "../../../docs/reference");
const read = (name: string): string => readFileSync(join(pages, name), "utf8");

describe("docs/reference/scripted-models.md", () => {
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

describe("docs/reference/offline-model.md", () => {
  const rows = read("offline-model.md")
    .split("\n")
    .filter((line) => /^\| (?:English|German|Turkish|Japanese|Chinese) \|/.test(line))
    .flatMap((line) => [...line.matchAll(/``\s?(.+?)\s?``|`([^`]+)`/g)].map((match) => match[1] ?? match[2] ?? ""));
  const model = createOfflineModel();
  const files = { "README.md": "# A\n", "hello.txt": "a" };

  test("has examples in all languages", () => {
    expect(rows.length).toBeGreaterThanOrEqual(25);
  });

  test.each(rows)("%s", async (example) => {
    const { result, calls } = await runModel(model, example, { files });
    expect(calls.map(({ tool }) => tool)).not.toContain("ask_question");
    expect(calls.length).toBeGreaterThan(0);
    expect(result).not.toContain("`sheaf --help`");
  });
});
