/** Completes a line: slash commands, and after `@` the files that no ignore rule excludes (C63). */
import { posix } from "node:path";
import { createFolderReader } from "@sheaf/base/files/read-folder";
import { createWorkspace } from "@sheaf/base/files/workspace";
import type { OwnCommand } from "../own-commands.ts";
import { completeSlashLine } from "./slash-commands.ts";

/** Candidates that can replace the text from `start` to the cursor. */
export interface Completion {
  readonly start: number;
  readonly candidates: readonly string[];
}

/** Number of workspace entries that a search looks at. */
const MAX_ENTRIES = 10_000;

const MAX_CANDIDATES = 50;

/** Completes `before`, the text before the cursor. `listAddresses` lists resources of a tool server (C110). */
export async function completeLine(
  before: string,
  workspace: string,
  listOwn?: () => readonly OwnCommand[],
  listAddresses?: (server: string) => Promise<readonly string[]>,
): Promise<Completion> {
  const at = /(?:^|\s)@(\S*)$/.exec(before);
  if (!at) return { start: 0, candidates: completeSlashLine(before, listOwn) };
  const word = at[1] ?? "";
  const start = before.length - word.length - 1;
  const [, server] = /^([\w.-]+):/.exec(word) ?? [];
  const addresses = server === undefined ? [] : ((await listAddresses?.(server)) ?? []);
  // Addresses are untrusted text: users don't type blanks or control characters.
  const named = addresses.map((uri) => `${server}:${uri}`).filter((text) => /^[!-~]+$/.test(text));
  const found = named.filter((text) => text.startsWith(word)).slice(0, MAX_CANDIDATES);
  const words = found.length > 0 ? found : await findPaths(workspace, word);
  return { start, candidates: words.map((text) => `@${text}`) };
}

/** Finds paths that contain the word: at first those that start with it, then names that do; folders end with "/". */
async function findPaths(root: string, word: string): Promise<string[]> {
  const reader = await createFolderReader(createWorkspace(root), ".");
  const wanted = word.toLowerCase();
  const found: { readonly path: string; readonly rank: number }[] = [];
  const folders = ["."];
  let seen = 0;
  for (const folder of folders) {
    const reading = await reader.read(folder);
    if (!reading.ok) continue;
    for (const { path, kind } of reading.entries) {
      if (kind === "folder") folders.push(path);
      if (kind !== "folder" && kind !== "file") continue;
      const rank = toRank(path.toLowerCase(), wanted);
      if (rank !== undefined) found.push({ path: kind === "folder" ? `${path}/` : path, rank });
    }
    seen += reading.entries.length;
    if (seen > MAX_ENTRIES) break;
  }
  return found
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, MAX_CANDIDATES)
    .map(({ path }) => path);
}

function toRank(path: string, wanted: string): number | undefined {
  const isDeeper = path.slice(wanted.length).includes("/");
  if (path.startsWith(wanted)) return isDeeper ? 2 : 0;
  if (posix.basename(path).startsWith(wanted)) return 1;
  return path.includes(wanted) ? 3 : undefined;
}
