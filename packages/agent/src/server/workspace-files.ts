/** The files of served workspaces, for clients that complete names and show contents (X31, X32). */
import { readWorkspaceDenials } from "../config/workspace-rules.ts";
import { parseRule } from "../guard/permissions/rule.ts";
import { createFolderReader, walkFolders } from "../workspace/read-folder.ts";
import { readLines } from "../workspace/read-file.ts";
import { createWorkspace, type Workspace, type WorkspacePath } from "../workspace/workspace.ts";
import { rankPaths } from "../workspace/rank-paths.ts";
import { HttpError } from "./http-error.ts";
import type { ServerSettings } from "./server-context.ts";

/** Further files of a workspace are not listed. */
const MAX_FILES = 100_000;

/** A list of files is used this long: somebody types, and each letter asks again. Milliseconds. */
const LIST_MS = 5000;

/** Bytes of one answer. */
const MAX_CONTENT_BYTES = 1024 * 1024;

/** The best files for a query, and whether there are more. */
interface FoundFiles {
  readonly files: readonly { readonly path: string }[];
  readonly truncated: boolean;
}

export interface WorkspaceFiles {
  /** @throws HttpError NOT_FOUND. */
  search(name: string, query: string, limit: number): Promise<FoundFiles>;
  /** Lines of a text file, from 1. @throws HttpError NOT_FOUND, FORBIDDEN, USAGE. */
  read(
    name: string,
    path: string,
    lines: { readonly startLine: number; readonly maxLines: number },
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
  readonly paths: Promise<readonly string[]>;
  readonly until: number;
}

export function createWorkspaceFiles(settings: ServerSettings, now: () => number): WorkspaceFiles {
  const lists = new Map<string, FileList>();
  const open = (name: string): Workspace => {
    const root = settings.workspaces.get(name);
    if (root !== undefined) return createWorkspace(root);
    const names = [...settings.workspaces.keys()].join(", ");
    throw new HttpError(
      "NOT_FOUND",
      `the workspace ${JSON.stringify(name.slice(0, 100))} is not served here: use one of ${names}`,
    );
  };
  const isHidden = createDenials(settings);
  const list = (workspace: Workspace): Promise<readonly string[]> => {
    const known = lists.get(workspace.root);
    if (known && known.until > now()) return known.paths;
    const paths = listFiles(workspace, isHidden(workspace.root));
    lists.set(workspace.root, { paths, until: now() + LIST_MS });
    return paths;
  };

  return {
    async search(name, query, limit) {
      const paths = await list(open(name));
      const ranked = rankPaths(query, paths, limit + 1);
      return {
        files: ranked.slice(0, limit).map((path) => ({ path })),
        truncated: ranked.length > limit || paths.length >= MAX_FILES,
      };
    },
    async read(name, path, { startLine, maxLines }) {
      const workspace = open(name);
      const resolved = workspace.resolve(path);
      if (!resolved.ok) throw new HttpError("FORBIDDEN", resolved.error.message);
      const found = resolved.path;
      if (listSpellings(found).some(isHidden(workspace.root))) {
        throw new HttpError("FORBIDDEN", `a rule of this server forbids to read ${found.named}`);
      }
      const range = { startLine, maxLines, maxBytes: MAX_CONTENT_BYTES };
      const read = await readLines(workspace.root, found, range, AbortSignal.timeout(10_000));
      if (!read.ok)
        throw new HttpError(read.error.code === "FILE_NOT_FOUND" ? "NOT_FOUND" : "USAGE", read.error.message);
      const { text, endLine, totalLines, hash } = read.value;
      return { path: found.named, content: text, startLine, endLine, totalLines, hash };
    },
  };
}

/** As a client names a path, and where its links lead. */
function listSpellings({ named, relative, absolute }: WorkspacePath): readonly string[] {
  return [named, relative, absolute];
}

type IsHidden = (path: string) => boolean;

/** What the rules of the operator, and of a trusted workspace, hide from the model, they hide from clients. */
function createDenials({ permissions, isTrusted }: ServerSettings): (root: string) => IsHidden {
  return (root) => {
    const rules = [...permissions.deny, ...(isTrusted(root) ? readWorkspaceDenials(root) : [])].map(parseRule);
    const globs = rules.flatMap((rule) => (rule.kind === "Read" ? [rule.glob] : []));
    return (path) => globs.some((glob) => glob.isCovering(path));
  };
}

/** Without what ignore rules leave out; links are not followed. */
async function listFiles(workspace: Workspace, isHidden: IsHidden): Promise<readonly string[]> {
  const paths: string[] = [];
  const reader = await createFolderReader(workspace, ".");
  for await (const { entries } of walkFolders(reader, ".", AbortSignal.timeout(30_000))) {
    for (const { kind, path } of entries) if (kind === "file" && !isHidden(path)) paths.push(path);
    if (paths.length >= MAX_FILES) break;
  }
  return paths.toSorted();
}
