/** The first file that runs: old versions of Node, and what start-up loads. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const program = join(import.meta.dirname, "../../packages/cli/bin/sheaf.js");
const folders = createTestFolder();

test(verifies(["C20", "C21"], "an older Node is reported in one clear line, exit 2"), () => {
  const asOld = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(asOld)}`, program, "--version"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^sheaf: USAGE: Node\.js 20\.20\.2 is too old, Sheaf needs 24 or newer: [^\n]+\n$/);
});

test("the launcher parses on old versions of Node: it holds no newer syntax", () => {
  const text = readFileSync(program, "utf8");
  expect(text).not.toMatch(/\?\?=|\|\|=|&&=|#[a-z]+\(|\busing\b/);
});

test("--version loads neither zod nor SQLite nor a model", () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      "--expose-internals",
      "--trace-uncaught",
      "-e",
      `
      const { registerHooks } = require("node:module");
      const loaded = [];
      registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
      process.argv = [process.argv[0], ${JSON.stringify(program)}, "--version"];
      process.on("exit", () => process.stderr.write(JSON.stringify(loaded)));
      import(${JSON.stringify(program)});
    `,
    ],
    { encoding: "utf8", env: { PATH: process.env.PATH, SHEAF_HOME: folders.newFolder() } },
  );
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const loaded = JSON.parse(stderr) as string[];
  expect(loaded.some((url) => url.includes("/dist/cli/main.js"))).toBe(true);
  expect(loaded.filter((url) => /sqlite|prompt-|scripted-|offline-|schema-/.test(url))).toEqual([]);
});

test(verifies("C15", "a warning of Node about itself reaches nobody"), () => {
  const cwd = folders.newFolder({ "s.json": '{"turns":[{"events":[{"wait_ms":300},{"text":"x"}]}]}' });
  const warn = "setTimeout(() => process.emitWarning('SQLite is experimental', 'ExperimentalWarning'), 150)";
  const args = ["--import", `data:text/javascript,${encodeURIComponent(warn)}`, program, "-p", "go"];
  const { status, stderr } = spawnSync(process.execPath, [...args, "--model", "scripted:s.json"], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, SHEAF_HOME: join(cwd, "home") },
  });
  expect([status, stderr]).toEqual([0, ""]);
});
