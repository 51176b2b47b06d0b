/**
 * Whether a sandbox holds what its plan says. A command that runs while the next sandbox is made could move folders of
 * the workspace to and fro meanwhile, so that a mount lies elsewhere or leads elsewhere (S-30).
 */
import { readFileSync, statSync } from "node:fs";
import { readStat, toIdentity } from "./folder-memory.ts";
import type { Mount } from "./mounts.ts";

/** `pid`: a process of the sandbox that stands in the working directory. */
export function isHeldAsPlanned(pid: number, mounts: readonly Mount[], workingDirectory: string): boolean {
  try {
    const options = readMountOptions(pid);
    return (
      mounts.every((mount) => isInPlace(mount, pid, options.get(toField(mount.path)))) &&
      toIdentity(statSync(`/proc/${pid}/cwd`, { bigint: true })) ===
        toIdentity(statSync(workingDirectory, { bigint: true }))
    );
  } catch {
    return false;
  }
}

/** Of each place that something is mounted on, by the path that it has now. */
function readMountOptions(pid: number): ReadonlyMap<string, readonly string[]> {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8").trim().split("\n");
  return new Map(
    lines.map((line) => {
      const [, , , , path = "", options = ""] = line.split(" ");
      return [path, options.split(",")];
    }),
  );
}

function isInPlace({ path, access, source = path }: Mount, pid: number, options?: readonly string[]): boolean {
  if (!options || (access !== "writable" && !options.includes("ro"))) return false;
  if (access === "hidden-folder" || access === "hidden-file") return true;
  const [seen, meant] = [readStat(`/proc/${pid}/root${path}`), readStat(source)];
  return seen !== undefined && meant !== undefined && toIdentity(seen) === toIdentity(meant);
}

/** As `mountinfo` writes it. */
function toField(path: string): string {
  return path.replaceAll(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}
