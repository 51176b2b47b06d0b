/** Restores files, links and folders, each only if it has not changed since Sheaf's run left it. */
import { chmodSync, lstatSync, readlinkSync, rmdirSync, symlinkSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { writeFileAtomically } from "@sheaf/base/files/atomic-write";
import { createFileFault, type FileResult, getFaultCode, runFileWork } from "@sheaf/base/files/file-error";
import { moveFile, removeFile } from "@sheaf/base/files/move-file";
import { type FileIdentity, toFileIdentity } from "@sheaf/base/files/open-file";
import { openFolder, withEntry } from "@sheaf/base/files/open-folder";
import { hashFile, toGitId } from "@sheaf/base/files/read-file";
import { findProtection } from "@sheaf/base/files/protected-names";
import { type Workspace, type WorkspacePath, createWorkspace } from "@sheaf/base/files/workspace";
import { type FileSpan, type FileState, isSameState } from "./file-spans.ts";

/** The reason why a file cannot be restored. */
export const UNKNOWN_BEFORE = "it was too large to keep, or not a file or link";
export const NOT_KEPT = "its content of that time is not kept";

/** The contents of files and links at earlier times. */
export interface OldContents {
  /** Size in bytes; undefined for a content that is too large, or not kept. `hash` as in the state of a span. */
  findSize(hash: string): number | undefined;
  /** Undefined if the content is damaged, or not kept. */
  read(hash: string): Promise<Buffer | undefined>;
}

/** A file that is not restored, and why, in one line. */
export interface RevertConflict {
  /** The path as the documents show it. */
  readonly filePath: string;
  readonly reason: string;
}

export interface RevertedFile {
  readonly filePath: string;
  /** `restored` to the old state, `removed` because it was new, or `unchanged` because it already had the old state. */
  readonly action: "restored" | "removed" | "unchanged";
}

/** One step. An expected failure is a value. */
interface FileRevert extends RevertedFile {
  /** True if the result lists it. */
  readonly isShown: boolean;
  readonly apply: () => Promise<FileResult<void>>;
}

export interface FileReverts {
  /** The steps in the order in which to do them. */
  readonly reverts: readonly FileRevert[];
  readonly conflicts: readonly RevertConflict[];
}

export interface PresentFile {
  readonly span: FileSpan;
  readonly workspace: Workspace;
  readonly path: WorkspacePath;
  readonly state: FileState;
  /** SHA-256 of the content, hex; undefined for anything but a file that is small enough. */
  readonly sha256?: string | undefined;
  /** Undefined: the path is free. */
  readonly identity: FileIdentity | undefined;
}

interface RevertSetup {
  readonly contents: OldContents;
  readonly environment: Environment;
}

/**
 * Plans the steps that restore files, without a change in any workspace.
 * `overwrites`: also restore files that something else has changed since.
 */
export async function planFileReverts(
  spans: readonly FileSpan[],
  { contents, environment }: RevertSetup,
  overwrites: boolean,
): Promise<FileReverts> {
  const conflicts: RevertConflict[] = [];
  const files: PresentFile[] = [];
  for (const [span, file] of await readAllPresent(spans, environment)) {
    const reason = file.ok ? findConflict(file.value, overwrites, contents) : file.error.message;
    if (file.ok && reason === undefined) files.push(file.value);
    else if (isShown(span)) conflicts.push({ filePath: span.filePath, reason: reason ?? "" });
  }
  const changed = files.filter((file) => !isSameState(file.state, file.span.before));
  const restored = changed.filter(({ span }) => isEntry(span.before));
  const [isChanged, isRestored] = [new Set(changed), new Set(restored)];
  const isInTheWay = createObstacleCheck(restored);
  // A source in the way of others is removed first, and its content restored.
  const moves = new Map([...findMoves(files)].filter(([, source]) => !isInTheWay(source)));
  const sources = new Set(moves.values());
  const [first, last] = divide(
    changed.filter(({ span }) => span.before.kind === "absent").toSorted(compareDepth),
    isInTheWay,
  );
  const remove = (file: PresentFile): FileRevert =>
    toRevert(file, "removed", () => (sources.has(file) ? done() : removeEntry(file)));
  return {
    reverts: [
      ...first.map(remove),
      ...files.flatMap((file) => {
        if (!isChanged.has(file)) return [toRevert(file, "unchanged", done)];
        if (!isRestored.has(file)) return [];
        return [toRevert(file, "restored", () => restore(file, moves.get(file), contents))];
      }),
      // The other removals wait until everything to restore is in place.
      ...last.map(remove),
      ...changed
        .filter(({ span }) => span.before.kind === "folder")
        .map((file) => toRevert(file, "restored", () => restoreFolder(file))),
    ],
    conflicts,
  };
}

async function done(): Promise<FileResult<void>> {
  return { ok: true, value: undefined };
}

/** Something that is not a folder. */
function isEntry({ kind }: FileState): boolean {
  return kind !== "absent" && kind !== "folder";
}

function divide<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): readonly [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

/** Sorts the contents of a folder before the folder. */
function compareDepth({ span: one }: PresentFile, { span: other }: PresentFile): number {
  return other.path.split("/").length - one.path.split("/").length;
}

/** True if an entry is at a restored path or below it, or blocks a folder above it. */
function createObstacleCheck(restored: readonly PresentFile[]): (file: PresentFile) => boolean {
  const wanted = new Set(restored.map(({ span }) => span.path));
  const above = new Set(restored.flatMap(({ span }) => listAbove(span.path, span.workspace)));
  return ({ span: { path, workspace }, state }) =>
    (state.kind !== "folder" && above.has(path)) ||
    [path, ...listAbove(path, workspace)].some((each) => wanted.has(each));
}

/** The folders of a path below a root. */
function listAbove(path: string, root: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder)) folders.push(folder);
  return folders;
}

