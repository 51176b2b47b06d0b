/** Runs programs of tests as a user without rights, from copies that this user may read. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export const user = 4711;

/** Copies Node and the sources into a folder. Returns the words that start a program there, which imports `./ROOM/…`. */
export function copySources(top: string): string[] {
  chmodSync(top, 0o755);
  for (const room of ["sandbox", "base", "permissions"]) {
    const from = join(import.meta.dirname, "../..", room);
    for (const part of ["src", "package.json"]) cpSync(join(from, part), join(top, room, part), { recursive: true });
  }
  cpSync(join(import.meta.dirname, "run-command.ts"), join(top, "sandbox/test/run-command.ts"));
  mkdirSync(join(top, "node_modules/@sheaf"), { recursive: true });
  for (const room of ["base", "permissions"])
    if (!existsSync(join(top, "node_modules/@sheaf", room)))
      symlinkSync(join("../..", room), join(top, "node_modules/@sheaf", room));
  cpSync(process.execPath, join(top, "node"));
  const ignore = dirname(createRequire(import.meta.url).resolve("ignore"));
  cpSync(ignore, join(top, "node_modules/ignore"), { recursive: true });
  const node = [join(top, "node"), "--conditions=sheaf-source", "--input-type=module-typescript", "-e"];
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", ...node];
}

export function giveToUser(folder: string): void {
  spawnSync("chown", ["-R", `${user}:${user}`, folder]);
}
