/** A policy with the real reader of commands, for tests. */
import type { PermissionDecision, ToolAccess } from "../src/decision.ts";
import { createPermissions, type PermissionOptions, type Permissions } from "../src/permissions.ts";
import { listPaths } from "../../agent/src/tools/real-arguments.ts";
import { describeTool } from "../../agent/src/tools/registry.ts";

const folders = new Set([".", "src", "sub"]);

/** No flags, no sandbox, an untrusted workspace in which every path is a file but those folders. */
export function createPolicy(options: Partial<PermissionOptions> = {}): Permissions {
  return createPermissions({
    mode: "agent",
    home: "/h",
    force: false,
    allow: [],
    deny: [],
    sandbox: "disabled",
    trusted: false,
    root: "/w",
    findPlace: (path) =>
      path.startsWith("/") ? undefined : { kind: folders.has(path) ? "folder" : "file", relative: path },
    findGitObstacle: () => undefined,
    ...options,
  });
}

interface NamedCall {
  readonly toolName: string;
  readonly access: ToolAccess;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A call of a tool by its name, with the paths that the tool's description finds in it; an unknown tool has none. */
export function toRequest<Call extends NamedCall>({ toolName, access, ...call }: Call) {
  const tool = { ...describeTool(toolName), name: toolName, access };
  const paths = listPaths(tool, call.arguments);
  return { ...call, tool, paths: paths && { ...paths, root: "/w" } };
}

/** What the policy says of a command of the model. */
export function decideOn(command: unknown, options: Partial<PermissionOptions> = {}): Promise<PermissionDecision> {
  return createPolicy(options).decide(
    toRequest({ toolName: "run_terminal_cmd", access: "command", arguments: { command } }),
  );
}
