/** Restores files, each only if it has not changed since Sheaf wrote it. */
import { join } from "node:path";
import type { FileChange, RunEvent } from "@sheaf/protocol";
import type { Environment } from "@sheaf/base/paths";
import { writeFileAtomically } from "@sheaf/base/files/atomic-write";
import { type Checkpoints, MAX_CHECKPOINT_BYTES } from "../../workspace/checkpoints.ts";
import type { FileResult } from "@sheaf/base/files/file-error";
import { moveFile, removeFile, resolveEntry } from "@sheaf/base/files/move-file";
import type { FileIdentity } from "@sheaf/base/files/open-file";
import { hashFile, readWholeFile } from "@sheaf/base/files/read-file";
import { findProtection } from "@sheaf/base/files/protected-names";
import { type Workspace, type WorkspacePath, createWorkspace } from "@sheaf/base/files/workspace";

/** Why a file cannot be restored. */
export const UNKNOWN_BEFORE = "it was a link or too large to be kept";
export const NOT_KEPT = "its content of that time is not kept";

/** A file that is not restored, and why, in one line. */
export interface RevertConflict {
  /** As the documents show it. */
  readonly filePath: string;
  readonly reason: string;
}

export interface RevertedFile {
  readonly filePath: string;
  /** `restored`: it has its old content again; `removed`: it was new; `unchanged`: it already had the old content. */
  readonly action: "restored" | "removed" | "unchanged";
}

/** One step. An expected failure is a value. */
interface FileRevert extends RevertedFile {
  readonly apply: () => Promise<FileResult<void>>;
}

export interface FileReverts {
  /** In the order in which to do them. */
  readonly reverts: readonly FileRevert[];
  readonly conflicts: readonly RevertConflict[];
}

export interface PresentFile {
  readonly span: FileSpan;
  readonly workspace: Workspace;
  readonly path: WorkspacePath;
  readonly state: FileState;
  /** Undefined if the file does not exist. */
  readonly identity: FileIdentity | undefined;
}

type FileContents = Pick<Checkpoints, "read" | "keep">;

/**
 * The steps that restore files; changes nothing in a workspace yet.
 * `overwrites`: also restore files that something else has changed since.
 */
export async function planFileReverts(
  spans: readonly FileSpan[],
  { checkpoints, environment }: { readonly checkpoints: FileContents; readonly environment: Environment },
  overwrites: boolean,
): Promise<FileReverts> {
  const conflicts: RevertConflict[] = [];
  const files: PresentFile[] = [];
  for (const span of spans) {
    const file = await readPresent(span, environment);
    const reason = file.ok ? findConflict(file.value, overwrites) : file.error.message;
    if (file.ok && reason === undefined) files.push(file.value);
    else conflicts.push({ filePath: span.filePath, reason: reason ?? "" });
  }
  const moves = findMoves(files);
  const reverts: FileRevert[] = [];
  const removals: FileRevert[] = [];
  for (const file of files) {
    if (isSameState(file.state, file.span.before)) {
      reverts.push(toRevert(file, "unchanged", done));
    } else if (file.span.before.kind === "absent") {
      const isMoved = [...moves.values()].includes(file);
      removals.push(
        toRevert(file, "removed", isMoved ? done : () => removeFile(file.workspace, file.path, file.identity)),
      );
    } else {
      const source = moves.get(file);
      const revert = source ? toMoveBack(file, source) : await toWriteBack(file, files, checkpoints);
      if (revert) reverts.push(revert);
      else conflicts.push({ filePath: file.span.filePath, reason: NOT_KEPT });
    }
  }
  // Nothing is removed before everything to restore is in place.
  return { reverts: [...reverts, ...removals], conflicts };
}

async function done(): Promise<FileResult<void>> {
  return { ok: true, value: undefined };
}

/** The file of the span, if its path still leads to the same place. `maxBytes`: the state of a larger one is unknown. */
export async function readPresent(
  span: FileSpan,
  environment: Environment,
  maxBytes?: number,
): Promise<FileResult<PresentFile>> {
  const opened = openWorkspace(span.workspace, environment);
  if (!opened.ok) return opened;
  const workspace = opened.value;
  const resolved = resolveEntry(workspace, span.path);
  if (!resolved.ok) return toFault(resolved.error.code, toPathProblem(resolved.error));
  const { path } = resolved;
  if (path.absolute !== span.path) return toFault("PATH_INVALID", `it leads to ${path.relative} now`);
  const hashed = await hashFile(workspace.root, path, maxBytes);
  if (hashed.ok) {
    const { hash, identity } = hashed.value;
    const state: FileState = hash === undefined ? { kind: "unknown" } : { kind: "content", hash };
    return { ok: true, value: { span, workspace, path, state, identity } };
  }
  if (hashed.error.code !== "FILE_NOT_FOUND") return hashed;
  return { ok: true, value: { span, workspace, path, state: { kind: "absent" }, identity: undefined } };
}

function openWorkspace(root: string, environment: Environment): FileResult<Workspace> {
  try {
    return { ok: true, value: createWorkspace(root, { git: { environment, folders: [] } }) };
  } catch {
    return toFault("NOT_A_DIRECTORY", "its workspace does not exist any more, or cannot be read");
  }
}

