/**
 * What this process may still load, start or read as its own while a run continues. If it lies in a folder that a run
 * writes, nothing in the run may change it: it would run outside of the sandbox (S-224).
 */
import { existsSync, readFileSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type Environment, toConfigFolder, toDataFolder, tryFinding } from "../base/paths.ts";
import { toComparablePath } from "./comparable-name.ts";
import { toRealPlace } from "./repository.ts";
import { isBelow, type Workspace, type WorkspacePath } from "./workspace.ts";

/** The files of a running Sheaf. All paths are absolute and without links. */
export interface ProgramFiles {
  /** A file of its code. */
  readonly code: string;
  /** Node and its libraries. */
  readonly executables: readonly string[];
  /** Where Node keeps compiled code; undefined: nowhere. */
  readonly compiledCode: string | undefined;
}

/** The files of this process. */
export function findProgramFiles(): ProgramFiles {
  const compiledCode = getCompileCacheDir();
  return {
    code: toRealPlace(fileURLToPath(import.meta.url)),
    executables: [...new Set([process.execPath, ...listMappedPrograms()].map(toRealPlace))],
    compiledCode: compiledCode && toRealPlace(compiledCode),
  };
}

/** The kernel knows all parts of a program; elsewhere than on Linux there is no such list. */
function listMappedPrograms(): string[] {
  try {
    const maps = readFileSync("/proc/self/maps", "utf8");
    return [...maps.matchAll(/^\S+ ..x. \S+ \S+ \S+ +(\/.*)$/gm)].map(([, file = ""]) => file);
  } catch {
    return [];
  }
}

/** The folder that Sheaf's code is loaded from: `dist` of its package. */
export function toCodeFolder({ code }: ProgramFiles): string {
  const root = toPackageFolder(code);
  const [name = "", ...rest] = relative(root, code).split(sep);
  return rest.length === 0 ? root : join(root, name);
}

/** The nearest folder with a `package.json`; the file's own folder if there is none. */
function toPackageFolder(file: string): string {
  const folders = listFoldersUp(dirname(file));
  return folders.find((folder) => existsSync(join(folder, "package.json"))) ?? dirname(file);
}

export interface OwnPlace {
  /** Absolute and without links. A file or a folder with all in it; it need not exist. */
  readonly path: string;
  /** Why nothing in a run may change it, for a message. */
  readonly reason: string;
}

export interface OwnPlacesOrder {
  /** Places below these are wanted; the folders themselves never are. Absolute, links resolved. */
  readonly inside: readonly string[];
  /** The user's, which names Sheaf's own folders. */
  readonly environment: Environment;
  /** Default: the files of this process. */
  readonly program?: ProgramFiles | undefined;
}

const runsFrom = "Sheaf itself runs from there";

/**
 * The places of Sheaf's own code and of Node, each as the whole `node_modules` around it, if there is one; and every
 * `node_modules` in which Node would look for a package of Sheaf's.
 */
export function listProgramPlaces({ inside, program = findProgramFiles() }: OwnPlacesOrder): OwnPlace[] {
  const { code, executables, compiledCode } = program;
  const root = toPackageFolder(code);
  const modules = listFoldersUp(root).map((folder) => join(folder, "node_modules"));
  const parts = [join(root, "bin"), toCodeFolder(program), ...executables, ...modules];
  const paths = inside.flatMap((top) => [
    ...parts.filter((path) => isInside(path, top)).map((path) => toModulesFolder(path, top)),
    ...(compiledCode !== undefined && isInside(compiledCode, top) ? [compiledCode] : []),
  ]);
  return [...new Set(paths)].map((path) => ({ path, reason: runsFrom }));
}

/** Those of the program, and the folders of the user's configuration, packages of models, and data. */
export function listOwnPlaces(order: OwnPlacesOrder): OwnPlace[] {
  const { inside, environment } = order;
  const folders = [toConfigFolder, toDataFolder].map((toFolder) => tryFinding(() => toFolder(environment)));
  const own = [...new Set(folders.filter(isAbsolute).map((folder) => toRealPlace(resolve(folder))))];
  return [
    ...listProgramPlaces(order),
    ...own
      .filter((path) => inside.some((top) => isInside(path, top)))
      .map((path) => ({ path, reason: "Sheaf keeps its configuration and data there" })),
  ];
}

/** The place of Sheaf's own that a path of a workspace meets; undefined if there is none. */
export function findOwnPlace({ root, git, program }: Workspace, path: WorkspacePath): OwnPlace | undefined {
  const places = listOwnPlaces({ inside: [root], environment: git.environment, program });
  if (places.length === 0) return undefined;
  const { absolute, named } = path;
  const compared = [absolute, isAbsolute(named) ? named : join(root, named)].map(toComparablePath);
  return places.find((place) => {
    const other = toComparablePath(place.path);
    return compared.some((one) => isBelow(one, other));
  });
}

function isInside(path: string, top: string): boolean {
  return path !== top && isBelow(path, top);
}

/** The outermost `node_modules` around a path, below `top`; the path itself if there is none. */
function toModulesFolder(path: string, top: string): string {
  const names = relative(top, path).split(sep);
  const at = names.indexOf("node_modules");
  return at === -1 ? path : join(top, ...names.slice(0, at + 1));
}

function listFoldersUp(folder: string): string[] {
  const outer = dirname(folder);
  return outer === folder ? [folder] : [folder, ...listFoldersUp(outer)];
}
