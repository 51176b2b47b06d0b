/** What files were before and after some responses: by states of trees, and by logs where there are none. */
import { join } from "node:path";
import type { FileChange, RunEvent } from "@sheaf/protocol";

/** A file at one moment. `unknown`: it existed, but its content has no hash (a device, a huge file). */
export type FileState =
  | { readonly kind: "absent" }
  | { readonly kind: "unknown" }
  | { readonly kind: "folder"; readonly mode: number }
  /** `hash`: SHA-256, or git's id of the object, as the span has it. */
  | { readonly kind: "content"; readonly hash: string; readonly mode?: number }
  | { readonly kind: "link"; readonly hash: string };

/** The changes of one file over some responses. */
export interface FileSpan {
  /** Absolute. */
  readonly path: string;
  /** As the documents show it. */
  readonly filePath: string;
  /** Root of the workspace, or of the added folder, in which it was changed. */
  readonly workspace: string;
  readonly before: FileState;
  /** Its state after the last change. */
  readonly after: FileState;
  /** Whether something else changed it between two changes of the run. */
  readonly isInterrupted: boolean;
  /** Whether a response that changed it was imported. */
  readonly isImported: boolean;
  /** Where states of trees say what changed: which bits of modes they have. Undefined: the log says it. */
  readonly modes?: "exact" | "program" | undefined;
}

export type FileStep = Omit<FileSpan, "isInterrupted">;

/** The files of some steps, the oldest first, without those that ended as they began. */
export function toFileSpans(steps: Iterable<FileStep>): FileSpan[] {
  const spans = new Map<string, FileSpan>();
  for (const step of steps) {
    // A folder in the place of a file is another thing.
    const key = `${step.before.kind === "folder" || step.after.kind === "folder" ? "/" : ""}${step.path}`;
    const span = spans.get(key);
    const isInterrupted = span !== undefined && (span.isInterrupted || !isSameState(span.after, step.before));
    const isImported = step.isImported || span?.isImported === true;
    spans.set(key, { ...step, before: span?.before ?? step.before, isInterrupted, isImported });
  }
  return [...spans.values()].filter(({ before, after, isInterrupted }) => isInterrupted || !isSameState(before, after));
}

/** What the tools of some responses changed by their logs, the oldest first. */
export function* listLoggedSteps(events: readonly RunEvent[]): Generator<FileStep> {
  let workspace = "";
  let added: readonly string[] = [];
  let isImported = false;
  for (const logged of events) {
    // What subagents changed, the run changed.
    const event = logged.type === "agent_event" ? logged.event : logged;
    if (logged.type === "run_start") {
      workspace = logged.workspace;
      added = logged.addedFolders ?? [];
      isImported = logged.imported ?? false;
    }
    if (event.type !== "tool_result" || event.effect?.kind !== "file_edit") continue;
    for (const change of event.effect.changes) {
      for (const step of toSteps(change, workspace)) {
        const root = added.find((folder) => step.path.startsWith(`${folder}/`)) ?? workspace;
        yield { ...step, workspace: root, isImported };
      }
    }
  }
}

/** Whether both are known to be equal. */
export function isSameState(one: FileState, other: FileState): boolean {
  if (one.kind !== other.kind || one.kind === "unknown") return false;
  if ("hash" in one && "hash" in other && one.hash !== other.hash) return false;
  const [mode, otherMode] = [one, other].map((state) => ("mode" in state ? state.mode : undefined));
  return mode === undefined || otherMode === undefined || mode === otherMode;
}

/** A move is two changes: one file disappears, the other appears. */
function toSteps(change: FileChange, workspace: string): Pick<FileStep, "path" | "filePath" | "before" | "after">[] {
  const { operation, filePath, path, hashBefore, hashAfter, modeBefore, newFilePath = "" } = change;
  const before = toState(hashBefore, modeBefore);
  const after = toState(hashAfter, undefined);
  const absent: FileState = { kind: "absent" };
  switch (operation) {
    case "create":
      return [{ path, filePath, before: absent, after }];
    case "edit":
      return [{ path, filePath, before, after }];
    case "delete":
      return [{ path, filePath, before, after: absent }];
    case "rename": {
      const newPath = change.newPath ?? join(workspace, newFilePath);
      return [
        { path, filePath, before, after: absent },
        { path: newPath, filePath: newFilePath, before: absent, after },
      ];
    }
  }
}

function toState(hash: string | undefined, mode: number | undefined): FileState {
  if (hash === undefined) return { kind: "unknown" };
  return { kind: "content", hash, ...(mode !== undefined && { mode }) };
}
