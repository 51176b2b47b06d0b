/** The text of `list_dir` as entries. */

export interface TreeEntry {
  /** Path below the listed folder, with `/`; without a slash at its end. */
  readonly path: string;
  readonly isFolder: boolean;
  /** From 0. */
  readonly depth: number;
}

const entryLimit = 2000;

const indentation = /^[\s│├└─┬|`+-]{0,200}/u;
const remark = /^(?:\.{3}|…) ?\d+ more$|^\(not readable: [A-Z_]+\)$|^The folder is empty\.$/;
const note = /^(?:Only the first|Folders below level|Left out by) .{1,400}\.$/;

/** Entries of a tree whose folders end in `/`; remarks of the tool are left out. */
export function parseTree(output: string): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const open: { readonly width: number; readonly path: string }[] = [];
  for (const line of splitTreeNote(output).tree.split("\n", entryLimit)) {
    const width = indentation.exec(line)?.[0].length ?? 0;
    const text = line.slice(width).trimEnd();
    if (text === "" || text.length > 400 || remark.test(text)) continue;
    // Links are shown as `name -> target`.
    const name = text.split(" -> ", 1)[0] ?? text;
    const isFolder = name.endsWith("/");
    const bare = isFolder ? name.slice(0, -1) : name;
    if (bare === "" || bare === ".") continue;
    while (open.length > 0 && (open.at(-1)?.width ?? 0) >= width) open.pop();
    const parent = open.at(-1);
    const path = parent ? `${parent.path}/${bare}` : bare;
    entries.push({ path, isFolder, depth: open.length });
    if (isFolder) open.push({ width, path });
  }
  return entries;
}

/** The tree, and the note behind it. */
export function splitTreeNote(output: string): { tree: string; note: string } {
  const text = output.trimEnd();
  const end = text.lastIndexOf("\n");
  const last = text.slice(end + 1);
  return note.test(last) ? { tree: text.slice(0, Math.max(0, end)), note: last } : { tree: text, note: "" };
}

/** Paths of files at the top, in order. */
export function toTopFiles(entries: readonly TreeEntry[]): string[] {
  return entries.filter(({ depth, isFolder }) => depth === 0 && !isFolder).map(({ path }) => path);
}

export function toTopFolders(entries: readonly TreeEntry[]): string[] {
  return entries.filter(({ depth, isFolder }) => depth === 0 && isFolder).map(({ path }) => path);
}
