/** The call or the commit that made each line of a file, as far as its owner may know it (C270). */
import type { FileBlame } from "@sheaf/protocol";
import { blameFile } from "@sheaf/agent/run/conversations/blame";
import { type BlameRange, toRanges } from "@sheaf/agent/run/conversations/blame-ranges";
import { readWholeFile } from "@sheaf/base/files/read-file";
import { createWorkspace } from "@sheaf/base/files/workspace";
import type { ConversationRecord, SharedStore } from "@sheaf/store/store";
import { createDenials } from "./denials.ts";
import { HttpError } from "./http-error.ts";
import type { ServerContext } from "./server-context.ts";
import { findReadable } from "./workspace-files.ts";

/** Size of the largest file. */
const MAX_BYTES = 1024 * 1024;

/** The longest time for the logs of one owner. Milliseconds. */
const MAX_MS = 60_000;

/** Reads the owner's `store` alone, to hide other owners' calls. @throws HttpError NOT_FOUND, FORBIDDEN, USAGE, OVERLOADED. */
export async function readBlame(
  { path, signal: left }: { readonly path: string; readonly signal: AbortSignal },
  { workspace: root }: ConversationRecord,
  store: SharedStore,
  { settings, now, trees, preparer }: ServerContext,
): Promise<FileBlame> {
  const { dataFolder, environment, wire } = settings;
  if (dataFolder === undefined) throw new HttpError("NOT_FOUND", "this server keeps no states of files");
  await preparer.look(trees.findRoot(root) ?? root);
  const workspace = { ...createWorkspace(root), leftOut: createDenials(settings)(root) };
  const found = findReadable(workspace, path, "of this conversation");
  const read = await readWholeFile(workspace.root, found, MAX_BYTES);
  if (!read.ok) throw new HttpError(read.error.code === "FILE_NOT_FOUND" ? "NOT_FOUND" : "USAGE", read.error.message);
  const { bytes, hash } = read.value;
  const late = AbortSignal.timeout(MAX_MS);
  const signal = AbortSignal.any([left, late]);
  const lines = await blameFile(found.absolute, bytes, { store, dataFolder, environment, now, signal }).catch(
    (error: unknown) => {
      if (late.aborted) {
        const advice = `run sheaf blame ${found.named} on the server`;
        throw new HttpError("OVERLOADED", `your logs take more than ${MAX_MS / 1000} s to read: ${advice}`);
      }
      throw left.aborted ? new HttpError("CANCELLED", "the client closed the connection") : error;
    },
  );
  if (!lines) throw new HttpError("USAGE", `${found.named} is not a text file: name a file with lines`);
  const ranges = toRanges(lines).map((range) => toShownRange(range, wire.mask.mask));
  return { path: found.named, hash, totalLines: lines.length, ranges };
}

function toShownRange({ start, end, origin, commit }: BlameRange, mask: (text: string) => string) {
  return {
    startLine: start,
    endLine: end,
    ...(origin && { call: toShownCall(origin, mask) }),
    ...(commit && { commit: { id: commit.commit, author: commit.author, time: toTime(commit.time) } }),
  };
}

function toShownCall({ call, isCertain }: NonNullable<BlameRange["origin"]>, mask: (text: string) => string) {
  const { response, callId, tool, model, endedAt, isOfAgent } = call;
  const { conversationId, id: responseId, prompt, costUsd } = response;
  const shown = { conversationId, responseId, callId, tool, model, prompt: mask(prompt), time: toTime(endedAt) };
  return {
    ...shown,
    certain: isCertain,
    ...(costUsd !== undefined && { costUsd }),
    ...(isOfAgent && { subagent: true as const }),
  };
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
