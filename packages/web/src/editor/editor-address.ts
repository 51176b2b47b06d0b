/** Addresses that open a file of the workspace in an editor on this computer (S-114). */

/** Makes the address with which each editor opens a file at a line. */
const addresses = {
  vscode: (file: string, line: number) => `vscode://file${file}:${line}`,
  cursor: (file: string, line: number) => `cursor://file${file}:${line}`,
  zed: (file: string, line: number) => `zed://file${file}:${line}`,
  idea: (file: string, line: number) => `idea://open?file=${file}&line=${line}`,
  pycharm: (file: string, line: number) => `pycharm://open?file=${file}&line=${line}`,
  webstorm: (file: string, line: number) => `webstorm://open?file=${file}&line=${line}`,
} as const;

export type Editor = keyof typeof addresses;

/** Names of the editors, in the spelling of their makers. */
export const editorNames: Readonly<Record<Editor, string>> = {
  vscode: "VS Code",
  cursor: "Cursor",
  zed: "Zed",
  idea: "IntelliJ IDEA",
  pycharm: "PyCharm",
  webstorm: "WebStorm",
};

export function isEditor(value: unknown): value is Editor {
  return typeof value === "string" && Object.hasOwn(addresses, value);
}

interface FilePlace {
  /** Path from a document, which is untrusted text. */
  readonly path: string;
  /** Number of the line, from 1. */
  readonly line: number;
  readonly workspace: string;
}

/**
 * Returns the address of a file. The user typed the folder, with `{workspace}` for the workspace's name, because the
 * server doesn't reveal its folders. Undefined if the folder isn't absolute, or if the path points outside of it.
 */
export function toEditorAddress(
  editor: Editor,
  folder: string,
  { path, line, workspace }: FilePlace,
): string | undefined {
  const root = folder
    .trim()
    .replaceAll("\\", "/")
    .replaceAll("{workspace}", () => workspace)
    .replace(/\/+$/, "");
  const parts = path.replaceAll("\\", "/").split("/");
  const isAbsolute = /^(?:\/[^/]|[A-Za-z]:(?:\/|$))/.test(root);
  const isInside = parts.every((part) => part !== "" && part !== "." && part !== "..") && !/^[A-Za-z]:/.test(path);
  if (!isAbsolute || !isInside || /\p{Cc}/u.test(root + path)) return undefined;
  const file = `${root.startsWith("/") ? "" : "/"}${root}/${parts.join("/")}`;
  const encoded = file.split("/").map(encodePart).join("/");
  return addresses[editor](encoded, Math.max(1, Math.trunc(line)));
}

/** Encodes a part of a path. The colon of `C:` stays, because editors look for it. */
function encodePart(part: string): string {
  return /^[A-Za-z]:$/.test(part) ? part : encodeURIComponent(part.toWellFormed());
}
