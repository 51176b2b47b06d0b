/** Reads the mounts of a process from the table of the kernel. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isBelow } from "@sheaf/base/files/workspace";

export interface MountEntry {
  readonly device: string;
  /** The path of the mounted folder or file in its file system. */
  readonly root: string;
  readonly type: string;
  readonly isWritable: boolean;
}

/** Mounts by path, in the order in which the process made them. */
export type MountTable = ReadonlyMap<string, readonly MountEntry[]>;

export function readMountTable(pid: number | undefined): MountTable {
  const table = new Map<string, MountEntry[]>();
  if (pid === undefined) return table;
  for (const line of readLines(`/proc/${pid}/mountinfo`)) {
    const [, , device = "", root = "", place = "", options = ""] = line.split(" ", 6);
    const [, type = ""] = / - (\S+)/.exec(line) ?? [];
    const entry = { device, root: unescape(root), type, isWritable: /^rw\b/.test(options) };
    const path = unescape(place);
    table.set(path, [...(table.get(path) ?? []), entry]);
  }
  return table;
}

/** Lists other paths at which the kernel shows a place or a part of it. `path` contains no links. */
export function listOtherPaths(path: string, table: MountTable): string[] {
  let own = path;
  while (!table.has(own) && own !== dirname(own)) own = dirname(own);
  const mount = table.get(own)?.at(-1);
  if (!mount) return [];
  const inner = join(mount.root, relative(own, path));
  return [...table].flatMap(([place, entries]) => {
    const { device, root } = entries.at(-1)!;
    if (place === own || device !== mount.device) return [];
    const other = join(place, relative(root, inner));
    if (isBelow(inner, root)) return isSame(path, other) ? [other] : [];
    const isPart = isBelow(root, inner) && !isBelow(place, path);
    return isPart && isSame(join(path, relative(inner, root)), place) ? [place] : [];
  });
}

/** False if another mount covers one of the paths, or if the user can't reach one. */
function isSame(one: string, other: string): boolean {
  try {
    const [first, second] = [statSync(one), statSync(other)];
    return first.ino === second.ino && first.dev === second.dev;
  } catch {
    return false;
  }
}

/** Lists the places, except `/proc`, at which the machine's processes are seen, as in a folder for `chroot`. */
export function listProcessPlaces(table: MountTable): string[] {
  return [...table.keys()].filter((place) => table.get(place)!.at(-1)!.type === "proc" && !isBelow(place, "/proc"));
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}

/** Decodes blanks and similar characters, which the kernel writes as octal numbers. */
function unescape(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
