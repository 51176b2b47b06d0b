/** The states of files before and after some responses, by trees of git. */
import type { RunEvent } from "@sheaf/protocol";

/** A file at one moment. `unknown`: it existed, but its content has no hash (a device, a huge file). */
export type FileState =
  | { readonly kind: "absent" }
  | { readonly kind: "unknown" }
  | { readonly kind: "folder"; readonly mode: number }
  /** `hash`: git's id of the object. */
  | { readonly kind: "content"; readonly hash: string; readonly mode: number }
  | { readonly kind: "link"; readonly hash: string };

/** The changes of one file over some responses. */
export interface FileSpan {
  /** Absolute. */
  readonly path: string;
  /** The path as the documents show it. */
  readonly filePath: string;
  /** Root of the workspace, or of the added folder, in which it was changed. */
  readonly workspace: string;
  readonly before: FileState;
  /** Its state after the last change. */
  readonly after: FileState;
  /** True if something else changed it between two changes of the run. */
  readonly isInterrupted: boolean;
  /** The mode bits in the states. */
  readonly modes: "exact" | "program";
}

export type FileStep = Omit<FileSpan, "isInterrupted">;

/** The files of some steps, the oldest first, without files whose last state equals the first. */
export function toFileSpans(steps: Iterable<FileStep>): FileSpan[] {
  const spans = new Map<string, FileSpan>();
  for (const step of steps) {
    // A folder in the place of a file is another thing.
    const key = `${step.before.kind === "folder" || step.after.kind === "folder" ? "/" : ""}${step.path}`;
    const span = spans.get(key);
    const isInterrupted = span !== undefined && (span.isInterrupted || !isSameState(span.after, step.before));
    spans.set(key, { ...step, before: span?.before ?? step.before, isInterrupted });
  }
  return [...spans.values()].filter(({ before, after, isInterrupted }) => isInterrupted || !isSameState(before, after));
}

/** The files that tools changed by the logs of responses without states: as the documents show them. */
export function listUnrecorded(events: readonly RunEvent[]): readonly string[] {
  // A change by a subagent is a change by the run.
  const own = events.map((event) => (event.type === "agent_event" ? event.event : event));
  const results = own.filter((event) => event.type === "tool_result");
  return results.flatMap(({ effect }) =>
    effect?.kind === "file_edit" ? effect.changes.map(({ filePath, newFilePath = filePath }) => newFilePath) : [],
  );
}

/** True if both are known to be equal. */
export function isSameState(one: FileState, other: FileState): boolean {
  if (one.kind !== other.kind || one.kind === "unknown") return false;
  if ("hash" in one && "hash" in other && one.hash !== other.hash) return false;
  return !("mode" in one && "mode" in other) || one.mode === other.mode;
}
