/** Hides from clients the files that rules hide from the model (X28, X31, X32). */
import { readWorkspaceDenials } from "@sheaf/agent/config/workspace-rules";
import { createLeftOut } from "@sheaf/agent/tools/left-out";
import { toGitHome } from "@sheaf/base/git/git-config";
import { createWorkspace, type LeftOut } from "@sheaf/base/files/workspace";
import { createRuleParser } from "@sheaf/permissions/rule";
import type { ServerSettings } from "./server-context.ts";

/** Returns the files that rules of the operator, and of a trusted workspace, deny to the model and to clients. */
export function createDenials(settings: ServerSettings): (root: string) => LeftOut | undefined {
  const { permissions, isTrusted, environment } = settings;
  const parse = createRuleParser(toGitHome(environment));
  return (root) => {
    const rules = [...permissions.deny, ...(isTrusted(root) ? readWorkspaceDenials(root) : [])].map(parse);
    const globs = rules.flatMap((rule) => (rule.kind === "Read" ? [rule.glob.in(root)] : []));
    return createLeftOut(globs, { root, resolve: (path) => createWorkspace(root).resolve(path) }, false);
  };
}
