/** Brings the changes of a working tree into the user's files: no git runs there, and no link is followed (C73). */
import { chmodSync, lstatSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "@sheaf/base/files/atomic-write";
import { type FileResult, runFileWork } from "@sheaf/base/files/file-error";
import { removeFile, resolveEntry } from "@sheaf/base/files/move-file";
import { type FileIdentity, toFileIdentity } from "@sheaf/base/files/open-file";
import { withEntry } from "@sheaf/base/files/open-folder";
import { findProtection } from "@sheaf/base/files/protected-names";
import { readWholeFile } from "@sheaf/base/files/read-file";
import { createWorkspace, type Workspace, type WorkspacePath } from "@sheaf/base/files/workspace";
import type { Environment } from "@sheaf/base/paths";
import { listTreeChanges, readObject, type TreeChange, type TreeEntry } from "./list-tree-changes.ts";
import { type GitSetup, runGit } from "@sheaf/base/git/run-git";

/** Larger files conflict. Bytes. */
const MAX_BYTES = 100 * 1024 * 1024;

export interface MergeOptions {
  /** The commits between which the changes are. */
  readonly from: string;
  readonly to: string;
  /** The user's folder: the root of the repository. */
  readonly root: string;
  readonly environment: Environment;
  /** For the names of both sides in files with conflict marks. */
  readonly name: string;
  /** `refuse`: then nothing changes. `leave`: the others are merged. `mark`: git's marks show both sides. */
  readonly onConflict: "refuse" | "leave" | "mark";
}

interface MergeConflict {
  readonly path: string;
  readonly reason: string;
}

export interface MergeResult {
  /** False: there were conflicts, and nothing was changed. */
  readonly merged: boolean;
  /** Files that were written or removed, or that already were as wanted. */
  readonly files: readonly string[];
  /** Files with both sides marked in them. */
  readonly marked: readonly string[];
  /** Files that were left as they are. */
  readonly conflicts: readonly MergeConflict[];
}

/** One file: what is to be done, or why it cannot be. */
type FileMerge =
  | { readonly kind: "apply"; readonly apply: () => Promise<FileResult<void>> }
  | { readonly kind: "mark"; readonly apply: () => Promise<FileResult<void>> }
  | { readonly kind: "conflict"; readonly reason: string };

/** Plans all files before it changes the first. @throws SheafError INTERNAL. */
export async function mergeChanges(mirror: GitSetup, options: MergeOptions): Promise<MergeResult> {
  const { root, environment, onConflict } = options;
  const workspace = createWorkspace(root, { git: { environment, folders: [] } });
  const plans = new Map<string, FileMerge>();
  for (const change of await listTreeChanges(mirror, options.from, options.to)) {
    plans.set(change.path, await planFile(mirror, workspace, change, options));
  }
  const isOpen = ({ kind }: FileMerge): boolean => kind === "conflict" || (kind === "mark" && onConflict !== "mark");
  const conflicts = [...plans].flatMap(([path, plan]) => (isOpen(plan) ? [{ path, reason: toReason(plan) }] : []));
  if (conflicts.length > 0 && onConflict === "refuse") return { merged: false, files: [], marked: [], conflicts };
  const done: Record<"apply" | "mark", string[]> = { apply: [], mark: [] };
  for (const [path, plan] of plans) {
    if (plan.kind === "conflict" || isOpen(plan)) continue;
    const outcome = await plan.apply();
    if (outcome.ok) done[plan.kind].push(path);
    else conflicts.push({ path, reason: outcome.error.message });
  }
  return { merged: true, files: done.apply, marked: done.mark, conflicts };
}

function toReason(plan: FileMerge): string {
  return plan.kind === "conflict" ? plan.reason : "you changed the same lines";
}

/** What is at a path of the user's now. */
interface Present {
  readonly kind: "absent" | "file" | "link";
  readonly content: Buffer;
  /** Undefined: nothing is there. */
  readonly identity: FileIdentity | undefined;
}

async function planFile(
  mirror: GitSetup,
  workspace: Workspace,
  { path, before, after }: TreeChange,
  { name }: MergeOptions,
): Promise<FileMerge> {
  const resolved = resolveEntry(workspace, `./${path}`);
  if (!resolved.ok) return { kind: "conflict", reason: resolved.error.message };
  if (resolved.path.relative !== path)
    return { kind: "conflict", reason: `it leads to ${resolved.path.relative} here` };
  if (before?.kind === "repository" || after?.kind === "repository") {
    return { kind: "conflict", reason: "it is a submodule" };
  }
  const protection = findProtection(workspace, resolved.path);
  if (protection) return { kind: "conflict", reason: protection.message };
  const found = await readPresent(workspace, resolved.path);
  if (!found.ok) return { kind: "conflict", reason: found.error.message };
  const present = found.value;
  const [old, wanted] = await Promise.all([readSide(mirror, before), readSide(mirror, after)]);
  const target = { workspace, path: resolved.path, present };
  if (isEqual(present, wanted)) {
    // The same bytes may have become a program.
    const isChanged = present.kind === "file" && before?.kind !== after?.kind;
    return {
      kind: "apply",
      apply: async () => (isChanged ? write(target, wanted, after) : { ok: true, value: undefined }),
    };
  }
  if (isEqual(present, old)) return { kind: "apply", apply: () => write(target, wanted, after) };
  if (present.kind !== "file" || old?.kind === "link" || wanted?.kind !== "file") {
    const what = wanted ? (present.kind === "absent" ? "you deleted it" : "yours differs") : "you changed it";
    return { kind: "conflict", reason: what };
  }
  return mergeTexts(mirror, target, { old: old ?? emptyFile, wanted, after, name });
}

/** A file or a link as a commit has it. */
interface Side {
  readonly kind: "file" | "link";
  readonly content: Buffer;
}

/** What a file had in common that both sides made. */
const emptyFile: Side = { kind: "file", content: Buffer.alloc(0) };

async function readSide(mirror: GitSetup, entry: TreeEntry | undefined): Promise<Side | undefined> {
  if (!entry) return undefined;
  return { kind: entry.kind === "link" ? "link" : "file", content: await readObject(mirror, entry, MAX_BYTES) };
}

function isEqual(present: Present, side: Side | undefined): boolean {
  if (!side) return present.kind === "absent";
  return present.kind === side.kind && present.content.equals(side.content);
}

async function readPresent(workspace: Workspace, path: WorkspacePath): Promise<FileResult<Present>> {
  const absent: Present = { kind: "absent", content: Buffer.alloc(0), identity: undefined };
  const stats = lstatSync(path.absolute, { bigint: true, throwIfNoEntry: false });
  if (!stats) return { ok: true, value: absent };
  if (stats.isSymbolicLink()) {
    return runFileWork(path.named, async () => {
      const content = readlinkSync(path.absolute, { encoding: "buffer" });
      return { kind: "link", content, identity: toFileIdentity(stats) };
    });
  }
  const whole = await readWholeFile(workspace.root, path, MAX_BYTES);
  if (!whole.ok) return whole;
  return { ok: true, value: { kind: "file", content: whole.value.bytes, identity: whole.value.identity } };
}

interface Target {
  readonly workspace: Workspace;
  readonly path: WorkspacePath;
  readonly present: Present;
}

async function write(
  target: Target,
  wanted: Side | undefined,
  after: TreeEntry | undefined,
): Promise<FileResult<void>> {
  const { workspace, path, present } = target;
  if (!wanted) return removeFile(workspace, path, present.identity);
  if (wanted.kind === "file" && present.kind !== "link") return writeText(target, wanted.content, after);
  if (present.kind !== "absent") {
    const removed = await removeFile(workspace, path, present.identity);
    if (!removed.ok) return removed;
  }
  if (wanted.kind === "file") {
    return writeText(
      { ...target, present: { ...present, kind: "absent", identity: undefined } },
      wanted.content,
      after,
    );
  }
  return runFileWork(path.named, async () =>
    withEntry(workspace.root, path.relative, (entry) => symlinkSync(wanted.content, entry), { create: true }),
  );
}

async function writeText(
  { workspace, path, present }: Target,
  content: Buffer,
  after: TreeEntry | undefined,
): Promise<FileResult<void>> {
  const mode = after?.kind === "program" ? 0o777 : 0o666;
  const written = await writeFileAtomically(workspace, path, content, present.identity, mode);
  if (!written.ok || present.kind === "absent") return written;
  return runFileWork(path.named, async () =>
    withEntry(workspace.root, path.relative, (entry) => {
      const stats = lstatSync(entry);
      const isProgram = (stats.mode & 0o100) !== 0;
      if (!stats.isFile() || isProgram === (after?.kind === "program")) return;
      // Who may read it may run it.
      const bits = stats.mode & 0o777;
      chmodSync(entry, isProgram ? bits & ~0o111 : bits | ((bits & 0o444) >> 2));
    }),
  );
}

interface TextMerge {
  readonly old: Side;
  readonly wanted: Side;
  readonly after: TreeEntry | undefined;
  readonly name: string;
}

/** Three texts become one, with git's marks where both sides changed the same lines. */
async function mergeTexts(
  mirror: GitSetup,
  target: Target,
  { old, wanted, after, name }: TextMerge,
): Promise<FileMerge> {
  const folder = mkdtempSync(join(mirror.gitFolder, "merge-"));
  try {
    const files = ["yours", "before", "theirs"].map((side) => join(folder, side));
    for (const [index, content] of [target.present.content, old.content, wanted.content].entries()) {
      writeFileSync(files[index]!, content);
    }
    const labels = ["-L", "yours", "-L", "before", "-L", name];
    const merged = await runGit(mirror, ["merge-file", "-p", ...labels, ...files]);
    // The number of conflicts; more than 127 for a failure, as with binary files.
    if (merged.exitCode < 0 || merged.exitCode > 127) return { kind: "conflict", reason: "you changed it too" };
    const kind = merged.exitCode === 0 ? "apply" : "mark";
    return { kind, apply: () => writeText(target, merged.stdout, after) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
