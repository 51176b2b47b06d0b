/** Whether the sandbox of commands works on this machine. */
import { spawnSync } from "node:child_process";
import { describeWhere } from "./describe-where.ts";

/** Runs `body` where bubblewrap can start; elsewhere one skipped test says so, and with CI=true a failing one. */
export function describeWithBubblewrap(title: string, body: () => void): void {
  const { status } = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "true"]);
  describeWhere(title, status === 0 ? undefined : "bubblewrap cannot start on this machine", body);
}
