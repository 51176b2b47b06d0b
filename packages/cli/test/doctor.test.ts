/** What `sheaf doctor` finds on this machine, without asking a provider. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runChecks } from "../src/commands/doctor.ts";
import type { FlagValues } from "../src/flags.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createMemoryPorts } from "../../../test/support/memory-ports.ts";
import { sheafDialect } from "../src/dialects/sheaf/sheaf.ts";
import { cursorDialect } from "../src/dialects/cursor/cursor.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-doctor-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function look(
  name: string,
  flags: FlagValues,
  environment: Readonly<Record<string, string>> = {},
  dialect = sheafDialect,
) {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true });
  const io = {
    cwd: home,
    environment: { PATH: process.env.PATH, HOME: home, SHEAF_HOME: home, XDG_CONFIG_HOME: home, ...environment },
    dialect,
    ...createMemoryPorts(),
  } as const;
  const results = await runChecks(io, { sandbox: "disabled", ...flags });
  return Object.fromEntries(results.map((result) => [result.name, result]));
}

test("a machine with a model that needs no key is well; what is switched off is a warning", async () => {
  const results = await look("well", { model: "offline" });
  const names = [
    "node",
    "configuration",
    "storage",
    "undo",
    "workspace",
    "worktrees",
    "search",
    "sandbox",
    "refused",
    "model",
    "keys",
    "network",
  ];
  expect(Object.keys(results)).toEqual(names);
  expect(names.filter((name) => results[name]!.status !== "ok")).toEqual(["sandbox"]);
  expect(results.search!.found).toMatch(/^ripgrep \d/);
  expect(results.sandbox).toMatchObject({ status: "warn", advice: expect.any(String) as string });
});

test(verifies("R-80", "the size of the states that reverts need is shown"), async () => {
  const states = join(folder, "states/undo/a");
  mkdirSync(states, { recursive: true });
  writeFileSync(join(states, "pack"), Buffer.alloc(3 * 1024 ** 2));
  const { undo } = await look("states", {});
  expect(undo).toMatchObject({ status: "ok", found: expect.stringMatching(/^[34] MiB of states in /) as string });
});

test(verifies("S-251", "what Sheaf moved away from commands is named"), async () => {
  const refuge = join(folder, "refuge/refused/2026-01-01-x");
  mkdirSync(refuge, { recursive: true });
  const { refused } = await look("refuge", {});
  expect(refused).toMatchObject({ status: "ok", found: expect.stringContaining(refuge) as string });
});

test("no model is a warning that says how to name one", async () => {
  const { model, network } = await look("no-model", {});
  expect(model).toMatchObject({ status: "warn", advice: expect.stringContaining("--model offline") as string });
  expect(network).toMatchObject({ status: "ok" });
});

test("a store that cannot be opened is a failure of that check alone", async () => {
  const home = join(folder, "broken");
  mkdirSync(home);
  writeFileSync(join(home, "sheaf.db"), "no database, but long enough to be taken for one ".repeat(100));
  const { storage, search } = await look("broken", { model: "offline" });
  expect(storage).toMatchObject({ status: "fail", found: expect.stringContaining("sheaf.db") as string });
  expect(search).toMatchObject({ status: "ok" });
});

test("a provider that does not answer is a failure that names its address", async () => {
  const flags = { model: "openai-compatible/m", "base-url": "http://127.0.0.1:9", "api-key": "sk-canary" };
  const { model, network } = await look("no-provider", flags);
  expect(model).toMatchObject({ status: "ok" });
  expect(network).toMatchObject({ status: "fail", found: expect.stringContaining("http://127.0.0.1:9") as string });
  expect(JSON.stringify([model, network])).not.toContain("sk-canary");
});

test(verifies("C43", "in the profile of cursor-agent its names of models mean what they mean to a run"), async () => {
  const { model, network } = await look("cursor", { model: "sonnet-4.5" }, { SHEAF_MODEL: "offline" }, cursorDialect);
  expect(model).toMatchObject({ status: "ok", found: "offline (from SHEAF_MODEL)" });
  expect(network).toMatchObject({ status: "ok", found: "not needed" });
});

test(verifies("S-41", "the providers with a key are listed with the place of each, never with a key"), async () => {
  const home = join(folder, "keys");
  mkdirSync(home);
  writeFileSync(join(home, "credentials.json"), JSON.stringify({ version: 1, keys: { anthropic: "sk-canary-1" } }), {
    mode: 0o600,
  });
  const headers = { authorization: "Bearer sk-canary-2" };
  const lab = { protocol: "openai-chat", baseUrl: "http://127.0.0.1:9", headers };
  writeFileSync(join(home, "config.json"), JSON.stringify({ endpoints: { lab } }));
  const results = await look("keys", {}, { GEMINI_API_KEY: "sk-canary-3" });
  for (const part of [
    "anthropic (sheaf login)",
    "google (GEMINI_API_KEY)",
    "lab (a header of your configuration)",
    join(home, "credentials.json"),
  ]) {
    expect(results.keys!.found).toContain(part);
  }
  expect(JSON.stringify(results)).not.toContain("canary");
});
