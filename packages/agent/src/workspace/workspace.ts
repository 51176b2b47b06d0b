/** The workspace: paths that a model wrote, checked before any file tool uses them (S-20). */
import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import type { ToolError } from "@sheaf/protocol";
import { SheafError } from "../base/errors.ts";
import { createFileFault, getFaultCode, toFileError } from "./file-error.ts";

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
  | { readonly ok: true; readonly path: WorkspacePath }
  | { readonly ok: false; readonly error: ToolError };

export interface Workspace {
  /** Absolute, links resolved. */
  readonly root: string;
  /** The path that a model wrote, checked (S-20); a refusal is a value. */
  resolve(path: string): PathResolution;
}

/** The kernel's limit for paths. Bytes. */
const MAX_PATH_BYTES = 4096;

/**
 * The workspace of a folder on this machine. `isAdded`: it is a further folder, whose paths are shown as absolute ones.
 * @throws SheafError USAGE if the folder does not exist.
 */
export function createWorkspace(root: string, { isAdded = false }: { readonly isAdded?: boolean } = {}): Workspace {
  const given = resolve(root);
  const real = toRealRoot(given);
  return {
    root: real,
    resolve(path) {
      const resolution = resolveInside(path, given, real);
      if (!isAdded || !resolution.ok) return resolution;
      const { path: found } = resolution;
      return { ok: true, path: { ...found, named: join(real, found.named) } };
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
  try {
    const absolute = toRealPath(root, named.split(sep));
    if (!isBelow(absolute, root)) return { ok: false, error: toOutsideError(path, root) };
    return {
      ok: true,
      path: { absolute, relative: toPortable(relative(root, absolute) || "."), named: toPortable(named) },
    };
  } catch (error) {
    return { ok: false, error: toFileError(error, path) };
  }
}

/** Relative to the root, without `..`; undefined if the text leads out of it. */
function toNamedPath(path: string, given: string, root: string): string | undefined {
  const absolute = resolve(root, path);
  const base = [root, given].find((folder) => isBelow(absolute, folder));
  return base && (relative(base, absolute) || ".");
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

/** Control characters as escapes. */
function toVisible(path: string): string {
  return path.replaceAll(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function toInvalidError(message: string): ToolError {
  return { code: "PATH_INVALID", message, details: "" };
}

function toOutsideError(path: string, root: string): ToolError {
  const message = `"${path}" leads out of the workspace ${root}: only paths inside it can be used`;
  return { code: "PATH_OUTSIDE_WORKSPACE", message, details: "" };
}

/** Whether a path is this folder or inside it. Both are absolute and without dots. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function toPortable(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

/** The limit of Linux. */
const MAX_LINKS = 40;

/**
 * The place that `segments` below `folder` lead to, as far as links exist; what does not exist is taken as written.
 * `folder` is absolute and without links.
 * @throws an error of the file system: ELOOP for a circle of links, EACCES for a folder that may not be searched.
 */
function toRealPath(folder: string, segments: readonly string[]): string {
  const pending = segments.toReversed();
  let current = folder;
  let links = 0;
  for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      current = dirname(current);
      continue;
    }
    const next = current.endsWith(sep) ? current + segment : current + sep + segment;
    const target = readLink(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw createFileFault("ELOOP");
    if (isAbsolute(target)) current = parse(target).root;
    pending.push(...target.split(sep).toReversed());
  }
  return current;
}

/** Undefined where there is no link. `lstat` comes first, since an error is slower. */
function readLink(path: string): string | undefined {
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
    return readlinkSync(path);
  } catch (error) {
    const code = getFaultCode(error);
    if (code === "EINVAL" || code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
