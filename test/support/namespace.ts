/** Commands that run in their own mount namespace: small disks, read-only folders. */
import { spawnSync } from "node:child_process";
import { describeWhere } from "./describe-where.ts";

/** Whether this machine can make one. */
function canUnshare(): boolean {
  return spawnSync("unshare", ["-rm", "true"]).status === 0;
}

/** Words before a command that first run `setup` (shell text) in a new mount namespace. */
export function toNamespaceWrapper(setup: string): string[] {
  return ["unshare", "-rm", "sh", "-c", `${setup} && exec "$@"`, "sh"];
}

/** Runs `body` where mount namespaces work; elsewhere one skipped test says so, and with CI=true a failing one. */
export function describeWithNamespaces(title: string, body: () => void): void {
  describeWhere(title, canUnshare() ? undefined : "no mount namespaces on this machine (unshare -rm fails)", body);
}
