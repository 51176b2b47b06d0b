/** What rules forbid to read is not shown to clients either (X28, X31, X32). */
import { readWorkspaceDenials } from "@sheaf/agent/config/workspace-rules";
import { parseRule } from "@sheaf/agent/guard/permissions/rule";
import type { ServerSettings } from "./server-context.ts";

/** `absolute`: of a relative path, for rules that name one. */
export type IsHidden = (path: string, absolute?: string) => boolean;

/** What the rules of the operator, and of a trusted workspace, hide from the model, they hide from clients. */
export function createDenials({ permissions, isTrusted }: ServerSettings): (root: string) => IsHidden {
  return (root) => {
    const rules = [...permissions.deny, ...(isTrusted(root) ? readWorkspaceDenials(root) : [])].map(parseRule);
    const globs = rules.flatMap((rule) => (rule.kind === "Read" ? [rule.glob] : []));
    const rooted = globs.filter(({ isAnyDepth }) => !isAnyDepth);
    return (path, absolute) =>
      globs.some((glob) => glob.isCovering(path)) ||
      (absolute !== undefined && rooted.some((glob) => glob.isCovering(absolute)));
  };
}
