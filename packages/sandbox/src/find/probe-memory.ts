/** Remembers that the sandbox worked: trying it takes about 50 ms, and every run would begin with that. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { makeFolder } from "@sheaf/base/make-folder";
import { replaceFile } from "@sheaf/base/replace-file";

export interface ProbeMemory {
  /** The sandbox worked within the last hour, and nothing that decides it has changed since. */
  readonly isKnown: boolean;
  /** Records that the sandbox works. */
  keep(): void;
}

/** Milliseconds. A change that none of the files below shows is noticed after this time. */
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
  /** A stored result counts, but nothing is written. */
  readonly isReadOnly: boolean;
}

/** `place` undefined: nothing is stored. `file`: the sandbox program. Failures are never stored. */
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
