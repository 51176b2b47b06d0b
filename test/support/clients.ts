/** Programs and packages of others, at the versions of test/clients, as they come from the registry. */
import { execFile } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Installs them into a folder. False where no registry is reached; with CI=true that is an error. */
export async function installClients(folder: string): Promise<boolean> {
  for (const name of ["package.json", "package-lock.json"]) {
    copyFileSync(join(import.meta.dirname, "../clients", name), join(folder, name));
  }
  try {
    const flags = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--fetch-retries=0"];
    await run("npm", ["ci", ...flags], { cwd: folder, timeout: 120_000 });
    return true;
  } catch (error) {
    if (process.env.CI === "true") throw error;
    return false;
  }
}
