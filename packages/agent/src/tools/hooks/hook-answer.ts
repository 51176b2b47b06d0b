/** Reads the answer of a hook: its exit code, or JSON on its standard output, as in Claude Code (C83). */
import type { HookEventName, HookResult } from "@sheaf/protocol";
import { listProblems, parseJson } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import type { CommandOutcome } from "@sheaf/sandbox/command";
import { findSignal } from "@sheaf/sandbox/follow/sandbox-status";
import { cutMiddle } from "@sheaf/base/files/text-format";
import { foldControls } from "../../workspace/whole-output.ts";
import { fromToolInput } from "./hook-input.ts";

/** UTF-16 units that the model sees of one hook. */
const MAX_CONTEXT = 10_000;
/** UTF-16 units that the user sees of one hook. */
const MAX_MESSAGE = 2000;

/** The exit code by which a hook refuses. */
const blockCode = 2;

/** Fields that mean the same as in Claude Code; Sheaf ignores others. */
const answerFields = s.open(
  s.object({
    continue: s.optional(s.boolean()),
    stopReason: s.optional(s.string()),
    systemMessage: s.optional(s.string()),
    decision: s.optional(s.choice(["approve", "block"])),
    reason: s.optional(s.string()),
    hookSpecificOutput: s.optional(
      s.open(
        s.object({
          hookEventName: s.optional(s.string()),
          permissionDecision: s.optional(s.choice(["allow", "deny", "ask"])),
          permissionDecisionReason: s.optional(s.string()),
          updatedInput: s.optional(s.record(s.anything())),
          additionalContext: s.optional(s.string()),
        }),
      ),
    ),
  }),
);

type Answer = s.ValueOf<typeof answerFields>;

/** The part of a hook's result that its answer decides. */
export interface HookAnswer extends Pick<
  HookResult,
  "status" | "decision" | "reason" | "arguments" | "context" | "exitCode"
> {
  /** The hook's message to the user, or the way it failed. */
  readonly message?: string;
}

/** Events at which a hook can refuse. A hook that does not run to its end refuses as well (S-140). */
export const refusingEvents: ReadonlySet<string> = new Set(["PreToolUse", "UserPromptSubmit"]);
/** The refusing events and `Verify`, whose commands all run. */
export const guardingEvents: ReadonlySet<string> = new Set([...refusingEvents, "Verify"]);
/** Events at which exit code 2 decides something. */
const deciding: ReadonlySet<string> = new Set([...refusingEvents, "PostToolUse", "Stop"]);
/** Events at which a plain output is for the model. */
const speaking: ReadonlySet<HookEventName> = new Set(["SessionStart", "UserPromptSubmit"]);

/** Converts a command's outcome; `toolName` is the call's. The user sees the sandbox's refusals, as after a command. */
export function toHookAnswer(event: HookEventName, outcome: CommandOutcome, toolName = ""): HookAnswer {
  const answer = readAnswer(event, outcome, toolName);
  const sentences = [answer.message ?? "", ...outcome.refusals].filter((sentence) => sentence !== "");
  return sentences.length === 0 ? answer : { ...answer, message: toText(sentences.join("; "), MAX_MESSAGE) };
}

function readAnswer(event: HookEventName, outcome: CommandOutcome, toolName: string): HookAnswer {
  const { exitCode, stdout, stderr } = outcome;
  const notStarted = outcome.refusal || outcome.startError;
  // The message may contain the operator's programs and folders, so documents get a reason without them (S-190).
  if (notStarted !== "")
    return toFailedAnswer(
      event,
      exitCode,
      `it did not run: ${notStarted}`,
      "it did not run (sheaf hooks test has the reason)",
    );
  const fault = findFault(outcome);
  if (fault !== undefined) {
    const said = stderr.trim() === "" ? "" : `: ${stderr}`;
    return toFailedAnswer(event, exitCode, `${fault}${said}`, fault);
  }
  if (event === "Verify") {
    const failure = { decision: "block", reason: toText(outcome.output, MAX_CONTEXT) } as const;
    return { status: "success", exitCode, ...(exitCode !== 0 && failure) };
  }
  if (exitCode === blockCode && deciding.has(event)) {
    return { status: "success", exitCode, decision: "block", reason: toText(stderr, MAX_CONTEXT) };
  }
  if (exitCode !== 0) {
    const said = toText(stderr, MAX_MESSAGE);
    return { status: "failed", exitCode, message: `exit code ${exitCode}${said === "" ? "" : `: ${said}`}` };
  }
  const text = stdout.trim();
  if (!text.startsWith("{")) {
    const context = speaking.has(event) ? toText(text, MAX_CONTEXT) : "";
    return { status: "success", exitCode, ...(context !== "" && { context }) };
  }
  const value = parseJson(text);
  if (value === undefined) return toFailedAnswer(event, exitCode, "its output starts with { but is not JSON");
  return toProgramAnswer(event, value, toolName);
}

