/** Ends a run whose commands were all refused because no sandbox works: its answer came without them (S-31). */
import type { OwnEventBody, RunEnd, RunEventBody } from "@sheaf/protocol";
import { SheafError } from "../base/errors.ts";
import { toRunFailure } from "./run-failure.ts";

export interface RefusedCommands {
  /** Takes every event of the run, those of its subagents too. */
  push(event: RunEventBody): void;
  /** How a run ends that would end in this way. An answer stays what it is. */
  toEnd(end: RunEnd): RunEnd;
}

export function createRefusedCommands(): RefusedCommands {
  let reason: string | undefined;
  let hasRun = false;
  const pushOwn = (event: OwnEventBody): void => {
    if (event.type !== "tool_result") return;
    if (event.lacks === "sandbox") reason ??= event.error?.message;
    // A run that goes on elsewhere may find a sandbox there.
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
