/** Caches that nobody uses any more are removed (S-105). */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { removeOldCaches } from "../src/hold/old-caches.ts";
import { createTemporaryFolder } from "../../base/test/files/temporary-workspace.ts";

const day = 24 * 60 * 60 * 1000;
const now = 100 * day;

/** Folders by their names, used so many days ago. */
function createCaches(ages: Readonly<Record<string, number>>): string {
  const top = createTemporaryFolder();
  for (const [name, age] of Object.entries(ages)) {
    mkdirSync(join(top, name));
    const used = (now - age * day) / 1000;
    utimesSync(join(top, name), used, used);
  }
  return top;
}

async function listKept(ages: Readonly<Record<string, number>>, isFull = false): Promise<string[]> {
  const top = createCaches(ages);
  await removeOldCaches(join(top, "own"), now, () => isFull);
  return readdirSync(top);
}

test(verifies("S-105", "go after 30 days without use; those of this workspace stay"), async () => {
  expect(await listKept({ a: 29, b: 31, own: 90 })).toEqual(["a", "own"]);
  expect(await listKept({ b: 31 })).toEqual([]);
});

test(verifies("S-105", "stay if they are among the 20 latest"), async () => {
  const ages = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`c${10 + index}`, 2 + index / 10]));
  expect((await listKept(ages)).toSorted()).toEqual(Object.keys(ages).slice(0, 20));
});

test(verifies("S-105", "go where the disk is nearly full, unless they were used within a day"), async () => {
  expect(await listKept({ a: 0.9, b: 1.1, own: 3 }, true)).toEqual(["a", "own"]);
});

test(verifies("S-105", "are removed whole, read-only folders too, and no link is followed"), async () => {
  const top = createCaches({ own: 0, old: 0 });
  const kept = join(top, "own", "kept");
  writeFileSync(kept, "x");
  mkdirSync(join(top, "old/go-mod/x"), { recursive: true });
  writeFileSync(join(top, "old/go-mod/x/file"), "x");
  symlinkSync(join(top, "own"), join(top, "old/go-mod/x/link"));
  chmodSync(join(top, "old/go-mod/x"), 0o555);
  utimesSync(join(top, "old"), 0, 0);
  await removeOldCaches(join(top, "own"), now, () => false);
  expect(readdirSync(top)).toEqual(["own"]);
  expect(readFileSync(kept, "utf8")).toBe("x");
});

test(verifies("S-105", "go although a command made a path that is too long in one of them"), async () => {
  const top = createCaches({ a: 31, b: 31, own: 0 });
  const name = "d".repeat(200);
  execFileSync("/bin/sh", ["-c", `for i in $(seq 30); do mkdir ${name} && cd -P ${name} || exit 1; done; touch x`], {
    cwd: join(top, "a"),
  });
  utimesSync(join(top, "a"), 0, 0);
  await removeOldCaches(join(top, "own"), now, () => false);
  expect(readdirSync(top)).toEqual(["own"]);
});

test(verifies("S-105", "that an earlier end left half removed go the next time"), async () => {
  expect(await listKept({ ".removed-a": 0, b: 1 })).toEqual(["b"]);
  await removeOldCaches(join(tmpdir(), "sheaf-none/own"), now);
});
