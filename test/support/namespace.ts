/** Commands that run in their own mount namespace: small disks, read-only folders. */
import { spawnSync } from "node:child_process";
import { describeWhere } from "./describe-where.ts";
import { findMissing } from "./programs.ts";

/** Whether this machine can make one. */
function canUnshare(): boolean {
  return spawnSync("unshare", ["-rm", "true"]).status === 0;
}

/** Words before a command that first run `setup` (shell text) in a new mount namespace. */
export function toNamespaceWrapper(setup: string): string[] {
  return ["unshare", "-rm", "sh", "-c", `${setup} && exec "$@"`, "sh"];
}

/** Runs `body` if mount namespaces work; otherwise one skipped test shows that they do not, and with CI=true it fails. */
export function describeWithNamespaces(title: string, body: () => void): void {
  const problem = "there are no mount namespaces on this machine (unshare -rm fails)";
  describeWhere(title, canUnshare() ? undefined : findMissing("unshare", problem), body);
}
