/** Runs the user's hooks at the moments of a run other than its calls (C80). */
import type { HookResult, RunEnd, RunEventBody, RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { toPrefix } from "@sheaf/base/files/text-format";
import { toOneLine } from "@sheaf/base/to-one-line";
import { findDecision, type HookOccasion, type Hooks, toHookNote, toHookReason } from "../tools/hooks/hooks.ts";
import type { EventGroup } from "./run-log.ts";
import { toAbortReason, toRunFailure } from "./run-failure.ts";

/** Number of times in a row that hooks may keep a run from ending. */
const MAX_CONTINUED = 5;

/** The place of a run in its session. */
export interface HookMoments {
  /** Set if the session starts with this run; undefined if an earlier run started it. */
  readonly begins?: "startup" | "resume" | undefined;
  /** The session ends with this run. */
  readonly ends?: boolean | undefined;
  /** Rounds in which failed commands send the model back to work; undefined: no command verifies the run (C168). */
  readonly verifyRounds?: number | undefined;
}

/** The end of a run, as far as the model is concerned. */
interface ModelEnd {
  readonly end: RunEnd;
  /** Text of the last turn. */
  readonly text: string;
  /** The budget has another turn. */
  readonly mayContinue: boolean;
}

export interface RunHooks {
  push(event: RunEventBody): void;
  /** The note that a hook left for the model at the end of the last turn. */
  takeNote(): string | undefined;
  /** The end that a hook set for the run; undefined if no hook did. */
  readonly end: RunEnd | undefined;
  /** Runs the hooks after `run_start`. Returns the end of the run, or undefined if it continues. */
  atStart(start: RunStart, signal: AbortSignal): AsyncGenerator<EventGroup, RunEnd | undefined>;
  /** Runs the hooks after a user's message. Returns the result of the hook that refused it, or undefined. */
  atMessage(message: string, signal: AbortSignal): AsyncGenerator<EventGroup, HookResult | undefined>;
  /** Runs the hooks once the model is done. Returns undefined if they, or a failed command, send it back to work. */
  atStop(done: ModelEnd, signal: AbortSignal): AsyncGenerator<EventGroup, RunEnd | undefined>;
  /** Runs the hooks at the end of a run: for an open question of the agent, and for the end of the session. */
  atEnd(end: RunEnd, signal: AbortSignal): AsyncGenerator<EventGroup>;
}

export function createRunHooks(hooks: Hooks | undefined, moments: HookMoments = {}): RunHooks {
  let note: string | undefined;
  let end: RunEnd | undefined;
  let continued = 0;
  let rounds = 0;
  let hasFailed = false;

  async function* run(occasion: HookOccasion, signal: AbortSignal): AsyncGenerator<EventGroup, readonly HookResult[]> {
    const results = hooks ? await hooks.run(occasion, signal) : [];
    if (results.length > 0) yield { events: results, durability: "grouped" };
    return results;
  }

  async function* atMessage(prompt: string, signal: AbortSignal): AsyncGenerator<EventGroup, HookResult | undefined> {
    if (prompt !== "") return findDecision(yield* run({ event: "UserPromptSubmit", prompt }, signal));
    return undefined;
  }

  return {
    push(event) {
      if (event.type === "tool_call_start") continued = 0;
      // Counted from the log, so that a response that another process continues has no more rounds (R-40).
      if (event.type === "turn_start" && hasFailed) {
        rounds += 1;
        hasFailed = false;
      }
      if (event.type !== "hook_result") return;
      if (event.decision === "end") end ??= toEnd(event);
      if (event.event === "Verify" && event.decision) hasFailed = true;
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
      if (end || shortens) return end;
      const refused = yield* atMessage(prompt, signal);
      return refused && toEnd(refused);
    },
    atMessage,
    async *atStop({ end: found, text, mayContinue }, signal) {
      const isContinued = continued > 0;
      const { verifyRounds } = moments;
      const stops = yield* run({ event: "Stop", isContinued, text }, signal);
      const verified = verifyRounds === undefined ? [] : yield* run({ event: "Verify" }, signal);
      if (signal.aborted) return toRunFailure(toAbortReason(signal));
      const stop = findDecision(stops);
      const objection = stop?.decision === "block" ? stop : undefined;
      const failed = verified.filter(({ decision }) => decision !== undefined);
      if (!objection && failed.length === 0) return found;
      // The model cannot mend a command that does not start.
      const mayRepair =
        failed.length === 0 || (rounds < verifyRounds! && failed.every(({ exitCode }) => exitCode !== -1));
      if (mayContinue && mayRepair && (!objection || continued < MAX_CONTINUED)) {
        continued += objection ? 1 : 0;
        note = toHookNote([...stops, ...verified]);
        return undefined;
      }
      const message = failed[0] ? toVerifyFailure(failed[0], rounds) : toHookReason(objection!, "still objects");
      const failure = toRunFailure(new SheafError("VERIFY_FAILED", message, { source: "user" }));
      return "output" in found ? { ...failure, output: found.output } : failure;
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

/** The end of a run that a hook ended, or whose prompt it refused. */
function toEnd(result: HookResult): RunEnd {
  const reason = toHookReason(result, result.decision === "end" ? "ended the run" : "refused the prompt");
  const message = result.status === "failed" ? `${reason} (run sheaf hooks test ${result.event} to see it)` : reason;
  return toRunFailure(new SheafError("PERMISSION_REQUIRED", message, { source: "user" }));
}

/** Characters of a command or its output in a message. */
const MAX_SHOWN = 200;

function toVerifyFailure({ command, exitCode, status, reason = "" }: HookResult, rounds: number): string {
  const last = toOneLine(reason.trim()).slice(-MAX_SHOWN);
  const code = status === "failed" ? "" : ` with exit code ${exitCode}`;
  const tried = rounds === 0 ? "" : ` after ${rounds} ${rounds === 1 ? "round" : "rounds"} of repair`;
  const name = JSON.stringify(toPrefix(command, MAX_SHOWN));
  return `${name}, which verifies the run, failed${code}${tried}${last === "" ? "" : `: ${last}`}`;
}
