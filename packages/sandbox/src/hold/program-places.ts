/**
 * Keeps commands from changing the files that Sheaf's process may still load or start (S-224). The folders above these
 * files keep their names as well: if a command could rename one, a mount below it would move along.
 */
import { lstatSync, mkdirSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { listFiles } from "@sheaf/base/files/list-files";
import { findProgramFiles, listProgramPlaces, type ProgramFiles, toCodeFolder } from "@sheaf/base/files/own-places";
import type { Environment } from "@sheaf/base/paths";
import { isBelow } from "@sheaf/base/files/workspace";
import { readStat, toIdentity } from "./folder-memory.ts";
import { type HeldPlace, toHeldPlace, toShownPath } from "./held-place.ts";

export interface ProgramScope {
  /** The folders that commands write, the workspace first; absolute, links resolved. */
  readonly tops: readonly string[];
  readonly environment: Environment;
  /** Files of the program. Default: this process's. */
  readonly program?: ProgramFiles | undefined;
}

/** The shell command that starts Sheaf from a folder outside of the workspace. */
const outsideStart = "npm install --prefix ~/.sheaf sheaf && ~/.sheaf/node_modules/.bin/sheaf";

/** Lists the existing places. Sheaf takes away a new `node_modules`: its packages could replace others. */
export function listHeldProgram({ tops, environment, program }: ProgramScope): HeldPlace[] {
  const [workspace = ""] = tops;
  return listProgramPlaces({ inside: tops, environment, program }).flatMap(({ path, reason }) => {
    const isCreated = basename(path) === "node_modules";
    const refusal = `${toShownPath(path, workspace)} is protected (${reason}), and commands may not create it`;
    return toHeldPlace(path, { access: "read-only", refusal: isCreated ? refusal : undefined });
  });
}

/** Names in `node_modules` that no import finds, and that tools of projects need. */
const toolFolders = [".cache", ".vite", ".vite-temp"] as const;

/** The folders in a protected `node_modules` that commands may write. Creates missing ones. */
export function openToolFolders(places: readonly HeldPlace[]): string[] {
  const modules = places.filter(({ path, isLink }) => !isLink && basename(path) === "node_modules");
  return modules.flatMap(({ path }) => toolFolders.map((name) => join(path, name)).filter(isOwnFolder));
}

function isOwnFolder(path: string): boolean {
  try {
    if (!readStat(path)) mkdirSync(path);
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Returns the reason why Sheaf cannot protect itself, as a sentence. It reads many files: call it once in a run. */
export function findProgramFault(order: ProgramScope): string | undefined {
  const problem = findProblem(order);
  return problem && `no command runs, because ${problem}: start Sheaf from elsewhere (${outsideStart})`;
}

function findProblem({ tops, environment, program = findProgramFiles() }: ProgramScope): string | undefined {
  const folder = toCodeFolder(program);
  if (tops.some((top) => isBelow(top, folder))) return `the workspace is in the folder of Sheaf itself, ${folder}`;
  const places = listProgramPlaces({ inside: tops, environment, program }).map(({ path }) => path);
  if (places.length === 0) return undefined;
  if (process.versions.pnp !== undefined) return "Yarn loads Sheaf from archives in the workspace";
  const linked = new Map<string, string>();
  for (const file of [...listFiles(folder), ...program.executables]) {
    const stat = readStat(file);
    if (stat && stat.nlink > 1n && places.some((place) => isBelow(file, place))) linked.set(toIdentity(stat), file);
  }
  if (linked.size === 0) return undefined;
  const open = places.flatMap((path) => toolFolders.map((name) => join(path, name)));
  const writable = [...tops.flatMap((top) => listFiles(top, places)), ...open.flatMap((path) => listFiles(path))];
  for (const file of writable) {
    const stat = readStat(file);
    const own = stat && linked.get(toIdentity(stat));
    if (own !== undefined) return `${toShownPath(file, tops[0]!)} is a hard link to ${own}, a file of Sheaf itself`;
  }
  return undefined;
}

/** Explains a failed command, in a sentence, if one of its error lines has the path of a place of Sheaf itself. */
export function explainProgramPlaces(lines: readonly string[], order: ProgramScope): string | undefined {
  if (lines.length === 0) return undefined;
  const [workspace = ""] = order.tops;
  const places = listProgramPlaces({ ...order, inside: order.tops });
  const names = places.map(({ path }) => (isBelow(path, workspace) ? relative(workspace, path) : path));
  const named = names.find((name) => lines.some((line) => line.includes(name)));
  if (named === undefined) return undefined;
  return `Sheaf itself runs from ${named} here, which is protected: no command can change it. Tell the user to start Sheaf from elsewhere for that: ${outsideStart}`;
}
