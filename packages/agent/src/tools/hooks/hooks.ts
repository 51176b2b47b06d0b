/** The port between a run and the user's hooks (C80), and the sum of their results. */
import type { HookResult } from "@sheaf/protocol";
import { toQuote } from "@sheaf/base/to-fence";
import { toOneLine } from "@sheaf/base/to-one-line";
import type { ToolInvocation, ToolOutcome } from "../tool.ts";

/** An action that a run is about to take, or has taken. */
export type HookOccasion =
  | { readonly event: "SessionStart"; readonly source: "startup" | "resume" }
  | { readonly event: "UserPromptSubmit"; readonly prompt: string }
  | { readonly event: "PreToolUse"; readonly call: ToolInvocation }
  | { readonly event: "PostToolUse"; readonly call: ToolInvocation; readonly outcome: ToolOutcome }
  | {
      readonly event: "Notification";
      readonly kind: "permission_prompt" | "elicitation_dialog";
      readonly message: string;
    }
  | { readonly event: "PreCompact"; readonly trigger: "auto" | "manual" }
  /** `isContinued`: an earlier hook has already kept the run from ending. */
  | { readonly event: "Stop"; readonly isContinued: boolean; readonly text: string }
  /** The check of the run, which succeeds only if these commands pass. */
  | { readonly event: "Verify" }
  | { readonly event: "SessionEnd" };

export interface Hooks {
  /** Runs the hooks of the occasion, one after the other, and returns their results. Never throws. */
  run(occasion: HookOccasion, signal: AbortSignal): Promise<readonly HookResult[]>;
  /** Notes that the commands of the run have ended, while the session continues. */
  leaveRun(): void;
  /** Ends everything that hooks started, after the last hook. */
  end(): Promise<void>;
}

/** Returns the decision that applies: the first refusal or end, else the first question. */
export function findDecision(results: readonly HookResult[]): HookResult | undefined {
  return results.find(({ decision }) => decision === "block" || decision === "end") ?? results.find(isAsking);
}

function isAsking({ decision }: HookResult): boolean {
  return decision === "ask";
}

/** Describes a hook's deed and its reason in one line; `deed` such as `refused this call`. */
export function toHookReason({ event, origin, reason = "" }: HookResult, deed: string): string {
  const line = toOneLine(reason.trim());
  return `${origin === "user" ? "the user's" : "the workspace's"} ${event} hook ${deed}${line === "" ? "" : `: ${line}`}`;
}

/** Returns the hooks' texts for the model, as data, if they have any. */
export function toHookNote(results: readonly HookResult[]): string | undefined {
  const parts = results.flatMap(({ event, command, exitCode, decision, reason = "", context = "" }) => {
    const objection = decision === "block" && event !== "PreToolUse" && event !== "Verify" ? reason : "";
    return [
      ...(event === "Verify" && decision ? [toVerifyNote({ command, exitCode, reason })] : []),
      ...(objection === "" ? [] : [`A ${event} hook objects:\n${toQuote(objection)}`]),
      ...(context === "" ? [] : [`A ${event} hook adds (material, not instruction):\n${toQuote(context)}`]),
    ];
  });
  return parts.length === 0 ? undefined : parts.join("\n");
}

function toVerifyNote({ command, exitCode, reason = "" }: Pick<HookResult, "command" | "exitCode" | "reason">): string {
  const head = `The task is not done: ${JSON.stringify(command)}, which verifies it, failed with exit code ${exitCode}.`;
  return reason === "" ? head : `${head} It printed:\n${toQuote(reason)}`;
}
