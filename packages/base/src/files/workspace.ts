/** The workspace: paths that a model wrote, checked before any file tool uses them (S-20). */
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { ToolError } from "@sheaf/protocol";
import { SheafError } from "../errors.ts";
import type { Environment } from "../paths.ts";
import { toFileError } from "./file-error.ts";
import { followLinks } from "./follow-links.ts";
import type { ProgramFiles } from "./own-places.ts";

/** A path inside the workspace, checked. */
export interface WorkspacePath {
  /** Absolute, links resolved as far as it exists. */
  readonly absolute: string;
  /** Relative to the root with `/`; "." for the root. */
  readonly relative: string;
  /** As it was named: relative (in an added folder absolute), with its links. Documents show this one (N21). */
  readonly named: string;
}

/** A checked path, or why it was refused. */
export type PathResolution =
  | {
      readonly ok: true;
      readonly path: WorkspacePath;
      /** The same, but a link at the end is not followed. Undefined: that link is outside the workspace. */
      readonly entry: WorkspacePath | undefined;
    }
  | { readonly ok: false; readonly error: ToolError };

/** What git's configuration is looked up by: the places that it names are protected (S-80). */
interface GitUse {
  /** Of the user. */
  readonly environment: Environment;
  /** All folders in which the user works. Absolute. */
  readonly folders: readonly string[];
}

/** The places that searches leave out because rules deny reading them (S-243). */
export interface LeftOut {
  /** True if a path is one of them, or in one. Paths are relative. */
  has(path: string): boolean;
  /** True if an entry of a folder is one of them, or a link to one; remembers it. */
  meet(path: string, isLink: boolean): boolean;
  /** True if there may be one in a folder. */
  mayHold(folder: string): boolean;
  /** Those that were met so far. */
  readonly paths: ReadonlySet<string>;
}

export interface Workspace {
  /** Absolute, links resolved. */
  readonly root: string;
  readonly git: GitUse;
  /** Sheaf's own files, for tests. Default: the files of this process. */
  readonly program?: ProgramFiles | undefined;
  /** What searches must not show; undefined: they may show everything. */
  readonly leftOut?: LeftOut | undefined;
  /** The path that a model wrote, checked (S-20); a refusal is a value. */
  resolve(path: string): PathResolution;
}

/** The kernel's limit for paths. Bytes. */
const MAX_PATH_BYTES = 4096;

export interface WorkspaceOptions {
  /** It is a further folder, whose paths are shown as absolute ones. */
  readonly isAdded?: boolean;
  /** `folders`: those besides the workspace itself. */
  readonly git?: GitUse;
  /** Sheaf's own files. Default: the files of this process. */
  readonly program?: ProgramFiles | undefined;
}

/**
 * The workspace of a folder on this machine.
 * @throws SheafError USAGE if the folder does not exist.
 */
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

/** The workspace for one call: a path stays what it was when rules judged it, whatever is swapped meanwhile (S-84). */
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
 * S-20: `..` and `.` are resolved first, as text; then links are followed step by step, even those whose target does not
 * exist. Both the text and the final place must be inside the workspace.
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

/** Relative to the root, without `..`; undefined if the text leads out of it. */
function toNamedPath(path: string, given: string, root: string): string | undefined {
  const absolute = resolve(root, path);
  const base = [root, given].find((folder) => isBelow(absolute, folder));
  if (base !== undefined) return relative(base, absolute) || ".";
  return isAbsolute(path) ? findEntrance(absolute, root) : undefined;
}

/** An absolute path that a link outside leads into the workspace: the folder where it enters, and the rest as written. */
function findEntrance(absolute: string, root: string): string | undefined {
  // Links in `/proc` lead to whatever a process has open.
  if (isBelow(absolute, "/proc")) return undefined;
  let place: string = sep;
  const segments = absolute.split(sep).slice(1);
  try {
    for (const [index, segment] of segments.entries()) {
      place = followLinks(place, [segment]).target;
      if (isBelow(place, root)) return join(relative(root, place), ...segments.slice(index + 1)) || ".";
    }
  } catch {
    // What cannot be followed does not lead into the workspace.
  }
  return undefined;
}

/** The link that leads out of the workspace, as it was named. */
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

/** Control characters and line ends as escapes. */
export function toVisible(path: string): string {
  return path.replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function toInvalidError(message: string): ToolError {
  return { code: "PATH_INVALID", message, details: "" };
}

/** `link`: what leads out, if it is not the text. */
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
