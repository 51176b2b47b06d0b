/** The user's hooks before the calls of a turn (C80): each may refuse its call, change it, or have a person asked. */
import type { HookResult } from "@sheaf/protocol";
import { findDecision, type Hooks, toHookNote, toHookReason } from "../tools/hooks/hooks.ts";
import type { ToolInvocation, ToolOutcome } from "../tools/tool.ts";
import type { EventGroup } from "./run-log.ts";

/** A call as it goes on: rules and people judge what the hooks made of it (S-137). */
export interface HookedCall {
  readonly call: ToolInvocation;
  /** It does not run. */
  readonly refusal?: ToolOutcome | undefined;
  /** For the model, after the result. */
  readonly note?: string | undefined;
}

/** Yields what the hooks did. They run in the order of the calls, before a person is asked and before the first call runs. */
export async function* runHooksBefore(
  calls: readonly ToolInvocation[],
  hooks: Hooks | undefined,
  signal: AbortSignal,
): AsyncGenerator<EventGroup, readonly HookedCall[]> {
  const judged: HookedCall[] = [];
  for (const call of calls) {
    // Arguments that are not JSON cannot be judged by a hook, and the call does not run.
    const results =
      hooks && call.rawArguments === undefined ? await hooks.run({ event: "PreToolUse", call }, signal) : [];
    if (results.length > 0) yield { events: results, durability: "grouped" };
    judged.push(toHookedCall(call, results));
  }
  return judged;
}

function toHookedCall(call: ToolInvocation, results: readonly HookResult[]): HookedCall {
  const decided = findDecision(results);
  const note = toHookNote(results);
  if (decided && decided.decision !== "ask") {
    const error = { code: "PERMISSION_DENIED", message: toHookReason(decided, "refused this call"), details: "" };
    return { call, refusal: { status: "rejected", output: "", error, ...(note !== undefined && { note }) } };
  }
  const args = results.findLast((result) => result.arguments)?.arguments;
  const { callId, toolName } = call;
  const changed = args ? { callId, toolName, arguments: args } : call;
  const told = args ? `A hook changed the arguments of this call; it ran with ${JSON.stringify(args)}.` : undefined;
  return {
    call: decided ? { ...changed, askReason: toHookReason(decided, "wants a person to agree") } : changed,
    note: joinNotes(told, note),
  };
}

/** One under the other; undefined: neither. */
export function joinNotes(...notes: readonly (string | undefined)[]): string | undefined {
  const lines = notes.filter((note) => note !== undefined && note !== "");
  return lines.length === 0 ? undefined : lines.join("\n");
}
