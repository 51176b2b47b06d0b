/** What rules forbid to read is not shown to clients either (X28, X31, X32). */
import { readWorkspaceDenials } from "@sheaf/agent/config/workspace-rules";
import { createLeftOut } from "@sheaf/agent/tools/left-out";
import { toGitHome } from "@sheaf/base/git/git-config";
import { createWorkspace, type LeftOut } from "@sheaf/base/files/workspace";
import { createRuleParser } from "@sheaf/permissions/rule";
import type { ServerSettings } from "./server-context.ts";

/** What the rules of the operator, and of a trusted workspace, hide from the model, they hide from clients. */
export function createDenials(settings: ServerSettings): (root: string) => LeftOut | undefined {
  const { permissions, isTrusted, environment } = settings;
  const parse = createRuleParser(toGitHome(environment));
  return (root) => {
    const rules = [...permissions.deny, ...(isTrusted(root) ? readWorkspaceDenials(root) : [])].map(parse);
    const globs = rules.flatMap((rule) => (rule.kind === "Read" ? [rule.glob.in(root)] : []));
    return createLeftOut(globs, { root, resolve: (path) => createWorkspace(root).resolve(path) }, false);
  };
}
