/** Whether a file tool may do what it is asked to. */
import type { ToolAccess } from "../tool-access.ts";
import { allow, deny, type PermissionDecision } from "./decision.ts";
import { toPaths } from "./paths.ts";
import type { FileRule, Rule } from "./rule.ts";

interface FileCall {
  readonly toolName: string;
  readonly access: ToolAccess;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * File tools may read and write inside the workspace, except what a rule denies. A file that must not be read must not
 * be edited or moved either: the result would show it. A search is refused if its folder could hold such a file.
 * Of commands, those of the closed list keep to Read rules; all others are held to both kinds by the sandbox alone.
 */
export function decideFiles(call: FileCall, denies: readonly Rule[]): PermissionDecision {
  const { files, folders } = toPaths(call.toolName, call.arguments);
  for (const rule of denies) {
    if (rule.kind !== "Read" && !(rule.kind === "Write" && call.access === "write")) continue;
    const path = files.find((file) => rule.glob.isCovering(file));
    if (path !== undefined) {
      const reason = `the rule ${rule.text} denies ${call.toolName} on ${toShown(path)}: leave this file, and tell the user`;
      return deny(reason, rule.text);
    }
    const folder = rule.kind === "Read" ? folders.find((candidate) => rule.glob.mayMatchBelow(candidate)) : undefined;
    if (folder !== undefined) return refuseFolder(call.toolName, rule, folder);
  }
  return allow("file tools work inside the workspace");
}

function refuseFolder(toolName: string, rule: FileRule, folder: string): PermissionDecision {
  const reason = `${toolName} in ${toShown(folder)} could show a file that the rule ${rule.text} denies`;
  const advice = "name a folder that cannot hold one, or read files by name with read_file";
  return deny(`${reason}: ${advice}`, rule.text);
}

/** A path of the model in one short line. */
function toShown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
