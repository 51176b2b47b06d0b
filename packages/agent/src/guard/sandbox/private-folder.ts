/** The folder of a run whose parts its commands see as `/tmp` and shared memory, and nobody else (S-30). */
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mount } from "./mounts.ts";

export interface PrivateFolder {
  /** For the places that a command writes beside the workspace. */
  readonly mounts: readonly Mount[];
  remove(): void;
}

/** Makes it, for this user only (0700, a random name), and removes those of processes that were killed. */
export function createPrivateFolder(): PrivateFolder {
  removeOrphans();
  const path = mkdtempSync(join(tmpdir(), toRunPrefix()));
  const toMount = (name: string, place: string): Mount => {
    mkdirSync(join(path, name));
    return { path: place, access: "writable", source: join(path, name) };
  };
  return {
    mounts: [toMount("tmp", "/tmp"), toMount("var-tmp", "/var/tmp"), toMount("shm", "/dev/shm")],
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** How the name of every folder begins that this process makes for itself: a later one removes it if this one cannot. */
export function toRunPrefix(): string {
  return `${toNamespacePrefix()}${process.pid}-`;
}

function removeOrphans(): void {
  const prefix = toNamespacePrefix();
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix) || isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Of another user.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Containers may share `/tmp` and count their processes apart. */
function toNamespacePrefix(): string {
  try {
    return `sheaf-run-${/\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0"}-`;
  } catch {
    return "sheaf-run-0-";
  }
}
