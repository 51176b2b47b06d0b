import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { notLinux, skipIfMissing } from "../../../test/support/describe-where.ts";
import { verifies } from "../../../test/support/verifies.ts";

/** What a program of this folder prints. */
interface Printed {
  readonly options?: readonly string[];
  readonly inherited?: string;
  readonly inheritedThreads?: string;
  readonly threads?: number;
  readonly growth?: number;
}

/** Starts a program with these variables; gives its own words, and what the kernel says that it was started with. */
async function start(variables: Readonly<Record<string, string>>, program = "print-memory-in-process.ts") {
  const words = ["--conditions=sheaf-source", join(import.meta.dirname, program)];
  const env = { PATH: process.env.PATH, ...variables };
  const child = spawn(process.execPath, words, { env, stdio: ["pipe", "pipe", "inherit"] });
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  const variablesAtStart = readFileSync(`/proc/${child.pid}/environ`, "latin1").split("\0");
  child.stdin.end();
  await once(child, "close");
  return { ...(JSON.parse(first.toString()) as Printed), variablesAtStart };
}

test(
  verifies("S-40", "a program that runs for days starts itself with small memory; its children hear nothing of it"),
  async () => {
    skipIfMissing(notLinux);
    const { options, inherited, variablesAtStart } = await start({});
    expect(options).toEqual(["--max-semi-space-size=16", "--conditions=sheaf-source"]);
    expect(variablesAtStart).toContain("MALLOC_ARENA_MAX=2");
    expect(inherited).toBeUndefined();
  },
);

test(verifies(["S-40", "R-81"], "such a program has 32 threads for files, or as many as its user wants"), async () => {
  skipIfMissing(notLinux);
  const { threads, inheritedThreads } = await start({});
  expect(threads).toBeGreaterThan(32);
  expect(inheritedThreads).toBeUndefined();
  expect((await start({ UV_THREADPOOL_SIZE: "6" })).inheritedThreads).toBe("6");
});

test("what its user has chosen stays", async () => {
  skipIfMissing(notLinux);
  const heaps = await start({ MALLOC_ARENA_MAX: "7" });
  expect(heaps.options).toContain("--max-semi-space-size=16");
  expect(heaps.variablesAtStart).toContain("MALLOC_ARENA_MAX=7");
  expect(heaps.inherited).toBe("7");
  const nursery = await start({ NODE_OPTIONS: "--max-semi-space-size=32" });
  expect(nursery.options).toEqual(["--conditions=sheaf-source"]);
  expect(nursery.variablesAtStart.join(" ")).not.toContain("MALLOC_ARENA_MAX");
});

test("a run keeps the space for new objects as it is, unless its user chose a size", async () => {
  skipIfMissing(notLinux);
  const program = "print-nursery-in-process.ts";
  // The first collection adds the other half.
  expect((await start({}, program)).growth).toBeLessThanOrEqual(2);
  expect((await start({ NODE_OPTIONS: "--max-semi-space-size=32" }, program)).growth).toBeGreaterThan(4);
});
