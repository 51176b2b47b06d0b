/** A policy with the real reader of commands, for tests. */
import type { PermissionDecision } from "../../../src/guard/permissions/decision.ts";
import {
  createPermissions,
  type PermissionOptions,
  type Permissions,
} from "../../../src/guard/permissions/permissions.ts";

const folders = new Set([".", "src", "sub"]);

/** No flags, no sandbox, an untrusted workspace in which every path is a file but those folders. */
export function createPolicy(options: Partial<PermissionOptions> = {}): Permissions {
  return createPermissions({
    mode: "agent",
    force: false,
    allow: [],
    deny: [],
    sandbox: "disabled",
    trusted: false,
    findPlace: (path) =>
      path.startsWith("/") ? undefined : { kind: folders.has(path) ? "folder" : "file", relative: path },
    findGitObstacle: () => undefined,
    ...options,
  });
}

/** What the policy says of a command of the model. */
export function decideOn(command: unknown, options: Partial<PermissionOptions> = {}): Promise<PermissionDecision> {
  return createPolicy(options).decide({
    toolName: "run_terminal_cmd",
    access: "command",
    arguments: { command },
  });
}
