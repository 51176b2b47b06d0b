/**
 * Lets root's commands write a workspace that belongs to another user, such as a checkout mounted into a container. In
 * a sandbox root has no rights over other users' files. CAP_DAC_OVERRIDE restores them, but only for users that the
 * sandbox knows: root and this owner.
 */
import type { ChildProcess } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";

export interface WorkspaceOwner {
  readonly uid: number;
  readonly gid: number;
  /** True if this process may enter a network namespace without its user namespace. */
  readonly canEnterNetwork: boolean;
}

/** Linux's numbers of capabilities. */
const capabilities = { setgid: 6, setuid: 7, sysAdmin: 21 } as const;

/**
 * Finds the owner. Undefined if root owns the workspace, or cannot act as its owner: then commands keep their rights.
 */
export function findWorkspaceOwner(workspace: string): WorkspaceOwner | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  try {
    const { uid, gid } = statSync(workspace);
    const isKnown = uid !== 0 && isMapped("/proc/self/uid_map", uid) && isMapped("/proc/self/gid_map", gid);
    if (!isKnown || !hasCapability(capabilities.setuid) || !hasCapability(capabilities.setgid)) return undefined;
    return { uid, gid, canEnterNetwork: hasCapability(capabilities.sysAdmin) };
  } catch {
    return undefined;
  }
}

/** Further arguments of bubblewrap, after the removal of all capabilities. It waits until its users are mapped. */
export function toOwnerWords(descriptors: { readonly info: number; readonly admission: number }): string[] {
  return [
    "--cap-add", "CAP_DAC_OVERRIDE", "--info-fd", String(descriptors.info),
    "--userns-block-fd", String(descriptors.admission),
  ]; // prettier-ignore
}

/** Maps the users of a sandbox that waits for them. If that fails, bubblewrap reports it and does not start. */
export function admitOwner(
  child: ChildProcess,
  owner: WorkspaceOwner,
  descriptors: { readonly info: number; readonly admission: number },
): void {
  const info = child.stdio[descriptors.info] as Readable | null;
  const admission = child.stdio[descriptors.admission] as Writable | null;
  info?.on("error", () => undefined);
  admission?.on("error", () => undefined);
  let text = "";
  info?.on("data", (chunk: Uint8Array) => {
    if (admission?.writableEnded) return;
    text += Buffer.from(chunk).toString("latin1");
    const [, pid] = /"child-pid": (\d+)/.exec(text) ?? [];
    if (pid === undefined) return;
    try {
      writeFileSync(`/proc/${pid}/uid_map`, toMap(owner.uid));
      writeFileSync(`/proc/${pid}/gid_map`, toMap(owner.gid));
    } catch {
      // Bubblewrap then fails by itself, because it cannot mount without users.
    }
    admission?.end("x");
  });
}

/** Maps each number to itself. */
function toMap(id: number): string {
  return [...new Set([0, id])].map((number) => `${number} ${number} 1\n`).join("");
}

/** True if this namespace knows a user or group number. */
function isMapped(file: string, id: number): boolean {
  const ranges = readFileSync(file, "latin1").trim().split("\n");
  return ranges.some((range) => {
    const [first = 0, , count = 0] = range.trim().split(/\s+/).map(Number);
    return id >= first && id < first + count;
  });
}

function hasCapability(number: number): boolean {
  const [, bits = "0"] = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
  return ((BigInt(`0x${bits}`) >> BigInt(number)) & 1n) === 1n;
}
