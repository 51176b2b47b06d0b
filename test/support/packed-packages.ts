/** Packages as npm publishes them. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** @throws Error with all of the output when the program fails. */
export function runProgram(
  command: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): string {
  const { stdout, stderr, status } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...environment },
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** What npm would publish of a folder of the repository, as an archive in `folder`. */
export function packPackage(source: string, folder: string): string {
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
  return join(folder, runProgram("npm", args, join(root, source)).trim());
}

/** Into `node_modules` of a folder, as npm would. */
export function unpackInto(folder: string, packages: Readonly<Record<string, string>>): void {
  for (const [name, source] of Object.entries(packages)) {
    const target = join(folder, "node_modules", name);
    mkdirSync(target, { recursive: true });
    runProgram("tar", ["-xzf", packPackage(source, folder), "--strip-components=1", "-C", target], folder);
  }
}
