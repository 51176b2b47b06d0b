/** Which models a session can be switched to. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { FlagValues } from "../src/flags.ts";
import { switchModel } from "../src/switch-model.ts";
import { createMemoryPorts } from "../../../test/support/memory-ports.ts";
import { sheafDialect } from "../src/dialects/sheaf/sheaf.ts";

function switchTo(model: string, flags: FlagValues): FlagValues {
  const cwd = mkdtempSync(join(tmpdir(), "sheaf-test-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const environment = { HOME: cwd, SHEAF_HOME: cwd, ANTHROPIC_API_KEY: "sk-own" };
  return switchModel(flags, model, {
    environment,
    cwd,
    dialect: sheafDialect,
    ...createMemoryPorts(),
  });
}

test(verifies("C54", "a key of the command line stays with the provider that it was given for"), () => {
  const flags = { model: "openai/gpt-5", "api-key": "sk-openai" };
  expect(() => switchTo("anthropic/claude-sonnet-4-5", flags)).toThrow("--api-key belongs to openai");
  expect(() => switchTo("anthropic/x", { model: "openai/y", header: ["X-Key: k"] })).toThrow(
    "--header belongs to openai",
  );
  expect(switchTo("openai/gpt-5-mini", flags)).toEqual({ ...flags, model: "openai/gpt-5-mini" });
  expect(switchTo("anthropic/claude-sonnet-4-5", { model: "openai/gpt-5" }).model).toBe("anthropic/claude-sonnet-4-5");
});

test(verifies("C54", "a key that came without a model goes with the first one that is chosen"), () => {
  const chosen = switchTo("openai/gpt-5", { "api-key": "sk-openai" });
  expect(chosen).toEqual({ model: "openai/gpt-5", "api-key": "sk-openai" });
  expect(() => switchTo("anthropic/x", chosen)).toThrow("--api-key belongs to openai");
});
