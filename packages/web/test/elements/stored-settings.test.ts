import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { readSettings } from "../../src/elements/stored-settings.ts";

const script = readFileSync(join(import.meta.dirname, "../../public/appearance.js"), "utf8");

function createStorage(text: string | undefined): Storage {
  return { getItem: (key: string) => (key === "sheaf-settings" ? (text ?? null) : null) } as Storage;
}

/** What the script before the first paint sets on the document. */
function runScript(storage: Storage | undefined): Record<string, string> {
  const dataset: Record<string, string> = {};
  runInNewContext(script, { localStorage: storage, document: { documentElement: { dataset } } });
  return dataset;
}

describe("settings of this browser", () => {
  test.each([
    undefined,
    "{}",
    "null",
    "[1]",
    "not JSON",
    '{"theme":"dark"}',
    '{"theme":"light","density":"compact"}',
    '{"theme":"system","density":"comfortable"}',
    '{"theme":"<b>","density":7,"language":{}}',
  ])("%j looks the same before the first paint and after it", (stored) => {
    const storage = createStorage(stored);
    const { theme, density, language } = readSettings(storage);
    expect(runScript(storage)).toEqual({
      ...(theme !== "system" && { theme }),
      ...(density === "compact" && { density }),
    });
    expect(typeof language).toBe("string");
  });

  test("a browser that keeps nothing looks like its system", () => {
    expect(runScript(undefined)).toEqual({});
    expect(readSettings(undefined)).toMatchObject({ theme: "system", density: "comfortable", language: "" });
  });
});
