/** Permission bits of files and folders, of which git knows one. */
import type { Stats } from "node:fs";
import { join, posix } from "node:path";
import { readStats } from "@sheaf/base/files/repository";
import type { StateChanges } from "../trees/record-state.ts";

/** Modes by path: of files with other bits than git's 0644 and 0755, and of all folders that contain files. */
export interface Modes {
  readonly files: ReadonlyMap<string, number>;
  readonly folders: ReadonlyMap<string, number>;
}

export const noModes: Modes = { files: new Map(), folders: new Map() };

/** Changed files of `top`, whose modes may differ. */
interface ModeChanges extends Pick<StateChanges, "present" | "gone"> {
  readonly top: string;
  /** The folder of the state, "" for `top` itself. */
  readonly inner: string;
  /** True if folders that are known already are looked at. */
  readonly hasFolders: boolean;
}

/** The modes after changes; the same object if they are equal. */
export function readModes(before: Modes, { present, gone, top, inner, hasFolders }: ModeChanges): Modes {
  const files = new Map(before.files);
  const folders = new Map([[inner, -1], ...before.folders]);
  let isChanged = false;
  const set = (map: Map<string, number>, path: string, mode: number | undefined): void => {
    if (map.get(path) === mode) return;
    isChanged = true;
    if (mode === undefined) map.delete(path);
    else map.set(path, mode);
  };
  for (const path of gone) set(files, path, undefined);
  for (const [path, stats] of present) {
    set(files, path, stats.isFile() ? toUnusualMode(stats) : undefined);
    for (let folder = toFolder(path); !folders.has(folder); folder = toFolder(folder)) folders.set(folder, -1);
  }
  for (const [folder, mode] of folders) {
    if (!hasFolders && mode !== -1) continue;
    const stats = readStats(join(top, folder));
    set(folders, folder, stats?.isDirectory() ? stats.mode & 0o7777 : undefined);
  }
  return isChanged ? { files, folders } : before;
}

function toFolder(path: string): string {
  const folder = posix.dirname(path);
  return folder === "." ? "" : folder;
}

function toUnusualMode({ mode }: Stats): number | undefined {
  const bits = mode & 0o7777;
  return bits === toUsualMode((mode & 0o100) !== 0) ? undefined : bits;
}

/** The bits of a file that the list leaves out. */
export function toUsualMode(isProgram: boolean): number {
  return isProgram ? 0o755 : 0o644;
}

/** One line for each, in git's form: the mode, a blank, the path, with a slash for folders. */
export function encodeModes({ files, folders }: Modes): string {
  const toLine =
    (slash: string) =>
    ([path, mode]: readonly [string, number]) =>
      `${mode.toString(8)} ${path}${slash}\0`;
  return [...[...files].map(toLine("")), ...[...folders].map(toLine("/"))].join("");
}

export function decodeModes(text: string): Modes {
  const files = new Map<string, number>();
  const folders = new Map<string, number>();
  for (const line of text.split("\0")) {
    const [, mode = "", path = ""] = /^([0-7]+) (.*)$/s.exec(line) ?? [];
    if (mode === "") continue;
    if (path.endsWith("/")) folders.set(path.slice(0, -1), Number.parseInt(mode, 8));
    else files.set(path, Number.parseInt(mode, 8));
  }
  return { files, folders };
}
