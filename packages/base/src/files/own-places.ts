/**
 * Finds the files that Sheaf's process may still load, start or read during a run. If they are in a folder that the run
 * writes, the run must not change them: changed code would run outside of the sandbox (S-224).
 */
import { existsSync, readFileSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type Environment, toConfigFolder, toDataFolder, tryFinding } from "../paths.ts";
import { toComparablePath } from "./comparable-name.ts";
import { toRealPlace } from "./repository.ts";
import { isBelow, type Workspace, type WorkspacePath } from "./workspace.ts";

/** The files of a running Sheaf. All paths are absolute and without links. */
export interface ProgramFiles {
  /** A file of its code. */
  readonly code: string;
  /** Node and its libraries. */
  readonly executables: readonly string[];
  /** The folder in which Node stores compiled code; undefined if it stores none. */
  readonly compiledCode: string | undefined;
}

export function findProgramFiles(): ProgramFiles {
  const compiledCode = getCompileCacheDir();
  return {
    code: toRealPlace(fileURLToPath(import.meta.url)),
    executables: [...new Set([process.execPath, ...listMappedPrograms()].map(toRealPlace))],
    compiledCode: compiledCode && toRealPlace(compiledCode),
  };
}

/** Lists the files that run in this process, by the list of the Linux kernel; empty on other systems. */
function listMappedPrograms(): string[] {
  try {
    const maps = readFileSync("/proc/self/maps", "utf8");
    return [...maps.matchAll(/^\S+ ..x. \S+ \S+ \S+ +(\/.*)$/gm)].map(([, file = ""]) => file);
  } catch {
    return [];
  }
}

/** Returns the folder from which Sheaf's code is loaded: `dist` of its package. */
export function toCodeFolder({ code }: ProgramFiles): string {
  const root = toPackageFolder(code);
  const [name = "", ...rest] = relative(root, code).split(sep);
  return rest.length === 0 ? root : join(root, name);
}

/** Returns the nearest folder with a `package.json`, else the folder of the file. */
function toPackageFolder(file: string): string {
  const folders = listFoldersUp(dirname(file));
  return folders.find((folder) => existsSync(join(folder, "package.json"))) ?? dirname(file);
}

export interface OwnPlace {
  /** Absolute path, without links, of a file or of a folder with all its content; it need not exist. */
  readonly path: string;
  /** The reason why a run must not change it, for a message. */
  readonly reason: string;
}

export interface OwnPlacesOptions {
  /** Folders whose inner places are wanted, but not these folders themselves. Absolute, links resolved. */
  readonly inside: readonly string[];
  /** The user's environment, by which Sheaf finds its folders. */
  readonly environment: Environment;
  /** Files of the program. Default: this process's. */
  readonly program?: ProgramFiles | undefined;
}

const runsFrom = "Sheaf itself runs from there";

/**
 * Lists the places of the program's code and of Node. For a place in `node_modules`, it lists that whole folder. It
 * also lists every `node_modules` in which Node would look for a package that Sheaf imports.
 */
export function listProgramPlaces({ inside, program = findProgramFiles() }: OwnPlacesOptions): OwnPlace[] {
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

/** Lists the program's places, and the folders with the user's configuration, packages of models, and data. */
export function listOwnPlaces(options: OwnPlacesOptions): OwnPlace[] {
  const { inside, environment } = options;
  const folders = [toConfigFolder, toDataFolder].map((toFolder) => tryFinding(() => toFolder(environment)));
  const own = [...new Set(folders.filter(isAbsolute).map((folder) => toRealPlace(resolve(folder))))];
  return [
    ...listProgramPlaces(options),
    ...own
      .filter((path) => inside.some((top) => isInside(path, top)))
      .map((path) => ({ path, reason: "Sheaf keeps its configuration and data there" })),
  ];
}

/** Finds the place of the program's files that contains a path; undefined if no place does. */
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

/** Returns the outermost `node_modules` around a path, below `top`, else the path itself. */
function toModulesFolder(path: string, top: string): string {
  const names = relative(top, path).split(sep);
  const at = names.indexOf("node_modules");
  return at === -1 ? path : join(top, ...names.slice(0, at + 1));
}

function listFoldersUp(folder: string): string[] {
  const outer = dirname(folder);
  return outer === folder ? [folder] : [folder, ...listFoldersUp(outer)];
}
