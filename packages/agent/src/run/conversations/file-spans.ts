/** What tools made of each file, from the first change to the last: a pure function of the logs. */
import { join } from "node:path";
import type { FileChange, RunEvent } from "@sheaf/protocol";

/** A file at one moment. `unknown`: there was one, but its content has no hash (a link, a huge file). */
export type FileState =
  | { readonly kind: "absent" }
  | { readonly kind: "unknown" }
  | { readonly kind: "content"; readonly hash: string; readonly mode?: number };

/** One file over some responses. */
export interface FileSpan {
  /** Absolute. */
  readonly path: string;
  /** As the documents show it. */
  readonly filePath: string;
  /** Root of the workspace, or of the added folder, in which it was changed. */
  readonly workspace: string;
  readonly before: FileState;
  /** What the last change left. */
  readonly after: FileState;
  /** Something else changed it between two changes of tools. */
  readonly isInterrupted: boolean;
}

interface FileStep extends Pick<FileSpan, "path" | "filePath" | "before" | "after"> {}

/** The files that the tools of some responses changed, oldest event first. Files that end as they began are left out. */
export function toFileSpans(events: readonly RunEvent[]): FileSpan[] {
  const spans = new Map<string, FileSpan>();
  let workspace = "";
  let added: readonly string[] = [];
  for (const event of events) {
    if (event.type === "run_start") {
      workspace = event.workspace;
      added = event.addedFolders ?? [];
    }
    if (event.type !== "tool_result" || event.effect?.kind !== "file_edit") continue;
    for (const change of event.effect.changes) {
      for (const step of toSteps(change, workspace)) {
        const root = added.find((folder) => step.path.startsWith(`${folder}/`)) ?? workspace;
        spans.set(step.path, addStep(spans.get(step.path), step, root));
      }
    }
  }
  return [...spans.values()].filter(({ before, after, isInterrupted }) => isInterrupted || !isSameState(before, after));
}

/** Whether both are known to be the same. */
export function isSameState(one: FileState, other: FileState): boolean {
  if (one.kind === "content") return other.kind === "content" && one.hash === other.hash;
  return one.kind === "absent" && other.kind === "absent";
}

function addStep(span: FileSpan | undefined, step: FileStep, workspace: string): FileSpan {
  if (!span) return { ...step, workspace, isInterrupted: false };
  const isInterrupted = span.isInterrupted || !isSameState(span.after, step.before);
  return { ...span, after: step.after, isInterrupted };
}

/** A move is two steps: one file goes, the other comes. */
function toSteps(change: FileChange, workspace: string): FileStep[] {
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
