/** Formats paths for documents (N21). */

const windowsRoot = /^(?:[a-z]:[\\/]|\\\\)/i;

/** Matches a root of the other system, a drive, or a scheme such as `https:`. */
const foreignRoot = /^(?:[\\/]|[a-z]:[\\/]|[a-z][a-z0-9+.-]+:)/i;

/**
 * Makes a path inside the workspace relative to it, with `/` and without `.` and `..`; any other path stays as written
 * (N21). It uses only the text, and follows no links. In a workspace on Windows (`C:\…`, `\\server\…`) both separators
 * separate, and case does not matter.
 */
export function toWorkspacePath(path: string, workspace: string): string {
  const windows = windowsRoot.test(workspace);
  const absolute = windows ? windowsRoot.test(path) : path.startsWith("/");
  if (!absolute && foreignRoot.test(path)) return path;
  const separator = windows ? /[\\/]/ : "/";
  const segments = toSegments(path.split(separator));
  const root = absolute ? (toSegments(workspace.split(separator)) ?? []) : [];
  if (segments === undefined || segments.length <= root.length) return path;
  const isInside = root.every((name, index) => isSameName(name, segments[index] ?? "", windows));
  return isInside ? segments.slice(root.length).join("/") : path;
}

/** Returns the absolute path of a folder, which may be relative to the workspace (N38). */
export function toAbsolutePath(path: string, workspace: string): string {
  if (path === "" || path === ".") return workspace;
  if (path.startsWith("/") || windowsRoot.test(path)) return path;
  const separator = windowsRoot.test(workspace) ? "\\" : "/";
  const base = workspace.endsWith(separator) ? workspace : workspace + separator;
  return base + (path.startsWith("./") ? path.slice(2) : path);
}

/** Removes empty and dot segments; undefined if `..` leaves the start. */
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
