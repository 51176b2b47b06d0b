import { spawnSync } from "node:child_process";
import { describeWhere } from "./describe-where.ts";

/** Runs `body` where a program is installed; elsewhere one skipped test says so, and with CI=true it fails. */
export function describeWithProgram(program: string, body: () => void): void {
  const { error } = spawnSync(program, ["--version"]);
  describeWhere(program, error && `${program} is not installed: install its package`, body);
}
