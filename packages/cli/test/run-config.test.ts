/** Flags to the settings of a run. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseArguments } from "../src/arguments.ts";
import type { CommandIo } from "../src/io.ts";
import { toConfig } from "../src/run-config.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createMemoryPorts } from "../../../test/support/memory-ports.ts";
import { sheafDialect } from "../src/dialects/sheaf/sheaf.ts";
import { cursorDialect } from "../src/dialects/cursor/cursor.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-config-")));
afterAll(() => rmSync(folder, { recursive: true }));
for (const name of ["w", "more", "home"]) mkdirSync(join(folder, name));
writeFileSync(join(folder, "file"), "");

const io: CommandIo = {
  cwd: join(folder, "w"),
  environment: { HOME: join(folder, "home"), SHEAF_HOME: join(folder, "home") },
  dialect: sheafDialect,
  ...createMemoryPorts(),
};
const read = (words: readonly string[], changes: Partial<CommandIo> = {}) =>
  toConfig(parseArguments([...words, "go"]).flags, { ...io, ...changes });

describe("flags", () => {
  test("what nobody said has its default", () => {
    expect(read([])).toMatchObject({
      model: undefined,
      mode: "agent",
      workspace: join(folder, "w"),
      addedFolders: [],
      dataFolder: join(folder, "home"),
      storeFile: join(folder, "home", "sheaf.db"),
      limits: {},
      timeoutMs: undefined,
      heartbeatMs: undefined,
      stopsOnDenied: false,
      sandbox: "enabled",
      permissions: { force: false, allow: [], deny: [] },
    });
  });

  test.each([
    [["--model", "offline"], { model: "offline" }],
    [["--plan"], { mode: "plan" }],
    [["--mode", "ask"], { mode: "ask" }],
    [["--plan", "--mode=plan"], { mode: "plan" }],
    [["--workspace", "../more"], { workspace: join(folder, "more") }],
    [["--add-dir", "../more", "--add-dir=/x"], { addedFolders: [join(folder, "more"), "/x"] }],
    [["--timeout", "1.5"], { timeoutMs: 1500 }],
    [["--heartbeat", "0.05"], { heartbeatMs: 50 }],
    [["--max-turns", "3", "--max-tool-calls=4"], { limits: { maxTurns: 3, maxToolCalls: 4 } }],
    [["--max-tokens", "100"], { limits: { maxTokens: 100 } }],
    [["--on-denied", "stop"], { stopsOnDenied: true }],
    [["--sandbox", "disabled"], { sandbox: "disabled" }],
    [["--force"], { permissions: { force: true } }],
    [
      ["--allow", "Shell(a)", "--deny", "Read(b)", "--allow", "Shell(c)"],
      { permissions: { allow: ["Shell(a)", "Shell(c)"], deny: ["Read(b)"] } },
    ],
  ])("%j", (words, expected) => {
    expect(read(words)).toMatchObject(expected);
  });

  test.each([
    [["--mode", "wild"], "wild"],
    [["--plan", "--mode", "ask"], "--mode ask"],
    [["--workspace", "missing"], "missing"],
    [["--workspace", "../file"], "file"],
    [["--workspace="], "--workspace"],
    [["--timeout", "0"], '--timeout "0"'],
    [["--timeout", "9999999"], "2147483"],
    [["--heartbeat", "x"], '--heartbeat "x"'],
    [["--max-turns", "1.5"], '--max-turns "1.5"'],
    [["--max-turns", "-1"], '--max-turns "-1"'],
    [["--max-cost-usd", "free"], '--max-cost-usd "free"'],
    [["--on-denied", "cry"], '"cry"'],
    [["--sandbox", "half"], '"half"'],
  ])(verifies("C20", "%j is a usage error that names the value"), (words, value) => {
    expect(() => read(words)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(value) as string }),
    );
  });

  test(verifies("C30", "auto is the model of the user's settings, in the profile that knows it"), () => {
    const environment = { ...io.environment, SHEAF_MODEL: "offline" };
    expect(read(["--model", "auto"], { environment, dialect: cursorDialect }).model).toBe("offline");
    expect(read(["--model", "auto"], { environment }).model).toBe("auto");
  });

  test.each(["offline", "anthropic/no-such-model", "nowhere/x"])(
    verifies("C163", "a budget of money needs the price of %s"),
    async (name) => {
      await expect(read(["--model", name, "--max-cost-usd", "1"]).findPrices(0)).rejects.toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(name) as string }),
      );
    },
  );
});

describe("the user's configuration", () => {
  const home = join(folder, "configured");
  mkdirSync(home);
  const environment = { HOME: home, SHEAF_HOME: home, XDG_CONFIG_HOME: home };
  mkdirSync(join(home, "sheaf"));
  const settings = {
    model: "offline",
    budgets: { maxTurns: 7, timeout: 3 },
    permissions: { allow: ["Shell(x)"], deny: ["Shell(y)"] },
    prices: { offline: { input: 1, output: 2 } },
  };
  for (const file of [join(home, "config.json"), join(home, "sheaf", "config.json")]) {
    writeFileSync(file, JSON.stringify(settings));
  }

  test("counts where no flag says otherwise; rules add up", async () => {
    const config = read(["--max-turns", "2", "--allow", "Shell(z)"], { environment });
    expect(await config.findPrices(0)).toEqual(new Map([["offline", { input: 1, output: 2 }]]));
    expect(config).toMatchObject({
      model: "offline",
      limits: { maxTurns: 2 },
      timeoutMs: 3000,
      permissions: { allow: ["Shell(z)", "Shell(x)"], deny: ["Shell(y)"] },
    });
  });
});
