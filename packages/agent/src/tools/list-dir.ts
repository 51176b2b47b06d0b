/** list_dir: the tree of a folder. */
import type { ToolError } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { toCancelledOutcome, toFailedOutcome, toMissingFileError } from "./failure.ts";
import {
  createFolderReader,
  type FolderEntry,
  type FolderReader,
  formatIgnored,
  toLine,
} from "@sheaf/base/files/read-folder";
import { resolveFolder } from "./resolve-folder.ts";
import type { Tool } from "./tool.ts";
import { toArgumentText } from "./tool-traits.ts";

const maxDepth = 3;
const maxEntries = 500;

const parameters = s.object({
  target_directory: s.optional(s.string({ description: "Default: the workspace" })),
});

/** Lists a tree level by level up to the limit, sorted by name, folders with `/` at the end. Does not follow links. */
export const listDirTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "list_dir",
  description: `Show a folder as a tree: at most ${maxDepth} levels and ${maxEntries} entries, without what .gitignore excludes.`,
  access: "read",
  paths: { folders: ["target_directory"] },
  words: ["Listed folder", "Ordner aufgelistet", "Klasör listelendi", "フォルダーを一覧表示しました", "已列出資料夾"],
  kind: "read",
  toCursor: ({ target_directory }) => ({ lsToolCall: { path: toArgumentText(target_directory) } }),
  claude: { name: "LS", fields: { target_directory: "path" } },
  aliases: ["ls", "listdirectory", "listfiles"],
  parameters,
  async run({ target_directory }, { workspace, signal }) {
    const resolved = resolveFolder(workspace, target_directory);
    if (!resolved.ok) return toFailedOutcome(resolved.error);
    const path = resolved.value;
    const reader = await createFolderReader(workspace, path.relative);
    const tree = await readTree(reader, path.relative, signal);
    if (signal.aborted) return toCancelledOutcome();
    const top = tree.folders.get(path.relative);
    if (!top || "error" in top) return toFailedOutcome(top?.error ?? toMissingFileError(workspace.root, path));
    const output = formatFolder(tree, path.relative, "").join("\n");
    const note = toNote(tree);
    return {
      status: "success",
      output: output === "" ? "The folder is empty." : output,
      ...(note !== "" && { note }),
      ...(tree.isCut && { truncated: true as const }),
      effect: { kind: "list" },
    };
  },
};

/** A folder in the tree: its entries, and the number of further ones. */
type ShownFolder =
  | { readonly entries: readonly FolderEntry[]; readonly hidden: number }
  | { readonly error: ToolError };

interface Tree {
  /** Folders by path. */
  readonly folders: ReadonlyMap<string, ShownFolder>;
  readonly ignored: readonly FolderEntry[];
  /** True if some entries are missing. */
  readonly isCut: boolean;
  /** True if some folders are too deep to be opened. */
  readonly isDeep: boolean;
  /** True if a folder of packages was not opened. */
  readonly hasPackages: boolean;
}

/** This folder would fill the tree if no ignore rule excludes it; a model can list it by its path. */
const packages = "node_modules";

async function readTree(reader: FolderReader, start: string, signal: AbortSignal): Promise<Tree> {
  const folders = new Map<string, ShownFolder>();
  const ignored: FolderEntry[] = [];
  let free = maxEntries;
  let level = [start];
  let hasPackages = false;
  for (let depth = 1; depth <= maxDepth; depth += 1) {
    const next: string[] = [];
    for (const path of level) {
      if (signal.aborted || free === 0) break;
      // One folder at a time, so that the tree does not depend on the order of reading.
      const reading = await reader.read(path);
      if (!reading.ok) {
        folders.set(path, { error: reading.error });
        continue;
      }
      const entries = reading.entries.slice(0, free);
      free -= entries.length;
      ignored.push(...reading.ignored);
      folders.set(path, { entries, hidden: reading.entries.length - entries.length });
      const inner = entries.filter(({ kind }) => kind === "folder");
      next.push(...inner.filter(({ name }) => name !== packages).map((entry) => entry.path));
      hasPackages ||= inner.some(({ name }) => name === packages);
    }
    level = next;
  }
  const shown = [...folders.values()];
  const isCut = free === 0 && (level.length > 0 || shown.some((folder) => "hidden" in folder && folder.hidden > 0));
  return { folders, ignored, isCut, isDeep: level.length > 0, hasPackages };
}

function formatFolder(tree: Tree, path: string, indent: string): string[] {
  const folder = tree.folders.get(path);
  if (!folder) return [];
  if ("error" in folder) return [`${indent}(not readable: ${folder.error.code})`];
  const lines = folder.entries.flatMap((entry) => [
    indent + formatEntry(entry),
    ...(entry.kind === "folder" ? formatFolder(tree, entry.path, `${indent}  `) : []),
  ]);
  return folder.hidden > 0 ? [...lines, `${indent}... ${folder.hidden} more`] : lines;
}

function formatEntry({ name, kind, target }: FolderEntry): string {
  if (kind === "folder") return `${toLine(name)}/`;
  return kind === "link" ? `${toLine(name)} -> ${toLine(target)}` : toLine(name);
}

function toNote({ isCut, isDeep, hasPackages, ignored }: Tree): string {
  const notes: string[] = [];
  if (isCut) notes.push(`These are only the first ${maxEntries} entries, level by level.`);
  if (isDeep) notes.push(`Folders below level ${maxDepth} are not opened: name one as target_directory to see it.`);
  if (hasPackages) notes.push(`${packages} is not opened: name it as target_directory to see it.`);
  return [...notes, formatIgnored(ignored)].join(" ").trim();
}