/** Each span with its present file. `maxBytes`: the state of a larger file is unknown. */
export async function readAllPresent(
  spans: readonly FileSpan[],
  environment: Environment,
  maxBytes?: number,
): Promise<readonly (readonly [FileSpan, FileResult<PresentFile>])[]> {
  const workspaces = new Map<string, FileResult<Workspace>>();
  // A file in the place of a folder is newer than the files in it, and a folder has no content.
  const entries = new Set(
    spans.filter(({ before, after }) => before.kind === "absent" && isEntry(after)).map(({ path }) => path),
  );
  const folders = new Set(
    spans.filter(({ before, after }) => before.kind === "absent" && after.kind === "folder").map(({ path }) => path),
  );
  const found: [FileSpan, FileResult<PresentFile>][] = [];
  for (const span of spans) {
    const opened = workspaces.get(span.workspace) ?? openWorkspace(span.workspace, environment);
    workspaces.set(span.workspace, opened);
    const isHidden =
      listAbove(span.path, span.workspace).some((path) => entries.has(path)) ||
      (isEntry(span.before) && folders.has(span.path)) ||
      (span.before.kind === "folder" && entries.has(span.path));
    const read = async (workspace: Workspace): Promise<FileResult<PresentFile>> =>
      isHidden ? { ok: true, value: toAbsent(span, workspace) } : readPresent(span, workspace, maxBytes);
    found.push([span, opened.ok ? await read(opened.value) : opened]);
  }
  return found;
}

function toAbsent(span: FileSpan, workspace: Workspace): PresentFile {
  const path = { absolute: span.path, relative: relative(workspace.root, span.path) || ".", named: span.filePath };
  return { span, workspace, path, state: { kind: "absent" }, identity: undefined };
}

/** The file of the span, if its path still points to the same place. */
async function readPresent(span: FileSpan, workspace: Workspace, maxBytes?: number): Promise<FileResult<PresentFile>> {
  const absent = toAbsent(span, workspace);
  if (absent.path.relative === ".") return readEntry(absent);
  // A state has links as links, wherever they lead.
  const expected = dirname(span.path);
  const resolved = workspace.resolve(expected);
  if (!resolved.ok) {
    if (resolved.error.code === "NOT_A_DIRECTORY") return { ok: true, value: absent };
    return toFault(resolved.error.code, toPathProblem(resolved.error));
  }
  if (resolved.path.absolute !== expected)
    return toFault("PATH_INVALID", `its path now reaches ${resolved.path.relative}`);
  const entry = await readEntry(absent);
  if (!entry.ok || entry.value.state.kind !== "content") return entry;
  const hashed = await hashFile(workspace.root, absent.path, { maxBytes, hasGitId: true });
  if (!hashed.ok) {
    // Sheaf can replace a pipe, and a file that it can't read.
    const isUnread = ["NOT_A_FILE", "PERMISSION_DENIED"].includes(hashed.error.code);
    return isUnread ? { ok: true, value: { ...entry.value, state: { kind: "unknown" } } } : hashed;
  }
  const { hash: sha256, gitId: hash, identity, mode } = hashed.value;
  const state: FileState =
    hash === undefined ? { kind: "unknown" } : { kind: "content", hash, mode: toModeOf(span, mode) };
  return { ok: true, value: { ...absent, state, sha256, identity } };
}

/** Reads the present entry, without the content of a file. */
function readEntry(file: PresentFile): Promise<FileResult<PresentFile>> {
  const { workspace, path, span } = file;
  return runFileWork(path.named, async () => {
    const read = (entry: string): PresentFile => {
      const stats = lstatSync(entry, { bigint: true, throwIfNoEntry: false });
      if (!stats) return file;
      const identity = toFileIdentity(stats);
      const mode = Number(stats.mode) & 0o7777;
      if (stats.isDirectory() && (span.before.kind === "folder" || span.after.kind === "folder")) {
        return { ...file, state: { kind: "folder", mode }, identity };
      }
      if (!stats.isSymbolicLink()) return { ...file, state: { kind: "content", hash: "", mode }, identity };
      return { ...file, state: { kind: "link", hash: toGitId(readlinkSync(entry, { encoding: "buffer" })) }, identity };
    };
    try {
      return path.relative === "." ? read(workspace.root) : withEntry(workspace.root, path.relative, read);
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(getFaultCode(error))) return file;
      throw error;
    }
  });
}

