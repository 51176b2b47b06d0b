/** Fails a run if Sheaf refused all its commands because no sandbox works (S-31). */
import type { OwnEventBody, RunEnd, RunEventBody } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { toRunFailure } from "./run-failure.ts";

export interface RefusedCommands {
  /** Takes every event of the run, including the events of its subagents. */
  push(event: RunEventBody): void;
  /** Replaces the end of a run by the failure, if there is one. The answer stays. */
  toEnd(end: RunEnd): RunEnd;
}

export function createRefusedCommands(): RefusedCommands {
  let reason: string | undefined;
  let hasRun = false;
  const pushOwn = (event: OwnEventBody): void => {
    if (event.type !== "tool_result") return;
    if (event.lacks === "sandbox") reason ??= event.error?.message;
    // A run that another machine continues may find a sandbox there.
    if (event.effect?.kind === "command" && event.status !== "rejected") hasRun = true;
  };
  return {
    push: (event) => pushOwn(event.type === "agent_event" ? event.event : event),
    toEnd(end) {
      if (end.reason !== "end_turn" || hasRun || reason === undefined) return end;
      const failure = toRunFailure(new SheafError("SANDBOX_UNAVAILABLE", reason, { source: "sandbox" }));
      return "output" in end ? { ...failure, output: end.output } : failure;
    },
  };
}
