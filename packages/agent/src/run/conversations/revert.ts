/** Reverts responses: restores their files, and ends the history before them. */
import { SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import type { ResponseRecord, Store } from "@sheaf/store/store";
import type { FileSpan } from "./file-spans.ts";
import { planRepositoryReverts, type RepositorySpan } from "./revert-repository.ts";
import { type OldContents, type RevertConflict, type RevertedFile, planFileReverts } from "./revert-files.ts";

export interface RevertRequest {
  /** `conv_<uuid>`. */
  readonly conversationId: string;
  /** The first response to revert; those after it are reverted, too. Undefined: the last one. */
  readonly responseId: string | undefined;
  /**
   * What to do when a file has changed since Sheaf wrote it: `refuse` changes nothing, `leave` reverts the rest,
   * `overwrite` restores the old content anyway.
   */
  readonly onConflict: "refuse" | "leave" | "overwrite";
}

export interface RevertPorts {
  readonly store: Store;
  /** The changes of these responses: the last ones of the conversation, or all. */
  readonly readStates: (responses: readonly ResponseRecord[]) => Promise<RecordedChanges>;
  /** Old contents of the files in the spans; complete after `readStates`. */
  readonly contents: OldContents;
  /** Of the user. */
  readonly environment: Environment;
}

/** What the states of some responses have. */
export interface RecordedChanges {
  readonly spans: readonly FileSpan[];
  readonly repositories?: readonly RepositorySpan[];
  /** Places that the states leave out, one line each. */
  readonly leftOut?: readonly string[];
  /** Files that tools changed without states, as after an import (S-91). */
  readonly unrecorded?: readonly RevertConflict[];
}

export interface RevertResult {
  /** False: there were conflicts, and nothing was changed. */
  readonly reverted: boolean;
  /** Responses that are no longer part of the history, in order. */
  readonly responseIds: readonly string[];
  readonly files: readonly RevertedFile[];
  /** Files that were left as they are. */
  readonly conflicts: readonly RevertConflict[];
  /** Places that the states leave out, and why, one line each. */
  readonly leftOut?: readonly string[];
}

/**
 * Reverts a response and all after it, with the effects of their commands.
 * A second call after a crash continues where the first one stopped.
 * @throws SheafError USAGE for an unknown conversation or response; CONVERSATION_BUSY while a run is active; STORAGE_…
 */
export async function revertConversation(request: RevertRequest, ports: RevertPorts): Promise<RevertResult> {
  const release = await ports.store.lockConversation(request.conversationId);
  try {
    return await revertLocked(request, ports);
  } finally {
    await release?.();
  }
}

async function revertLocked(request: RevertRequest, ports: RevertPorts): Promise<RevertResult> {
  const responses = await chooseResponses(request, ports.store);
  const { spans, repositories = [], leftOut = [], unrecorded = [] } = await ports.readStates(responses);
  const overwrites = request.onConflict === "overwrite";
  const plan = await planFileReverts(spans, ports, overwrites);
  const others = await planRepositoryReverts(repositories, overwrites);
  const reverts = [...plan.reverts, ...others.reverts];
  const conflicts = [...unrecorded, ...plan.conflicts, ...others.conflicts];
  if (request.onConflict === "refuse" && conflicts.length > 0) {
    return { reverted: false, responseIds: [], files: [], conflicts };
  }
  const files: RevertedFile[] = [];
  const left = [...conflicts];
  for (const { filePath, action, isShown, apply } of reverts) {
    const outcome = await apply();
    if (outcome.ok && isShown) files.push({ filePath, action });
    else if (!outcome.ok) left.push({ filePath, reason: outcome.error.message });
  }
  await ports.store.revertResponses(request.conversationId, responses[0]!.position);
  return {
    reverted: true,
    responseIds: responses.map(({ id }) => id),
    files,
    conflicts: left,
    ...(leftOut.length > 0 && { leftOut }),
  };
}

async function chooseResponses({ conversationId, responseId }: RevertRequest, store: Store) {
  const all = await store.listResponses(conversationId);
  const present = all.filter(({ reverted }) => !reverted);
  const first = responseId === undefined ? present.at(-1) : present.find(({ id }) => id === responseId);
  if (first) return present.filter(({ position }) => position >= first.position);
  const name = conversationId.replace(/^conv_/, "");
  if (all.length === 0) throw new SheafError("USAGE", `the session ${name} is not stored: check the id, or SHEAF_HOME`);
  const what = responseId === undefined ? "a response" : `the response ${responseId}`;
  throw new SheafError("USAGE", `the session ${name} does not have ${what} to revert: see sheaf show ${name}`);
}
