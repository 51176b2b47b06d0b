import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createConfig } from "../../src/config/config.ts";
import { findWindowTokens, keepListedWindows } from "../../src/config/model-windows.ts";
import { findKnownWindow } from "@sheaf/models/known-windows";

const folders = createTestFolder();

describe("the window of a model", () => {
  test.each([
    ["claude-opus-4-8", 872_000],
    ["claude-sonnet-4-5-20250929", 150_000],
    ["anthropic/claude-sonnet-4.6", 872_000],
    ["gpt-5", 300_000],
    ["gpt-5.2-codex", 300_000],
    ["gpt-5.4", 922_000],
    ["gpt-5.4-mini", 300_000],
    ["gpt-5.1-chat-latest", 96_000],
    ["gpt-4.1-mini", 1_014_808],
    ["gemini-2.5-pro", 983_040],
    ["gemini-2.5-flash-image", undefined],
    ["moonshotai/kimi-k2.6", 196_608],
    ["a-model-of-mine", undefined],
  ])(verifies("R-26", "%s: %s tokens fit into one request"), (id, tokens) => {
    expect(findKnownWindow(id)).toBe(tokens);
  });

  test(verifies("R-26", "is the flag's, else the configuration's, else the list's, else the table's"), () => {
    const home = folders.newFolder();
    const name = "anthropic/claude-sonnet-4-5";
    const windowOf = (flag: string | undefined, contextTokens?: Record<string, number>): number | undefined =>
      createConfig({ model: name, contextTokens: flag }, { SHEAF_HOME: home }, home, {
        settings: contextTokens ? { contextTokens } : {},
        fault: undefined,
      }).windowTokens;
    expect(windowOf(undefined)).toBe(150_000);
    keepListedWindows(home, "anthropic", new Map([[name, 180_000]]));
    expect(windowOf(undefined)).toBe(180_000);
    expect(windowOf(undefined, { [name]: 50_000 })).toBe(50_000);
    expect(windowOf("20000", { [name]: 50_000 })).toBe(20_000);
    expect(() => windowOf("999")).toThrow('--context-tokens "999" is too small: give at least 1000');
    expect(() => windowOf("many")).toThrow('--context-tokens "many" is not a whole number above 0');
  });

  test(verifies("R-26", "is not the table's at another address, or on this machine"), () => {
    const find = (name: string, baseUrl?: string): number | undefined =>
      findWindowTokens(name, { settings: {}, dataFolder: undefined, baseUrl });
    expect(find("openai/gpt-5")).toBe(300_000);
    expect(find("openrouter/openai/gpt-5")).toBe(300_000);
    expect(find("openai/gpt-5", "http://127.0.0.1:9/v1")).toBeUndefined();
    expect(find("ollama/gpt-5")).toBeUndefined();
    expect(find("offline")).toBeUndefined();
  });

  test("a list replaces only its own provider's; what is damaged or absurd is not known", () => {
    const dataFolder = folders.newFolder();
    const find = (name: string): number | undefined =>
      findWindowTokens(name, { settings: {}, dataFolder, baseUrl: undefined });
    keepListedWindows(
      dataFolder,
      "openrouter",
      new Map([
        ["openrouter/x/a", 5000],
        ["openrouter/x/b", 0],
      ]),
    );
    keepListedWindows(
      dataFolder,
      "openai",
      new Map([
        ["openai/c", 7000],
        ["openai/d", 1.5],
      ]),
    );
    keepListedWindows(dataFolder, "openai", new Map([["openai/e", 8000]]));
    expect(["openrouter/x/a", "openrouter/x/b", "openai/c", "openai/d", "openai/e"].map(find)).toEqual([
      5000,
      undefined,
      undefined,
      undefined,
      8000,
    ]);
    for (const text of ["{", "null", '{"openai/e":"8000"}']) {
      writeFileSync(join(dataFolder, "model-windows.json"), text);
      expect(find("openai/e")).toBeUndefined();
    }
  });
});
