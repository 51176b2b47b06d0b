/** What rules forbid to read is not shown to clients either (X28, X31, X32). */
import { readWorkspaceDenials } from "@sheaf/agent/config/workspace-rules";
import { toGitHome } from "@sheaf/base/git/git-config";
import { createRuleParser } from "@sheaf/permissions/rule";
import type { ServerSettings } from "./server-context.ts";

/** Takes a path in a workspace, or an absolute path. */
export type IsHidden = (path: string) => boolean;

/** What the rules of the operator, and of a trusted workspace, hide from the model, they hide from clients. */
export function createDenials({ permissions, isTrusted, environment }: ServerSettings): (root: string) => IsHidden {
  const parse = createRuleParser(toGitHome(environment));
  return (root) => {
    const rules = [...permissions.deny, ...(isTrusted(root) ? readWorkspaceDenials(root) : [])].map(parse);
    const globs = rules.flatMap((rule) => (rule.kind === "Read" ? [rule.glob.in(root)] : []));
    return (path) => globs.some((glob) => glob.isCovering(path));
  };
}
