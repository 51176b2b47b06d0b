/**
 * Reads folders for the search tools, without entries that rules or ignore files exclude, and without following links.
 */
import { type Dirent, lstatSync, readdir, readlinkSync, type Stats } from "node:fs";
import { setImmediate as yieldToEvents } from "node:timers/promises";
import type { ToolError } from "@sheaf/protocol";
import { toFileError } from "./file-error.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { openFolder, withEntry } from "./open-folder.ts";
import { toVisible, type Workspace } from "./workspace.ts";

export interface FolderEntry {
  readonly name: string;
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
  /** The text of a link, else "". */
  readonly target: string;
}

/** The entries of one folder, sorted by name, and the excluded entries; or the error. */
type FolderReading =
  | { readonly ok: true; readonly entries: readonly FolderEntry[]; readonly ignored: readonly FolderEntry[] }
  | { readonly ok: false; readonly error: ToolError };

/** Reads folders below the folder that a model named. */
export interface FolderReader {
  read(path: string): Promise<FolderReading>;
}

/** If `start` itself is excluded, no rule applies below it: a model that asks for it wants to see its content. */
export async function createFolderReader(workspace: Workspace, start: string): Promise<FolderReader> {
  const rules = new IgnoreRules(workspace);
  const isStartIgnored = await rules.isIgnored(start, true);
  return {
    async read(path) {
      try {
        const all = await readEntries(workspace.root, path);
        const unignored = isStartIgnored ? all : await rules.filterEntries(path, all);
        const denied = new Set(all.filter((entry) => workspace.leftOut?.meet(entry.path, entry.kind === "link")));
        const entries = denied.size === 0 ? unignored : unignored.filter((entry) => !denied.has(entry));
        if (entries.length === all.length) return { ok: true, entries, ignored: [] };
        const kept = new Set([...unignored, ...denied]);
        // The note need not mention `.git`, which always exists.
        return { ok: true, entries, ignored: all.filter((entry) => !kept.has(entry) && entry.name !== ".git") };
      } catch (error) {
        return { ok: false, error: toFileError(error, path) };
      }
    },
  };
}

/**
 * Yields the folders at and below one, in any order, until an abort. Other events run between. `mayOpen`: default all.
 */
export async function* walkFolders(
  reader: FolderReader,
  start: string,
  signal: AbortSignal,
  mayOpen: (path: string) => boolean = () => true,
): AsyncGenerator<{ readonly folder: string; readonly entries: readonly FolderEntry[] }> {
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    await yieldToEvents();
    if (signal.aborted) return;
    const reading = await reader.read(folder);
    if (!reading.ok) continue;
    for (const { kind, path } of reading.entries) if (kind === "folder" && mayOpen(path)) open.push(path);
    yield { folder, entries: reading.entries };
  }
}

/** Meets all places below a folder that searches leave out, except in folders that ignore rules exclude. */
export async function findLeftOut(workspace: Workspace, start: string, signal: AbortSignal): Promise<void> {
  const { leftOut } = workspace;
  if (!leftOut?.mayHold(start)) return;
  const reader = await createFolderReader(workspace, start);
  for await (const _ of walkFolders(reader, start, signal, (path) => leftOut.mayHold(path)));
}

/** Reads the entries of an open folder, so that a link that replaces the folder is not followed (S-21). */
async function readEntries(root: string, path: string): Promise<FolderEntry[]> {
  const prefix = path === "." ? "" : `${path}/`;
  const folder = openFolder(root, path);
  try {
    const { promisify } = process.getBuiltinModule("node:util");
    const found = await promisify(readdir)(folder.entry("."), { withFileTypes: true });
    const entries = found.map((entry) => {
      const kind = toKind(entry);
      const target = kind === "link" ? readTarget(folder.entry(entry.name)) : "";
      return { name: entry.name, path: prefix + entry.name, kind, target };
    });
    return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  } finally {
    folder.close();
  }
}

function toKind(entry: Dirent | Stats): FolderEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

/**
 * Returns the kind of entry at a resolved path. It is "missing" for an entry that can't be examined, and for a link:
 * the link must have appeared since, so its target is unknown (S-84).
 */
export function readKind(root: string, relative: string): "file" | "folder" | "other" | "missing" {
  try {
    const kind = withEntry(root, relative, (entry) => toKind(lstatSync(entry)));
    return kind === "link" ? "missing" : kind;
  } catch {
    return "missing";
  }
}

/** Returns the target of a link; "?" if another entry has replaced it. */
export function readTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "?";
  }
}

/** Returns a name that stays on its line: with control characters or line ends, it becomes a JSON string. */
export function toLine(name: string): string {
  // JSON itself leaves some control characters as they are.
  return toVisible(name) === name ? name : toVisible(JSON.stringify(name));
}

/** Most names in a note. */
const shownNames = 5;

/** Formats the excluded entries as a note for the model; "" for an empty list. */
export function formatIgnored(entries: readonly FolderEntry[]): string {
  if (entries.length === 0) return "";
  const names = entries.slice(0, shownNames).map(({ path, kind }) => toLine(kind === "folder" ? `${path}/` : path));
  const more = entries.length > shownNames ? ` and ${entries.length - shownNames} more` : "";
  return `Excluded by .gitignore: ${names.join(", ")}${more}.`;
}
