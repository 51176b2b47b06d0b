/** Checks paths that a model wrote, before any file tool uses them (S-20). */
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { ToolError } from "@sheaf/protocol";
import { SheafError } from "../errors.ts";
import type { Environment } from "../paths.ts";
import { toFileError } from "./file-error.ts";
import { followLinks } from "./follow-links.ts";
import type { ProgramFiles } from "./own-places.ts";

/** A checked path inside the workspace. */
export interface WorkspacePath {
  /** Absolute path, links resolved as far as it exists. */
  readonly absolute: string;
  /** Relative to the root with `/`; "." for the root. */
  readonly relative: string;
  /** The path with its links, relative or, in an added folder, absolute. Documents show this one (N21). */
  readonly named: string;
}

/** A checked path, or the error of a refused one. */
export type PathResolution =
  | {
      readonly ok: true;
      readonly path: WorkspacePath;
      /** The path without following a link at its end. Undefined if that link is outside the workspace. */
      readonly entry: WorkspacePath | undefined;
    }
  | { readonly ok: false; readonly error: ToolError };

/** The input for finding git's configuration, whose places are protected (S-80). */
interface GitUse {
  /** The user's environment. */
  readonly environment: Environment;
  /** All folders in which the user works. Absolute. */
  readonly folders: readonly string[];
}

/** The places that searches leave out because rules deny reading them (S-243). */
export interface LeftOut {
  /** True if a path is such a place, or in one. Paths are relative. */
  has(path: string): boolean;
  /** True if an entry of a folder is such a place, or a link to one. Remembers the place. */
  meet(path: string, isLink: boolean): boolean;
  /** True if a folder may contain such a place. */
  mayHold(folder: string): boolean;
  /** The places met so far. */
  readonly paths: ReadonlySet<string>;
}

export interface Workspace {
  /** Absolute path, links resolved. */
  readonly root: string;
  readonly git: GitUse;
  /** Sheaf's own files, for tests. Default: the files of this process. */
  readonly program?: ProgramFiles | undefined;
  /** Places that searches must not show; undefined: no restriction. */
  readonly leftOut?: LeftOut | undefined;
  /** Checks a path that a model wrote (S-20). A refusal is a value. */
  resolve(path: string): PathResolution;
}

/** The kernel's limit for paths. Bytes. */
const MAX_PATH_BYTES = 4096;

export interface WorkspaceOptions {
  /** True for an added folder, whose paths are absolute in documents. */
  readonly isAdded?: boolean;
  /** The user's environment, and the user's folders apart from the workspace. */
  readonly git?: GitUse;
  /** Sheaf's own files. Default: the files of this process. */
  readonly program?: ProgramFiles | undefined;
}

/** Creates the workspace of a folder. @throws SheafError USAGE if the folder does not exist. */
export function createWorkspace(root: string, options: WorkspaceOptions = {}): Workspace {
  const { isAdded = false, git = { environment: {}, folders: [] }, program } = options;
  const given = resolve(root);
  const real = toRealRoot(given);
  return {
    root: real,
    git,
    program,
    resolve(path) {
      const resolution = resolveInside(path, given, real);
      if (!isAdded || !resolution.ok) return resolution;
      const { path: found, entry } = resolution;
      const named = join(real, found.named);
      return { ok: true, path: { ...found, named }, entry: entry && { ...entry, named } };
    },
  };
}

/** Fixes the paths of one call: a path stays as rules judged it, whatever replaces it on disk (S-84). */
export function fixPaths(workspace: Workspace): Workspace {
  const known = new Map<string, PathResolution>();
  return {
    ...workspace,
    resolve(path) {
      const resolution = known.get(path) ?? workspace.resolve(path);
      known.set(path, resolution);
      return resolution;
    },
  };
}

function toRealRoot(given: string): string {
  try {
    const real = realpathSync(given);
    if (statSync(real).isDirectory()) return real;
  } catch (cause) {
    throw new SheafError("USAGE", `the workspace ${given} cannot be used: name a folder that exists`, { cause });
  }
  throw new SheafError("USAGE", `the workspace ${given} is not a folder: name a folder`);
}

