/** Remembers that the sandbox worked, since trying it costs about 50 ms at the start of every run. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { makeFolder } from "@sheaf/base/make-folder";
import { replaceFile } from "@sheaf/base/replace-file";

export interface ProbeMemory {
  /** True if the sandbox worked within the last hour, and the deciding files have not changed since. */
  readonly isKnown: boolean;
  /** Records that the sandbox works. */
  keep(): void;
}

/** Milliseconds. After this time Sheaf tries the sandbox again, since a change may not show in the files below. */
const maxAge = 60 * 60 * 1000;

/** Files that identify the machine, the container and the user, and that show whether namespaces are forbidden. */
const decidingFiles = [
  "/proc/sys/user/max_user_namespaces",
  "/proc/sys/kernel/unprivileged_userns_clone",
  "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
  "/proc/self/attr/current",
  "/proc/self/uid_map",
] as const;

/** The place where the result is stored. */
export interface ProbePlace {
  /** Sheaf's data folder. */
  readonly folder: string;
  /** True if Sheaf uses a stored result, but stores none. */
  readonly isReadOnly: boolean;
}

/**
 * Opens the memory of one sandbox program, `file`. Without a `place`, it stores no result. Failures are never stored.
 */
export function openProbeMemory(place: ProbePlace | undefined, file: string, now: number): ProbeMemory {
  if (place === undefined) return { isKnown: false, keep: () => undefined };
  const { folder, isReadOnly } = place;
  const path = join(folder, "sandbox-probe.json");
  const key = createKey(file);
  return {
    isKnown: isRemembered(path, key, now),
    keep() {
      if (isReadOnly) return;
      try {
        makeFolder(folder);
        replaceFile(path, JSON.stringify({ key, time: now }));
      } catch {
        // The next run tries again.
      }
    },
  };
}

function isRemembered(path: string, key: string, now: number): boolean {
  try {
    const found = JSON.parse(readFileSync(path, "utf8")) as { readonly key?: unknown; readonly time?: unknown };
    const age = now - Number(found.time);
    return found.key === key && age >= 0 && age < maxAge;
  } catch {
    return false;
  }
}

function createKey(file: string): string {
  const { mtimeMs, size, ino } = statSync(file);
  const status = readProbeFile("/proc/self/status")?.match(/^(Uid|CapBnd|NoNewPrivs|Seccomp):.*$/gm) ?? [];
  const facts = [file, mtimeMs, size, ino, release(), ...status, ...decidingFiles.map(readProbeFile)];
  return createHash("sha256").update(facts.join("\n")).digest("hex");
}

/** The text of a system file; undefined if it cannot be read. */
export function readProbeFile(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}
