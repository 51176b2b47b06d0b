/** Reads the mounts of a process from the table of the kernel. */
import { readFileSync } from "node:fs";

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