/** Git knows only whether a file is a program; Sheaf's own states know all bits. */
function toModeOf({ modes }: FileSpan, mode: number): number {
  return modes === "exact" ? mode : mode & 0o100 ? 0o755 : 0o644;
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
  return code === "PATH_OUTSIDE_WORKSPACE" ? "its path now leaves the workspace" : message;
}

function toFault(code: string, message: string): FileResult<never> {
  return { ok: false, error: { code, message, details: "" } };
}

function findConflict(
  { span, state, workspace, path }: PresentFile,
  overwrites: boolean,
  contents: OldContents,
): string | undefined {
  const { before, after } = span;
  if (isSameState(state, before)) return undefined;
  const protection = findProtection(workspace, path);
  if (protection) return protection.message;
  if (before.kind === "unknown") return UNKNOWN_BEFORE;
  if ("hash" in before && contents.findSize(before.hash) === undefined) return NOT_KEPT;
  if (overwrites || (before.kind === "folder" && state.kind === "absent")) return undefined;
  if (!isSameState(state, after)) return "something else has changed it since";
  return span.isInterrupted ? "something else changed it between two changes of Sheaf" : undefined;
}

/** Finds files that were only moved: moving them back keeps their metadata. Keyed by the missing file. */
export function findMoves(files: readonly PresentFile[]): ReadonlyMap<PresentFile, PresentFile> {
  const moves = new Map<PresentFile, PresentFile>();
  const sources = files.filter(
    ({ span, state }) => span.before.kind === "absent" && state.kind !== "absent" && state.kind !== "folder",
  );
  for (const file of sources.length === 0 ? [] : files) {
    if (file.state.kind !== "absent") continue;
    const at = sources.findIndex(
      ({ workspace, state }) => workspace.root === file.workspace.root && isSameState(state, file.span.before),
    );
    if (at < 0) continue;
    moves.set(file, sources[at]!);
    sources.splice(at, 1);
  }
  return moves;
}

function toRevert({ span }: PresentFile, action: RevertedFile["action"], apply: FileRevert["apply"]): FileRevert {
  return { filePath: span.filePath, action, apply, isShown: isShown(span) };
}

/** A folder comes and goes with its files. */
function isShown({ before, after }: FileSpan): boolean {
  return before.kind === "folder" ? after.kind === "folder" : after.kind !== "folder";
}

async function removeEntry({ workspace, path, identity, state }: PresentFile): Promise<FileResult<void>> {
  if (state.kind !== "folder") return removeFile(workspace, path, identity);
  return runFileWork(path.named, async () => {
    try {
      withEntry(workspace.root, path.relative, rmdirSync);
    } catch (error) {
      // Others have something in it, or have removed it.
      if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(getFaultCode(error))) throw error;
    }
  });
}

async function restore(
  file: PresentFile,
  source: PresentFile | undefined,
  contents: OldContents,
): Promise<FileResult<void>> {
  const { workspace, path, span, state, identity } = file;
  const { before } = span;
  if (!("hash" in before)) return toFault("FILE_NOT_FOUND", UNKNOWN_BEFORE);
  if (source) {
    const moved = await moveFile(workspace, source.path, path);
    return moved.ok ? setMode(file) : moved;
  }
  if (state.kind === "content" && before.kind === "content" && state.hash === before.hash) return setMode(file);
  const content = await contents.read(before.hash);
  if (!content) return toFault("FILE_NOT_FOUND", "its content of that time is damaged");
  const isReplaced = ["link", "unknown"].includes(state.kind) || (before.kind === "link" && state.kind !== "absent");
  const removed = isReplaced ? await removeFile(workspace, path, identity) : undefined;
  if (removed && !removed.ok) return removed;
  if (before.kind === "link") {
    return runFileWork(path.named, async () =>
      withEntry(workspace.root, path.relative, (entry) => symlinkSync(content, entry), { create: true }),
    );
  }
  const written = await writeFileAtomically(workspace, path, content, isReplaced ? undefined : identity, before.mode);
  return written.ok ? setMode(file) : written;
}

/** Sets the mode of that time; with git's modes, only if the file becomes a program or stops being one. */
async function setMode({ workspace, path, span: { before, modes } }: PresentFile): Promise<FileResult<void>> {
  if (!("mode" in before)) return done();
  const { mode, kind } = before;
  return runFileWork(path.named, async () => {
    const set = (entry: string): void => {
      const stats = lstatSync(entry);
      const isKind = kind === "folder" ? stats.isDirectory() : stats.isFile();
      if (!isKind) throw createFileFault("NOT_A_FILE");
      if (modes === "exact" ? (stats.mode & 0o7777) !== mode : (stats.mode & 0o100) !== (mode & 0o100))
        chmodSync(entry, mode);
    };
    if (path.relative === ".") set(workspace.root);
    else withEntry(workspace.root, path.relative, set);
  });
}

async function restoreFolder(file: PresentFile): Promise<FileResult<void>> {
  const { workspace, path } = file;
  const made = await runFileWork(path.named, async () => {
    if (path.relative !== ".") openFolder(workspace.root, path.relative, { create: true }).close();
  });
  return made.ok ? setMode(file) : made;
}
