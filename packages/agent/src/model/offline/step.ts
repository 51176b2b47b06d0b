/** One request's worth of the model's answer. */
import type { Outcome, Task } from "./task.ts";

/** A tool call that the model will make. */
export interface PlannedCall {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Text, then calls. Without calls the model's turn is its last one. */
export interface Step {
  /** Streamed in words; or, as an array, in exactly these deltas. */
  readonly text: string | readonly string[];
  readonly calls: readonly PlannedCall[];
}

/** The model's last words. */
export function toAnswer(text: string): Step {
  return { text, calls: [] };
}

/** An announcement, and the calls that it announces. */
export function toCalls(announcement: string, ...calls: readonly PlannedCall[]): Step {
  return { text: `${announcement}\n\n`, calls };
}

/** Calls without a word. */
export function toSilentCalls(...calls: readonly PlannedCall[]): Step {
  return { text: "", calls };
}

export function readCall(path: string, lines: { offset?: number; limit?: number } = {}): PlannedCall {
  return { toolName: "read_file", args: { target_file: path, ...lines } };
}

export function listCall(folder: string): PlannedCall {
  return { toolName: "list_dir", args: { target_directory: folder } };
}

/** Results of a tool, in order. */
export function outcomesOf({ outcomes }: Task, toolName: string): Outcome[] {
  return outcomes.filter((outcome) => outcome.toolName === toolName);
}

/** The newest result of a tool. */
export function lastOutcomeOf(task: Task, toolName: string): Outcome | undefined {
  return task.outcomes.findLast((outcome) => outcome.toolName === toolName);
}

/** A text argument of a call; "" without one. */
export function argumentOf({ args }: Outcome, name: string): string {
  const value = args[name];
  return typeof value === "string" ? value : "";
}

/** What is put into a fence that nothing inside can close. */
export function toFence(content: string, info: string): string {
  let longest = 2;
  for (const [run] of content.matchAll(/`+|~+/g)) longest = Math.max(longest, run.length);
  const fence = (info.includes("`") ? "~" : "`").repeat(longest + 1);
  const body = content.replace(/\r?\n$/, "");
  return `${fence}${info}\n${body}\n${fence}`;
}
