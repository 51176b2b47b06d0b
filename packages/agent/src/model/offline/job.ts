/** What the model does for one prompt: steps that are played again, from the first, for every request. */
import type { Mode } from "@sheaf/protocol";
import type { Language } from "./languages/english.ts";
import { fill, formatCode, formatList } from "./phrasing.ts";

export interface PlannedCall {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A tool call and its result. */
export interface Outcome extends PlannedCall {
  readonly output: string;
  readonly isError: boolean;
}

/** The answer to one request: text, then calls. Without calls the turn is the last one. */
export interface Step {
  /** Streamed in words; an array in exactly these deltas. */
  readonly text: string | readonly string[];
  readonly calls: readonly PlannedCall[];
}

/** Yields steps with calls and receives their results, one for each call; returns the last step. */
type Steps = Generator<Step, Step, Outcome[]>;

/** What the steps of a job can see. */
export interface Context {
  readonly language: Language;
  readonly mode: Mode;
  /** Tools that are offered. */
  readonly tools: ReadonlySet<string>;
  /** Ids of todos that the conversation has used (N40). */
  readonly usedIds: ReadonlySet<string>;
  /** Results since the prompt, in the order of the calls. */
  readonly outcomes: readonly Outcome[];
  /** The budget allows no calls in this turn (C24). */
  readonly isLastTurn: boolean;
}

/** What an instruction can lack. */
export type MissingObject = keyof Language["phrases"]["questions"];

export interface Job {
  readonly effect: "reads" | "changes" | "plans" | "asks" | "explains" | "unknown";
  readonly run: (context: Context) => Steps;
  /** The question of a job that asks; `complete` makes the whole job of the answer. */
  readonly missing?: { readonly what: MissingObject; readonly complete: (answer: string) => Job };
}

/** The step that follows the results so far. */
export function toNextStep(job: Job, context: Context): Step {
  const step = playSteps(job, context);
  // Text after calls begins a paragraph.
  const isContinued = context.outcomes.length > 0 && typeof step.text === "string" && step.text !== "";
  return isContinued ? { ...step, text: `\n\n${step.text}` } : step;
}

function playSteps(job: Job, context: Context): Step {
  const { language, outcomes, tools, mode } = context;
  const { toolMissing, calling, budgetEnds } = language.phrases;
  const steps = job.run(context);
  let next = steps.next();
  let at = 0;
  while (next.done !== true) {
    const { calls } = next.value;
    const results = outcomes.slice(at, at + calls.length);
    at += calls.length;
    if (results.length < calls.length) {
      const missing = calls.find(({ toolName }) => !tools.has(toolName));
      if (missing) return toAnswer(language, fill(toolMissing, formatCode(missing.toolName), mode));
      if (!context.isLastTurn) return next.value;
      const left = calls.map((planned) => fill(calling, formatCode(planned.toolName), toObject(planned)));
      return toAnswer(language, fill(budgetEnds, left.join(" ")));
    }
    next = steps.next(results);
  }
  return next.value;
}

/** The last words of the model: the sentence that says what it is, then the parts that are not empty. */
export function toAnswer({ phrases }: Language, ...parts: readonly string[]): Step {
  return { text: [phrases.introduction, ...parts.filter((part) => part !== "")].join("\n\n"), calls: [] };
}

export function toFailed(language: Language, failed: Outcome): Step {
  return toAnswer(language, formatFailedOutcome(language, failed));
}

/** Calls of one tool, and the sentence that announces them. */
export function toCalls(language: Language, toolName: string, ...args: readonly PlannedCall["args"][]): Step {
  const calls = args.map((entry) => ({ toolName, args: entry }));
  const objects = formatList(language, calls.map(toObject));
  return { text: fill(language.phrases.calling, formatCode(toolName), objects), calls };
}

/** One call. */
export function* call(
  language: Language,
  toolName: string,
  args: PlannedCall["args"],
): Generator<Step, Outcome, Outcome[]> {
  const [outcome] = yield toCalls(language, toolName, args);
  return outcome!;
}

/** What a call is about: its first text. */
export function toObject({ toolName, args }: PlannedCall): string {
  return formatCode(Object.values(args).find((value) => typeof value === "string") ?? toolName);
}

/** What failed, and what the tool says about it. */
export function formatFailedOutcome({ phrases }: Language, failed: Outcome): string {
  const message = failed.output.trim().split("\n", 1)[0] ?? "";
  return `${fill(phrases.failed, formatCode(failed.toolName), toObject(failed))}\n\n> ${formatCode(message.slice(0, 600))}`;
}
