/** Checks the user's choice of a sandbox, `--sandbox`, against this machine (S-254). */
import { SheafError } from "@sheaf/base/errors";
import type { SandboxSetting } from "../sandbox.ts";
import { readProbeFile } from "./probe-memory.ts";

/** Values of `--sandbox`. */
export const sandboxChoices = ["enabled", "disabled", "container", "container=root"] as const;

export type SandboxChoice = (typeof sandboxChoices)[number];

interface Machine {
  /** Number of the user; undefined on systems without such numbers. */
  readonly userId: number | undefined;
  /** The text of a system file; undefined if it does not exist. */
  readonly read: (path: string) => string | undefined;
}

const thisMachine: Machine = { userId: process.getuid?.(), read: readProbeFile };

/** The way out for a machine without a sandbox, without a full stop. */
export function adviseOnContainer({ userId, read } = thisMachine): string {
  const choice: SandboxChoice = userId === 0 && !isContainer(read) ? "container=root" : "container";
  return `pass --sandbox ${choice} if this machine is a container that you throw away`;
}

/** @throws SheafError USAGE for `container` as root on a machine that shows no sign of a container. */
export function chooseSandbox(choice: SandboxChoice, { userId, read } = thisMachine): SandboxSetting {
  if (choice === "container=root") return "container";
  if (choice !== "container" || userId !== 0 || isContainer(read)) return choice;
  const signs = "/.dockerenv, /run/.containerenv, an overlay as root folder";
  throw new SheafError(
    "USAGE",
    `--sandbox container as root needs a container, and this machine shows no sign of one (${signs}): if you throw the machine away, pass --sandbox container=root`,
  );
}

/** True for an engine's file or overlay. Some containers have neither, so that root must choose `container=root`. */
function isContainer(read: Machine["read"]): boolean {
  const hasFile = ["/.dockerenv", "/run/.containerenv"].some((file) => read(file) !== undefined);
  return hasFile || /^(?:\S+ ){4}\/ .* - (?:fuse\.fuse-)?overlay(?:fs)? /m.test(read("/proc/self/mountinfo") ?? "");
}
