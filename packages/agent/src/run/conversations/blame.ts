/** Finds the call, the person or the commit that made each line of a file (C195, C196). */
import { dirname, join, relative } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { findRepository, toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { type GitSetup, runGit } from "@sheaf/base/git/run-git";
import { findProgram } from "@sheaf/sandbox/programs";
import type { Store } from "@sheaf/store/store";
import { findTreeOf, listTrees, readTreeRecord } from "../../workspace/trees/named-trees.ts";
import { listUndoStores, toStateRef } from "../../workspace/undo/undo-store.ts";
import { listBlamedCalls } from "./blamed-calls.ts";
import { type CommitLine, readCommitLines, readCommitText } from "./commit-lines.ts";
import { readLogs } from "./end-cut-response.ts";
import { type FileMoment, followPath, listMoments, readStateChanges, type StateChange } from "./file-moments.ts";
import {
  type CallOrigin,
  findAfter,
  type KnownTexts,
  type LineOrigins,
  type ReadState,
  toPlainText,
  traceLines,
} from "./line-origins.ts";

export interface BlamePlace {
  readonly store: Store;
  readonly dataFolder: string;
  readonly environment: Environment;
  readonly now: () => number;
  /** Ends the reading of the logs, which may be many. */
  readonly signal?: AbortSignal | undefined;
}

/** A line with its call. A person or another program wrote a line without one; a line without a commit is new. */
export interface BlamedLine {
  readonly text: string;
  readonly origin?: CallOrigin | undefined;
  readonly commit?: CommitLine | undefined;
}

/** Returns undefined for binary `bytes`. `path`: absolute, links resolved. @throws SheafError STORAGE_…, INTERNAL, or the reason of `signal`. */
export async function blameFile(
  path: string,
  bytes: Uint8Array,
  place: BlamePlace,
): Promise<readonly BlamedLine[] | undefined> {
  const text = toPlainText(bytes);
  if (text === undefined) return undefined;
  const program = findProgram("git", place.environment);
  const git = program === undefined ? undefined : { program, environment: place.environment };
  const paths = [...listCounterparts(path, place), path];
  const moments = await readMoments(paths, place, git);
  const readState = createStateReader();
  const known: KnownTexts = new Map();
  let origins: LineOrigins = [];
  for (const each of paths) {
    const isOwn = each === path;
    const read = async (moment: FileMoment): Promise<string | undefined> =>
      moment.kind === "call" ? findAfter(moment.change) : readState(moment.content);
    const followed = await followPath(moments, each, isOwn ? text : "", read);
    if (isOwn || followed.length > 0) origins = await traceLines(followed, isOwn ? text : "", known, readState);
  }
  const commits = await readCommitLines(path, text, place.environment);
  const texts = new Map<string, string | undefined>();
  const lines: BlamedLine[] = [];
  for (const [at, line] of text.split("\n").slice(0, -1).entries()) {
    const commit = commits[at];
    let origin = origins[at];
    // A commit may have a text that a call made in a working tree, or before a rebase.
    if (!origin && commit && known.size > 0) {
      const key = `${commit.commit}:${commit.file}`;
      if (!texts.has(key)) texts.set(key, await readCommitText(commit));
      origin = known.get(texts.get(key) ?? "")?.[commit.line - 1];
    }
    lines.push({ text: line, origin, commit });
  }
  return lines;
}

/** The same file in Sheaf's working trees of the repository, or in the repository of the tree (C70). */
function listCounterparts(path: string, { dataFolder }: BlamePlace): string[] {
  const folder = toRealPlace(dataFolder);
  const found = findTreeOf(folder, path);
  const source = found && readTreeRecord(found.tree)?.source;
  if (found) return source === undefined ? [] : [join(source, found.inner)];
  const { root, git } = findRepository(dirname(path));
  return git === "none" ? [] : listTrees(folder, root).map(({ files }) => join(files, relative(root, path)));
}

async function readMoments(
  paths: readonly string[],
  { store, dataFolder, now, signal }: BlamePlace,
  git: Omit<GitSetup, "gitFolder"> | undefined,
): Promise<readonly FileMoment[]> {
  const isNear = (folder: string): boolean => paths.some((path) => isBelow(path, folder));
  const common = findRepository(dirname(paths.at(-1)!)).commonFolder;
  const changes = new Map<string, StateChange[]>();
  for (const { gitFolder, top, root } of git ? listUndoStores(dataFolder) : []) {
    if (!isNear(root)) continue;
    // The objects that a removed working tree shared are in the repository.
    const newObjects = common === "" ? undefined : { own: join(gitFolder, "objects"), shared: join(common, "objects") };
    for (const [ref, found] of await readStateChanges({ ...git!, gitFolder, newObjects }, top))
      changes.set(ref, [...(changes.get(ref) ?? []), ...found]);
  }
  const withStates = new Set([...changes.keys()].map((ref) => dirname(ref)));
  const moments: FileMoment[] = [];
  const seen = new Set<string>();
  const conversations = await store.listConversations({ limit: Number.MAX_SAFE_INTEGER });
  for (const { id, workspace } of conversations.toSorted((one, other) => one.createdAt - other.createdAt)) {
    if (!withStates.has(dirname(toStateRef(id, "x"))) && !isNear(workspace)) continue;
    for await (const response of readLogs(store, id, now)) {
      signal?.throwIfAborted();
      const states = changes.get(toStateRef(id, response.id));
      // A fork has copies of the calls before it.
      const calls = listBlamedCalls(id, response).filter(({ callId }) => !seen.has(callId));
      for (const { callId } of calls) seen.add(callId);
      const known = states ? calls : calls.map((call) => ({ ...call, state: undefined }));
      moments.push(...listMoments(known, states ?? [], response.createdAt));
    }
  }
  return moments.toSorted((one, other) => one.time - other.time);
}

/** Reads each content once. */
function createStateReader(): ReadState {
  const texts = new Map<string, string | undefined>();
  return async (content) => {
    if (!content) return "";
    if (texts.has(content.id)) return texts.get(content.id);
    const { exitCode, stdout } = await runGit(content.setup, ["cat-file", "blob", content.id]);
    const text = exitCode === 0 ? toPlainText(stdout) : undefined;
    texts.set(content.id, text);
    return text;
  };
}
