/** Shows another branch of a conversation, with its files. A revert shows the branch before a response (C250). */
import { SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import { createBranches } from "@sheaf/store/branches";
import type { ResponseRecord, Store } from "@sheaf/store/store";
import type { FileSpan } from "./file-spans.ts";
import { planRepositoryReverts, type RepositorySpan } from "./revert-repository.ts";
import { type OldContents, type RevertConflict, type RevertedFile, planFileReverts } from "./revert-files.ts";

export interface BranchRequest {
  /** `conv_<uuid>`. */
  readonly conversationId: string;
  /**
   * The way to treat a file that has changed since Sheaf wrote it: `refuse` changes nothing, `leave` reverts the rest,
   * `overwrite` restores the old content anyway. `keep` leaves every file as it is.
   */
  readonly onConflict: "refuse" | "leave" | "overwrite" | "keep";
  /** Returns the result without changing a file. */
  readonly dryRun?: boolean | undefined;
}

export interface RevertRequest extends BranchRequest {
  /** The first response to revert, together with all later ones. Undefined: the last one. */
  readonly responseId: string | undefined;
}

/** The way the shown branch changes. */
export interface BranchChange {
  /** Responses that it loses, oldest first. */
  readonly gone: readonly ResponseRecord[];
  /** Responses that it gets, oldest first. */
  readonly coming: readonly ResponseRecord[];
  /** All that it has then. */
  readonly shown: readonly ResponseRecord[];
}

export interface RevertPorts {
  readonly store: Store;
  /** Reads spans whose `before` is the state after the branch changes, and whose `after` is the state before that. */
  readonly readStates: (change: BranchChange) => Promise<RecordedChanges>;
  /** Old contents of the files in the spans; complete after `readStates`. */
  readonly contents: OldContents;
  /** The user's environment variables. */
  readonly environment: Environment;
}

/** Recorded changes of some responses. */
export interface RecordedChanges {
  readonly spans: readonly FileSpan[];
  readonly repositories?: readonly RepositorySpan[];
  /** Places that the states leave out, one line each. */
  readonly leftOut?: readonly string[];
  /** Files that tools changed without states, as after an import (S-91). */
  readonly unrecorded?: readonly RevertConflict[];
}

export interface RevertResult {
  /** False if the history stays: because of conflicts, or because it already shows the branch. */
  readonly reverted: boolean;
  /** Responses that the shown branch lost, in order. */
  readonly responseIds: readonly string[];
  readonly files: readonly RevertedFile[];
  /** Files that were left as they are. */
  readonly conflicts: readonly RevertConflict[];
  /** Places that the states leave out, and why, one line each. */
  readonly leftOut?: readonly string[];
}

/** The end of a branch, of all responses; undefined: the start of the conversation. */
export type ChooseEnd = (all: readonly ResponseRecord[]) => ResponseRecord | undefined;

/**
 * Reverts a response and all after it, with the effects of their commands: they are a branch that is not shown.
 * @throws SheafError USAGE for an unknown conversation or response; CONVERSATION_BUSY while a run is active; STORAGE_…
 */
export function revertConversation(request: RevertRequest, ports: RevertPorts): Promise<RevertResult> {
  return showBranch(request, ports, (all) => chooseEndBefore(all, request));
}

/**
 * Shows the branch with this end, and brings its files back.
 * A second call after a crash continues where the first one stopped.
 * @throws SheafError CONVERSATION_BUSY while a run is active; STORAGE_…
 */
export async function showBranch(
  request: BranchRequest,
  ports: RevertPorts,
  chooseEnd: ChooseEnd,
): Promise<RevertResult> {
  const release = await ports.store.lockConversation(request.conversationId);
  try {
    const all = await ports.store.listResponses(request.conversationId);
    return await showLocked(request, ports, all, chooseEnd(all));
  } finally {
    await release?.();
  }
}

const unchanged: RevertResult = { reverted: false, responseIds: [], files: [], conflicts: [] };

async function showLocked(
  { conversationId, onConflict, dryRun = false }: BranchRequest,
  ports: RevertPorts,
  all: readonly ResponseRecord[],
  end: ResponseRecord | undefined,
): Promise<RevertResult> {
  const shown = (end && createBranches(all).listBranch(end.id)) ?? [];
  const gone = all.filter((response) => !response.reverted && !shown.includes(response));
  const change = { gone, coming: shown.filter(({ reverted }) => reverted), shown };
  if (gone.length + change.coming.length === 0) return unchanged;
  const recorded = onConflict === "keep" ? { spans: [] } : await ports.readStates(change);
  const { spans, repositories = [], leftOut = [], unrecorded = [] } = recorded;
  const overwrites = onConflict === "overwrite";
  const plan = await planFileReverts(spans, ports, overwrites);
  const others = await planRepositoryReverts(repositories, overwrites);
  const reverts = [...plan.reverts, ...others.reverts];
  const left = [...unrecorded, ...plan.conflicts, ...others.conflicts];
  const isRefused = onConflict === "refuse" && left.length > 0;
  if (isRefused && !dryRun) return { ...unchanged, conflicts: left };
  const files: RevertedFile[] = [];
  const failed: RevertConflict[] = [];
  for (const { filePath, action, isShown, apply } of reverts) {
    const outcome = dryRun ? ({ ok: true } as const) : await apply();
    if (outcome.ok && isShown) files.push({ filePath, action });
    else if (!outcome.ok) failed.push({ filePath, reason: outcome.error.message });
  }
  left.push(...failed);
  // A second revert continues here.
  if (failed.length > 0 && onConflict !== "leave") return { ...unchanged, files, conflicts: left };
  if (!dryRun) await ports.store.showBranch(conversationId, end?.position ?? 0);
  return {
    reverted: !dryRun,
    responseIds: gone.map(({ id }) => id),
    files,
    conflicts: left,
    ...(leftOut.length > 0 && { leftOut }),
  };
}

function chooseEndBefore(all: readonly ResponseRecord[], { conversationId, responseId }: RevertRequest) {
  const shown = all.filter(({ reverted }) => !reverted);
  const first = responseId === undefined ? shown.at(-1) : shown.find(({ id }) => id === responseId);
  if (first) return shown[shown.indexOf(first) - 1];
  const name = conversationId.replace(/^conv_/, "");
  if (all.length === 0) throw new SheafError("USAGE", `the session ${name} is not stored: check the id, or SHEAF_HOME`);
  const what = responseId === undefined ? "a response" : `the response ${responseId}`;
  throw new SheafError("USAGE", `the session ${name} does not have ${what} to revert: see sheaf show ${name}`);
}
