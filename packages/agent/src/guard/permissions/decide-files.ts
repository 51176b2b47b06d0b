/** Whether a file tool may run with these arguments. */
import { allow, deny, type CallPaths, type JudgedTool, type PermissionDecision } from "./decision.ts";
import type { Rule } from "./rule.ts";

interface FileCall {
  readonly tool: JudgedTool;
  /** Undefined: the call may read anything in the workspace. */
  readonly paths?: CallPaths | undefined;
}

/**
 * File tools may read and write inside the workspace, except what a rule denies. A file that must not be read must not
 * be edited or moved either, since the result would show it. What a call searches without naming it is left out of the
 * result (S-243). Of commands, those on the read-only list obey Read rules here; for all others the sandbox enforces both
 * kinds.
 */
export function decideFiles({ tool, paths }: FileCall, denies: readonly Rule[]): PermissionDecision {
  const named = paths ? [...paths.files, ...paths.folders] : [];
  for (const rule of denies) {
    if (rule.kind !== "Read" && !(rule.kind === "Write" && tool.access === "write")) continue;
    const path = named.find((candidate) => rule.glob.isCovering(candidate));
    if (path !== undefined) {
      const reason = `the rule ${rule.text} denies ${tool.name} on ${toShown(path)}: leave this file, and tell the user`;
      return deny(reason, rule.text);
    }
    if (!paths && rule.kind === "Read" && rule.glob.mayMatchBelow(".")) {
      const reason = `${tool.name} in "." could show a file that the rule ${rule.text} denies`;
      const advice = "name a folder that cannot contain one, or read files by name with read_file";
      return deny(`${reason}: ${advice}`, rule.text);
    }
  }
  return allow("file tools work inside the workspace");
}

/** A path of the model in one short line. */
function toShown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
