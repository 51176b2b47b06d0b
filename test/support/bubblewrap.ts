/** Tests whose commands run in the sandbox. */
import { spawnSync } from "node:child_process";
import { describeWhere } from "./describe-where.ts";
import { findMissing } from "./programs.ts";

const words = ["--ro-bind", "/", "/", "--unshare-all", "true"];
const { status, stderr } = spawnSync("bwrap", words, { encoding: "utf8" });

/** Why no sandbox can start here; undefined if it can. */
export const missingBubblewrap =
  status === 0 ? undefined : findMissing("bwrap", `bubblewrap cannot start: ${stderr?.trim()}`);

/** Runs `body` if bubblewrap can start; otherwise one skipped test shows why not, and with CI=true it fails. */
export function describeWithBubblewrap(title: string, body: () => void): void {
  describeWhere(title, missingBubblewrap, body);
}
