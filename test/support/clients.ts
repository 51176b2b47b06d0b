/** Programs and packages of others, at the versions of test/clients, as they come from the registry. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Missing } from "./describe-where.ts";

const run = promisify(execFile);
const source = join(import.meta.dirname, "../clients");
/** Optional packages are whole programs, which the tests replace. */
const flags = [
  "--ignore-scripts",
  "--omit=optional",
  "--legacy-peer-deps",
  "--no-audit",
  "--no-fund",
  "--fetch-retries=0",
];
const cache = join(import.meta.dirname, "../../node_modules/.clients");

/** Puts them into a folder. Describes why not, if no registry answers. */
export async function installClients(folder: string): Promise<Missing | undefined> {
  const lock = readFileSync(join(source, "package-lock.json"));
  const shared = join(cache, createHash("sha256").update(lock).digest("hex").slice(0, 16));
  try {
    await installOnce(shared);
  } catch (error) {
    return { reason: `the clients of others cannot be installed: ${String(error).split("\n", 1)[0]}` };
  }
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(source, name), join(folder, name));
  symlinkSync(join(shared, "node_modules"), join(folder, "node_modules"));
  return undefined;
}

/** The newest versions of packages, which no lock holds. Describes why not, if no registry answers. */
export async function installNewest(folder: string, names: readonly string[]): Promise<Missing | undefined> {
  try {
    const packages = names.map((name) => `${name}@latest`);
    await run("npm", ["install", ...flags, ...packages], { cwd: folder, timeout: 300_000 });
    return undefined;
  } catch (error) {
    // A registry that does not answer is no fault of a change.
    return { reason: `${names.join(" ")} cannot be installed: ${String(error).split("\n", 1)[0]}`, isOptional: true };
  }
}

/** Several test files ask for it at the same time: the first one installs, the others wait. */
async function installOnce(shared: string): Promise<void> {
  const building = `${shared}.building`;
  while (!existsSync(shared)) {
    mkdirSync(cache, { recursive: true });
    if (!tryMakeFolder(building)) {
      await sleep(200);
      continue;
    }
    try {
      for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(source, name), join(building, name));
      await run("npm", ["ci", ...flags], { cwd: building, timeout: 300_000 });
      renameSync(building, shared);
    } catch (error) {
      rmSync(building, { recursive: true, force: true });
      throw error;
    }
  }
}

function tryMakeFolder(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
