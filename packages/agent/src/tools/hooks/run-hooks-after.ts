/** The user's hooks after a call that has succeeded (C80). */
import type { HookResult } from "@sheaf/protocol";
import { followEdit } from "../after-edit.ts";
import type { ToolContext, ToolInvocation, ToolReturn } from "../tool.ts";
import type { Hooks } from "./hooks.ts";

/** A hook that formats the file is no surprise to the next edit, and a revert undoes both (S-96). */
export async function runHooksAfter(
  outcome: ToolReturn,
  call: ToolInvocation,
  hooks: Hooks | undefined,
  context: ToolContext,
): Promise<ToolReturn> {
  if (!hooks || outcome.status !== "success") return outcome;
  let results: readonly HookResult[] = [];
  const followed = await followEdit(outcome, context, async () => {
    results = await hooks.run({ event: "PostToolUse", call, outcome }, context.signal);
    return [];
  });
  return results.length === 0 ? outcome : { ...outcome, ...followed, hooks: results };
}
