/** What a program executes and opens, seen from outside. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describeWhere } from "./describe-where.ts";
import { findMissing } from "./programs.ts";

/** Words before a command that note its calls, and those of its children, in a file. */
export function toStraceWrapper(file: string): string[] {
  return ["strace", "-f", "-qq", "-y", "-s", "4096", "-e", "trace=execve,execveat,open,openat,openat2", "-o", file];
}

/** Paths that were executed, and paths that were opened with success, as the program wrote them; in open folders real ones. */
export function readTrace(file: string): { readonly executed: string[]; readonly opened: string[] } {
  const executed: string[] = [];
  const opened: string[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    // A path below an open folder (a number in front) is not relative to the folder that the program is in.
    const call = /^\d+ +(execve|execveat|open|openat2?)\((?:AT_FDCWD(?:<[^>]*>)?, )?"((?:[^"\\]|\\.)*)"/.exec(line);
    if (!call) continue;
    const [, name = "", path = ""] = call;
    if (name.startsWith("exec")) {
      executed.push(path);
      continue;
    }
    const [, result] = / = \d+<([^>]*)>/.exec(line) ?? [];
    if (result !== undefined) opened.push(path.startsWith("/proc/self/fd/") ? result : path);
  }
  return { executed, opened };
}

/** Runs `body` if strace works; otherwise one skipped test shows that it does not, and with CI=true it fails. */
export function describeWithStrace(title: string, body: () => void): void {
  const { status } = spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]);
  describeWhere(title, status === 0 ? undefined : findMissing("strace", "strace does not work on this machine"), body);
}