/**
 * Resolves a path (S-20): first `..` and `.`, as text, then links step by step, even those whose target is missing.
 * Both the text and the final place must be inside the workspace.
 */
function resolveInside(path: string, given: string, root: string): PathResolution {
  const fault = findSpellingFault(path);
  if (fault) return { ok: false, error: fault };
  const named = toNamedPath(path, given, root);
  if (named === undefined) return { ok: false, error: toOutsideError(path, root) };
  const toPath = (absolute: string): WorkspacePath => ({
    absolute,
    relative: toPortable(relative(root, absolute) || "."),
    named: toPortable(named),
  });
  try {
    const { target, entry } = followLinks(root, named.split(sep));
    if (!isBelow(target, root)) return { ok: false, error: toOutsideError(path, root, findExit(named, root)) };
    return { ok: true, path: toPath(target), entry: isBelow(entry, root) ? toPath(entry) : undefined };
  } catch (error) {
    return { ok: false, error: toFileError(error, path) };
  }
}

/** Returns the path relative to the root, without `..`; undefined if its text is outside the root. */
function toNamedPath(path: string, given: string, root: string): string | undefined {
  const absolute = resolve(root, path);
  const base = [root, given].find((folder) => isBelow(absolute, folder));
  if (base !== undefined) return relative(base, absolute) || ".";
  return isAbsolute(path) ? findEntrance(absolute, root) : undefined;
}

/** Returns the place where an absolute path enters the workspace through an outer link, with the rest unchanged. */
function findEntrance(absolute: string, root: string): string | undefined {
  // Links in `/proc` point to open files of a process.
  if (isBelow(absolute, "/proc")) return undefined;
  let place: string = sep;
  const segments = absolute.split(sep).slice(1);
  try {
    for (const [index, segment] of segments.entries()) {
      place = followLinks(place, [segment]).target;
      if (isBelow(place, root)) return join(relative(root, place), ...segments.slice(index + 1)) || ".";
    }
  } catch {
    // A path that cannot be followed is not in the workspace.
  }
  return undefined;
}

/** Returns the part of the path that ends with the link out of the workspace. */
function findExit(named: string, root: string): string | undefined {
  const segments = named.split(sep);
  const starts = segments.map((_, index) => segments.slice(0, index + 1));
  return starts.find((start) => !isBelow(followLinks(root, start).target, root))?.join(sep);
}

function findSpellingFault(path: string): ToolError | undefined {
  if (path.trim() === "") return toInvalidError('the path is empty: name a file, or "." for the workspace');
  if (path.includes("\0")) return toInvalidError("the path contains a NUL character: remove it");
  if (/\p{Cc}/u.test(path)) {
    return toInvalidError(
      `the path "${toVisible(path)}" contains a control character: name a path without one, or use run_terminal_cmd`,
    );
  }
  if (!path.isWellFormed()) return toInvalidError("the path contains half a surrogate pair: write it in valid Unicode");
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    return toInvalidError(`the path is longer than ${MAX_PATH_BYTES} bytes: name a shorter one`);
  }
  if (/^~[\w.-]*\//.test(path)) {
    return toInvalidError(
      `"${path}" is not expanded: name it relative to the workspace (a file of that name: "./${path}")`,
    );
  }
  return undefined;
}

/** Escapes control characters and line ends. */
export function toVisible(path: string): string {
  return path.replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function toInvalidError(message: string): ToolError {
  return { code: "PATH_INVALID", message, details: "" };
}

/** Creates the error. `link` is the link out of the workspace, if the text itself stays inside. */
export function toOutsideError(path: string, root: string, link?: string): ToolError {
  const way = link === undefined ? "" : ` through the link "${toVisible(link)}"`;
  const message = `"${path}" leads out of the workspace ${toVisible(root)}${way}: only paths inside it can be used`;
  return { code: "PATH_OUTSIDE_WORKSPACE", message, details: "" };
}

/** True if a path is this folder or inside it. Both are absolute and without dots. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function toPortable(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