/** Converts an answer to a hook's result; undefined: the hook did not answer. */
export function toProgramAnswer(event: HookEventName, value: unknown, toolName = ""): HookAnswer {
  const answer = value === undefined ? "it was not answered" : checkAnswer(value, event);
  return typeof answer === "string" ? toFailedAnswer(event, 0, answer) : fromAnswer(event, answer, toolName);
}

/** The exit codes with which a shell reports that the command never ran. */
const unstartedCodes: ReadonlyMap<number, string> = new Map([
  [126, "its command is not executable (exit code 126)"],
  [127, "its command was not found (exit code 127)"],
]);

/** Returns the reason why a hook did not run to its end; undefined if it did (S-140). */
function findFault({ timedOut, cancelled, exitCode, signal }: CommandOutcome): string | undefined {
  if (timedOut) return "it took too long";
  if (cancelled) return "it was cancelled";
  const unstarted = unstartedCodes.get(exitCode);
  if (unstarted !== undefined) return `it did not run: ${unstarted}`;
  // A shell or a sandbox around the program turns its signal into an exit code.
  const name = signal === "" ? findSignal(exitCode - 128) : signal;
  return name && `it did not run to its end: ${name} ended it (exit code ${exitCode})`;
}

/** Returns the answer of a hook that did not run to its end. */
export function toFailedAnswer(event: HookEventName, exitCode: number, fault: string, reason = fault): HookAnswer {
  const message = toText(fault, MAX_MESSAGE);
  return {
    status: "failed",
    exitCode,
    message,
    ...(guardingEvents.has(event) && { decision: "block", reason: toText(reason, MAX_MESSAGE) }),
  };
}

/** Returns the answer, or its problem as a text. */
function checkAnswer(value: unknown, event: HookEventName): Answer | string {
  const [problem] = listProblems(answerFields, value);
  if (problem) return `its answer is not understood at ${problem.path.join(".")}`;
  const answer = value as Answer;
  const { hookEventName = event } = answer.hookSpecificOutput ?? {};
  return hookEventName === event ? answer : `its answer is for ${hookEventName}, not for ${event}`;
}

function fromAnswer(event: HookEventName, answer: Answer, toolName: string): HookAnswer {
  const { hookSpecificOutput: specific = {}, systemMessage = "" } = answer;
  const context = toText(specific.additionalContext ?? "", MAX_CONTEXT);
  const message = toText(systemMessage, MAX_MESSAGE);
  const args = event === "PreToolUse" ? fromToolInput(toolName, specific.updatedInput) : undefined;
  return {
    status: "success",
    exitCode: 0,
    ...toDecision(event, answer),
    ...(args && { arguments: args }),
    ...(context !== "" && { context }),
    ...(message !== "" && { message }),
  };
}

/** Returns the decision of an answer. `allow` and `approve` do not decide: Sheaf's rules judge the call (S-137). */
function toDecision(event: HookEventName, answer: Answer): Pick<HookAnswer, "decision" | "reason"> {
  const { hookSpecificOutput: specific = {}, stopReason = "", reason = "" } = answer;
  if (answer.continue === false) return { decision: "end", reason: toText(stopReason, MAX_CONTEXT) };
  if (answer.decision === "block" && deciding.has(event)) {
    return { decision: "block", reason: toText(reason, MAX_CONTEXT) };
  }
  if (event !== "PreToolUse") return {};
  const why = { reason: toText(specific.permissionDecisionReason ?? "", MAX_CONTEXT) };
  if (specific.permissionDecision === "deny") return { decision: "block", ...why };
  return specific.permissionDecision === "ask" ? { decision: "ask", ...why } : {};
}

function toText(text: string, maxUnits: number): string {
  return cutMiddle(foldControls(text).trim(), maxUnits);
}
