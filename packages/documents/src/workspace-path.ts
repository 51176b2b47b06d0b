/** Paths as documents show them (N21). */

const windowsRoot = /^(?:[A-Za-z]:[\\/]|\\\\)/;
const scheme = /^[A-Za-z][A-Za-z0-9+.-]+:/;

/**
 * A path that lies in the workspace relative to it, with `/` and without `.` and `..`; any other path as it was
 * written (N21). By the text alone: links are not followed. In a workspace on Windows (`C:\…`, `\\server\…`) both
 * separators count and case does not.
 */
export function toWorkspacePath(path: string, workspace: string): string {
  const windows = windowsRoot.test(workspace);
  const separator = windows ? /[\\/]+/ : /\/+/;
  const absolute = windows ? windowsRoot.test(path) : path.startsWith("/");
  if (path === "" || (!absolute && (scheme.test(path) || windowsRoot.test(path) || /^[\\/]/.test(path)))) return path;
  const segments = toSegments(path.split(separator));
  if (!absolute) return segments === undefined || segments.length === 0 ? path : segments.join("/");
  const root = toSegments(workspace.split(separator)) ?? [];
  if (segments === undefined || segments.length <= root.length) return path;
  const inside = root.every((name, index) => isSameName(name, segments[index] ?? "", windows));
  return inside ? segments.slice(root.length).join("/") : path;
}

/** The absolute path of a directory that may be given relative to the workspace (N38). */
export function toAbsolutePath(path: string, workspace: string): string {
  if (path === "" || path === ".") return workspace;
  if (path.startsWith("/") || windowsRoot.test(path)) return path;
  const separator = windowsRoot.test(workspace) ? "\\" : "/";
  const base = workspace.endsWith(separator) ? workspace : workspace + separator;
  return base + (path.startsWith("./") ? path.slice(2) : path);
}

/** Without empty and dot segments; undefined if `..` leads above the start. */
function toSegments(names: readonly string[]): string[] | undefined {
  const segments: string[] = [];
  for (const name of names) {
    if (name === "..") {
      if (segments.pop() === undefined) return undefined;
    } else if (name !== "" && name !== ".") {
      segments.push(name);
    }
  }
  return segments;
}

function isSameName(first: string, second: string, windows: boolean): boolean {
  return windows ? first.toLowerCase() === second.toLowerCase() : first === second;
}
