/** The user's hooks at the moments of a run that are no calls (C80). */
import type { HookResult, RunEnd, RunEventBody, RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { findDecision, type HookOccasion, type Hooks, toHookNote, toHookReason } from "../tools/hooks/hooks.ts";
import type { EventGroup } from "./run-log.ts";
import { toRunFailure } from "./run-failure.ts";

/** How often in a row hooks may keep a run from ending. */
const MAX_CONTINUED = 5;

/** What a run is of its session. */
export interface HookMoments {
  /** The session begins with this run; undefined: an earlier run began it. */
  readonly begins?: "startup" | "resume" | undefined;
  /** The session ends with this run. */
  readonly ends?: boolean | undefined;
}

export interface RunHooks {
  push(event: RunEventBody): void;
  /** What a hook told the model at the end of the last turn. */
  takeNote(): string | undefined;
  /** How a hook has ended the run; undefined: none has. */
  readonly end: RunEnd | undefined;
  /** After `run_start`. How the run ends with it; undefined: it goes on. */
  atStart(start: RunStart, signal: AbortSignal): AsyncGenerator<EventGroup, RunEnd | undefined>;
  /** The model is done. Undefined: a hook wants it to go on. */
  atStop(end: RunEnd, text: string, signal: AbortSignal): AsyncGenerator<EventGroup, RunEnd | undefined>;
  /** The run ends: a question of the agent wants to be known, and so does the end of the session. */
  atEnd(end: RunEnd, signal: AbortSignal): AsyncGenerator<EventGroup>;
}

export function createRunHooks(hooks: Hooks | undefined, moments: HookMoments = {}): RunHooks {
  let note: string | undefined;
  let end: RunEnd | undefined;
  let continued = 0;

  async function* run(occasion: HookOccasion, signal: AbortSignal): AsyncGenerator<EventGroup, readonly HookResult[]> {
    const results = hooks ? await hooks.run(occasion, signal) : [];
    if (results.length > 0) yield { events: results, durability: "grouped" };
    return results;
  }

  return {
    push(event) {
      if (event.type === "tool_call_start") continued = 0;
      if (event.type === "hook_result" && event.decision === "end") end ??= toEnd(event);
    },
    takeNote() {
      const taken = note;
      note = undefined;
      return taken;
    },
    get end() {
      return end;
    },
    async *atStart({ prompt, shortens }, signal) {
      const { begins } = moments;
      if (begins !== undefined) yield* run({ event: "SessionStart", source: begins }, signal);
      if (end || shortens || prompt === "") return end;
      const refused = findDecision(yield* run({ event: "UserPromptSubmit", prompt }, signal));
      return refused && toEnd(refused);
    },
    async *atStop(found, text, signal) {
      const isContinued = continued > 0;
      const results = yield* run({ event: "Stop", isContinued, text }, signal);
      if (findDecision(results)?.decision !== "block" || continued >= MAX_CONTINUED) return found;
      continued += 1;
      note = toHookNote(results);
      return undefined;
    },
    async *atEnd({ reason }, signal) {
      // The last line of a cancelled run must be written within a second (C23).
      if (signal.aborted) return;
      const message = "Sheaf has a question for you";
      if (reason === "clarification")
        yield* run({ event: "Notification", kind: "elicitation_dialog", message }, signal);
      if (moments.ends) yield* run({ event: "SessionEnd" }, signal);
    },
  };
}

/** By which a hook ends the run. */
function toEnd(result: HookResult): RunEnd {
  const message = toHookReason(result, result.decision === "end" ? "ended the run" : "refused the prompt");
  return toRunFailure(new SheafError("PERMISSION_REQUIRED", message, { source: "user" }));
}
