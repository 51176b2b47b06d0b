/** The files of served workspaces, for clients that complete names and show contents (X31, X32). */
import { setImmediate as yieldToEvents } from "node:timers/promises";
import type { ToolError } from "@sheaf/protocol";
import { createFolderReader, walkFolders } from "@sheaf/base/files/read-folder";
import { readLines } from "@sheaf/base/files/read-file";
import { isOfGit } from "@sheaf/base/files/protected-names";
import { createWorkspace, type Workspace, type WorkspacePath } from "@sheaf/base/files/workspace";
import { rankPaths } from "@sheaf/agent/workspace/rank-paths";
import { createDenials } from "./denials.ts";
import { HttpError } from "./http-error.ts";
import type { ServerSettings } from "./server-context.ts";

/** Most files of a workspace in a list. */
const MAX_FILES = 100_000;

/** Most UTF-16 units of all paths in a list. */
const MAX_PATHS = 32 * 1024 * 1024;

/** Files that are ranked before other requests get their turn. */
const RANKED_AT_ONCE = 5000;

/** Lifetime of a list of files, since each typed letter asks for it again. Milliseconds. */
const LIST_MS = 5000;

/** Longest time to make a list. Milliseconds. */
const LIST_TIMEOUT_MS = 30_000;

/** Longest time to read a whole file and to count its lines. Milliseconds. */
const READ_MS = 10_000;

/** Largest content in one answer. Bytes. */
const MAX_CONTENT_BYTES = 1024 * 1024;

/** The best files for a query; `truncated` if there are more. */
interface FoundFiles {
  readonly files: readonly { readonly path: string }[];
  readonly truncated: boolean;
}

export interface WorkspaceFiles {
  /** Ends early when `signal` aborts because the client left. @throws HttpError NOT_FOUND. */
  search(name: string, query: string, limit: number, signal: AbortSignal): Promise<FoundFiles>;
  /** Lines of a text file, from 1. @throws HttpError NOT_FOUND, FORBIDDEN, USAGE. */
  read(
    name: string,
    path: string,
    lines: { readonly startLine: number; readonly maxLines: number },
    signal: AbortSignal,
  ): Promise<FileLines>;
}

interface FileLines {
  readonly path: string;
  readonly content: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly totalLines: number;
  /** SHA-256 of the whole file, hex. */
  readonly hash: string;
}

interface FileList {
  readonly paths: readonly string[];
  readonly isCut: boolean;
}

interface KnownList {
  readonly list: Promise<FileList>;
  /** Infinity while it is being made: one walk at a time. */
  until: number;
}

export function createWorkspaceFiles(settings: ServerSettings, now: () => number): WorkspaceFiles {
  const lists = new Map<string, KnownList>();
  const readDenials = createDenials(settings);
  const open = (name: string): Workspace => {
    const workspace = createWorkspace(findWorkspaceRoot(settings, name));
    return { ...workspace, leftOut: readDenials(workspace.root) };
  };
  const list = (workspace: Workspace): Promise<FileList> => {
    const known = lists.get(workspace.root);
    if (known && known.until > now()) return known.list;
    const made: KnownList = { list: listFiles(workspace), until: Infinity };
    const expire = (): void => void (made.until = now() + LIST_MS);
    made.list.then(expire, expire);
    lists.set(workspace.root, made);
    return made.list;
  };

  return {
    async search(name, query, limit, signal) {
      const { paths, isCut } = await list(open(name));
      let ranked: readonly string[] = [];
      for (let from = 0; from < paths.length && !signal.aborted; from += RANKED_AT_ONCE) {
        ranked = rankPaths(query, [...ranked, ...paths.slice(from, from + RANKED_AT_ONCE)], limit + 1);
        await yieldToEvents();
      }
      return { files: ranked.slice(0, limit).map((path) => ({ path })), truncated: ranked.length > limit || isCut };
    },
    async read(name, path, { startLine, maxLines }, signal) {
      const workspace = open(name);
      const found = findReadable(workspace, path, name);
      const range = { startLine, maxLines, maxBytes: MAX_CONTENT_BYTES };
      const until = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
      const read = await readLines(workspace.root, found, range, until);
      if (until.aborted) throw new HttpError("USAGE", `reading ${found.named} takes too long: it is too large`);
      if (!read.ok)
        throw new HttpError(read.error.code === "FILE_NOT_FOUND" ? "NOT_FOUND" : "USAGE", read.error.message);
      const { text, endLine, totalLines, hash } = read.value;
      return { path: found.named, content: text, startLine, endLine, totalLines, hash };
    },
  };
}

/** @throws HttpError NOT_FOUND. */
export function findWorkspaceRoot({ workspaces }: Pick<ServerSettings, "workspaces">, name: string): string {
  const root = workspaces.get(name);
  if (root !== undefined) return root;
  const names = [...workspaces.keys()].join(", ");
  throw new HttpError(
    "NOT_FOUND",
    `the workspace ${JSON.stringify(name.slice(0, 100))} is not served here: use one of ${names}`,
  );
}

/** A file that clients may see. @throws HttpError FORBIDDEN. */
export function findReadable(workspace: Workspace, path: string, name: string): WorkspacePath {
  const resolved = workspace.resolve(path);
  if (!resolved.ok) throw createPlaceError(resolved.error, path, name);
  const { path: found } = resolved;
  const places = [found.named, found.relative];
  if (places.some((place) => isOfGit(workspace.root, place)))
    throw new HttpError("FORBIDDEN", `${found.named} belongs to git: name a file of the workspace`);
  if (!places.some((place) => workspace.leftOut?.has(place))) return found;
  throw new HttpError("FORBIDDEN", `a rule of this server forbids to read ${found.named}`);
}

/** Hides the location of the workspace on this machine. */
function createPlaceError({ code, message }: ToolError, path: string, name: string): HttpError {
  const isOutside = code === "PATH_OUTSIDE_WORKSPACE";
  const outside = `${JSON.stringify(path.slice(0, 100))} leads out of the workspace ${name}: name a path inside it`;
  return new HttpError("FORBIDDEN", isOutside ? outside : message);
}

/** Lists the files, except ignored ones; doesn't follow links. */
async function listFiles(workspace: Workspace): Promise<FileList> {
  const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
  const paths: string[] = [];
  let length = 0;
  const reader = await createFolderReader(workspace, ".");
  for await (const { entries } of walkFolders(reader, ".", signal)) {
    for (const { kind, path } of entries) {
      // X32 can't read such a name, and a list that shows it could make it look like another name.
      const isOdd = /\p{Cc}/u.test(path);
      if (kind !== "file" || isOdd || workspace.leftOut?.has(path)) continue;
      paths.push(path);
      length += path.length;
      if (paths.length >= MAX_FILES || length >= MAX_PATHS) return { paths: paths.toSorted(), isCut: true };
    }
  }
  return { paths: paths.toSorted(), isCut: signal.aborted };
}
