/** Commands that run in a mount namespace of their own: small disks, read-only folders. */
import { spawnSync } from "node:child_process";
import { describe, test } from "vitest";

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
  describe(title, () => {
    if (canUnshare()) return body();
    const message = "no mount namespaces on this machine (unshare -rm fails)";
    if (process.env.CI === "true") {
      test(message, () => {
        throw new Error(message);
      });
    } else {
      test.skip(`SKIPPED: ${message}`, () => undefined);
    }
  });
}
