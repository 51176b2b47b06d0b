import { describe, expect, test } from "vitest";
import { toCursorModel, toListedName } from "../../src/config/cursor-models.ts";
import { findModelName } from "../../src/config/endpoints.ts";
import type { UserConfig } from "../../src/config/user-config.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const files = { config: "/c/config.json", credentials: "/c/keys.json", instructions: "/c/AGENTS.md" };

function resolve(name: string | undefined, settings: UserConfig = {}, environment: Record<string, string> = {}) {
  const found = { flags: { model: name }, environment, config: { settings, fault: undefined }, files };
  const { model, notice } = toCursorModel(name, found);
  return [findModelName({ ...found, flags: { model } })?.name, notice] as const;
}

const endpoint = { protocol: "openai-chat", baseUrl: "http://127.0.0.1:1/v1" } as const;
const lab: UserConfig = {
  model: "lab/large",
  endpoints: { lab: { ...endpoint, models: ["large", "same"] }, shop: { ...endpoint, models: ["same"] } },
};

describe("a name of cursor-agent", () => {
  test.each([
    [undefined, "lab/large"],
    ["auto", "lab/large"],
    ["default", "lab/large"],
    ["offline", "offline"],
    ["scripted:s.json", "scripted:s.json"],
    ["openai/gpt-5", "openai/gpt-5"],
    ["large", "lab/large"],
    ["openrouter__vendor__m", "openrouter/vendor/m"],
  ])(verifies("C43", "%s is %s, without a notice"), (name, model) => {
    expect(resolve(name, lab)).toEqual([model, undefined]);
  });

  test.each(["composer-1", "gpt-5", "sonnet-4.5", "claude-opus-4-8[context=1m,effort=high]", "same", "no__such"])(
    verifies("C43", "%s is the model of the settings, with a notice"),
    (name) => {
      const message = `lab/large answers instead of the model ${name}: "modelAliases" in /c/config.json can name another model for it`;
      expect(resolve(name, lab)).toEqual(["lab/large", { code: "MODEL_CHANGED", message }]);
      expect(resolve(name, {}, { SHEAF_MODEL: "offline" })[0]).toBe("offline");
    },
  );

  test(verifies("C43", "an alias wins over all of them; the star is for what no other alias has"), () => {
    const settings = { ...lab, modelAliases: { "gpt-5": "openai/gpt-5", auto: "offline", "*": "shop/same" } };
    expect(resolve("gpt-5", settings)).toEqual(["openai/gpt-5", undefined]);
    expect(resolve("auto", settings)).toEqual(["offline", undefined]);
    expect(resolve("composer-1", settings)).toEqual(["shop/same", undefined]);
    expect(resolve("large", settings)).toEqual(["lab/large", undefined]);
    expect(resolve("toString", { ...lab, modelAliases: {} })[0]).toBe("lab/large");
  });

  test.each([
    ["sonnet-4.5", "anthropic/claude-sonnet-4-5"],
    ["sonnet-4", "anthropic/claude-sonnet-4-0"],
    ["opus-4.1-thinking", "anthropic/claude-opus-4-1"],
    ["claude-4.6-opus-high", "anthropic/claude-opus-4-6"],
    ["claude-opus-4-8[effort=high]", "anthropic/claude-opus-4-8"],
    ["gpt-5.2-high-fast", "openai/gpt-5.2"],
    ["gemini-3-pro", "google/gemini-3-pro"],
    ["composer-1", undefined],
    ["auto", undefined],
  ])(verifies("C43", "%s without a model of the settings is %s"), (name, model) => {
    expect(resolve(name)).toEqual([model, undefined]);
  });

  test.each(["", "-x", "a b", "vendor/model", "anthropic/"])(
    verifies("C43", "%j is none, and stays what it is"),
    (name) => {
      expect(resolve(name, lab)).toEqual([name, undefined]);
    },
  );
});

test(verifies("C43", "an alias means the same in every profile, the star only in this one"), () => {
  const settings = { model: "fast", modelAliases: { fast: "lab/small", "*": "offline" } };
  const named = (model: string | undefined, environment = {}) =>
    findModelName({ flags: { model }, environment, config: { settings, fault: undefined }, files })?.name;
  expect([named("fast"), named(undefined), named("other")]).toEqual(["lab/small", "lab/small", "other"]);
  expect(named(undefined, { SHEAF_MODEL: "fast" })).toBe("lab/small");
});

test(verifies("C43", "a listed name has no slash, and means its model"), () => {
  for (const model of ["anthropic/claude-sonnet-4-5", "openrouter/vendor/m"]) {
    expect(toListedName(model)).not.toContain("/");
    expect(resolve(toListedName(model))[0]).toBe(model);
  }
});