/** Clients of a server read it, and must not learn where its folders are. */
function toPathProblem({ code, message }: { readonly code: string; readonly message: string }): string {
  return code === "PATH_OUTSIDE_WORKSPACE" ? "it leads out of its workspace now" : message;
}

function toFault(code: string, message: string): FileResult<never> {
  return { ok: false, error: { code, message, details: "" } };
}

function findConflict({ span, state, workspace, path }: PresentFile, overwrites: boolean): string | undefined {
  if (isSameState(state, span.before)) return undefined;
  const protection = findProtection(workspace, path);
  if (protection) return protection.message;
  if (span.before.kind === "unknown") return UNKNOWN_BEFORE;
  if (overwrites) return undefined;
  if (!isSameState(state, span.after)) return "something else has changed it since";
  return span.isInterrupted ? "something else changed it between two changes of Sheaf" : undefined;
}

/** Files that were only moved are moved back, so that they keep their metadata; keyed by the missing file. */
export function findMoves(files: readonly PresentFile[]): ReadonlyMap<PresentFile, PresentFile> {
  const moves = new Map<PresentFile, PresentFile>();
  const taken = new Set<PresentFile>();
  for (const file of files) {
    if (file.state.kind !== "absent") continue;
    const source = files.find(
      (candidate) =>
        !taken.has(candidate) &&
        candidate.workspace.root === file.workspace.root &&
        candidate.span.before.kind === "absent" &&
        isSameState(candidate.state, file.span.before),
    );
    if (!source || source.state.kind === "absent") continue;
    taken.add(source);
    moves.set(file, source);
  }
  return moves;
}

function toRevert({ span }: PresentFile, action: RevertedFile["action"], apply: FileRevert["apply"]): FileRevert {
  return { filePath: span.filePath, action, apply };
}

function toMoveBack(file: PresentFile, source: PresentFile): FileRevert {
  return toRevert(file, "restored", () => moveFile(file.workspace, source.path, file.path));
}

/** Undefined if no file has the content. */
async function toWriteBack(
  file: PresentFile,
  files: readonly PresentFile[],
  checkpoints: FileContents,
): Promise<FileRevert | undefined> {
  const { before } = file.span;
  if (before.kind !== "content") return undefined;
  const { hash, mode } = before;
  if (!(await checkpoints.read(hash)) && !(await keepPresent(hash, files, checkpoints))) return undefined;
  return toRevert(file, "restored", async () => {
    const content = await checkpoints.read(hash);
    if (!content) return toFault("FILE_NOT_FOUND", "its content of that time is damaged");
    return writeFileAtomically(file.workspace, file.path, content, file.identity, mode);
  });
}

/** Another of these files may have the content and is about to change: keep the content first. */
async function keepPresent(hash: string, files: readonly PresentFile[], checkpoints: FileContents): Promise<boolean> {
  const holder = files.find(({ state }) => state.kind === "content" && state.hash === hash);
  const whole = holder && (await readWholeFile(holder.workspace.root, holder.path, MAX_CHECKPOINT_BYTES));
  if (!whole?.ok || whole.value.hash !== hash) return false;
  return (await checkpoints.keep(hash, whole.value.bytes)) === undefined;
}

/** A file at one moment. `unknown`: it existed, but its content has no hash (a link, a huge file). */
type FileState =
  | { readonly kind: "absent" }
  | { readonly kind: "unknown" }
  | { readonly kind: "content"; readonly hash: string; readonly mode?: number };

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
  /** Whether something else changed it between two changes by tools. */
  readonly isInterrupted: boolean;
  /** Whether a response that changed it was imported. */
  readonly isImported: boolean;
}

interface FileStep extends Pick<FileSpan, "path" | "filePath" | "before" | "after"> {}

/** What a step belongs to. */
type FileOrigin = Pick<FileSpan, "workspace" | "isImported">;

/** The files that the tools of some responses changed, oldest event first, without those that ended as they began. */
export function toFileSpans(events: readonly RunEvent[]): FileSpan[] {
  const spans = new Map<string, FileSpan>();
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
        spans.set(step.path, addStep(spans.get(step.path), step, { workspace: root, isImported }));
      }
    }
  }
  return [...spans.values()].filter(({ before, after, isInterrupted }) => isInterrupted || !isSameState(before, after));
}

/** Whether both are known to be equal. */
export function isSameState(one: FileState, other: FileState): boolean {
  if (one.kind === "content") return other.kind === "content" && one.hash === other.hash;
  return one.kind === "absent" && other.kind === "absent";
}

function addStep(span: FileSpan | undefined, step: FileStep, origin: FileOrigin): FileSpan {
  if (!span) return { ...step, ...origin, isInterrupted: false };
  const isInterrupted = span.isInterrupted || !isSameState(span.after, step.before);
  return { ...span, after: step.after, isInterrupted, isImported: span.isImported || origin.isImported };
}

/** A move is two changes: one file disappears, the other appears. */
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
