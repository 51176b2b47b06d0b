/** AGENTS.md and the like: instructions of the user and the repository for every model (S-101). */
import { join, relative, sep } from "node:path";
import { readNames } from "@sheaf/base/files/open-folder";
import { createWorkspace, type Workspace } from "@sheaf/base/files/workspace";
import type { Repository } from "@sheaf/base/files/repository";
import { readSmallBytesIn, readSmallFile } from "@sheaf/base/files/open-file";
import { toPrefix } from "@sheaf/base/files/text-format";
import { parseFrontMatter } from "../../config/front-matter.ts";

/** Files in the root of a repository and in the folders below, down to the workspace; the first one counts most. */
const FILE_NAMES = ["AGENTS.md", "CLAUDE.md"];

/** Rules of Cursor, in the same folders. */
const CURSOR_FOLDER = ".cursor/rules";

/** File in the root of the repository. */
const COPILOT_FILE = ".github/copilot-instructions.md";

/** Files of Cursor that are read in one folder. */
const MAX_CURSOR_FILES = 50;

/** A larger file is not read. Bytes. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Limit for all files of a repository in the prompt. Bytes. */
const MAX_TOTAL_BYTES = 32 * 1024;

export interface Instructions {
  /** Relative to the root of the repository with `/`, or the absolute path of the user's own. */
  readonly name: string;
  readonly text: string;
  /** True if Sheaf cut off the end. */
  readonly isCut: boolean;
}

/** The user's own instructions: always trusted, because they are in the user's configuration folder. */
export function readUserInstructions(file: string): Instructions | undefined {
  return toInstructions(file, readSmallFile(file, MAX_FILE_BYTES), MAX_TOTAL_BYTES);
}

/**
 * The files from the root of the repository down to the workspace, the nearer ones last, because they take precedence,
 * as AGENTS.md does in its folder. A text that two files share appears once.
 * Does not follow a link out of the repository. If not all files fit, the nearer ones stay.
 */
export function readRepositoryInstructions({ root }: Repository, workspace: string): Instructions[] {
  const found: Instructions[] = [];
  const seen = new Set<string>();
  const inside = createWorkspace(root);
  let free = MAX_TOTAL_BYTES;
  for (const name of listFiles(inside, workspace)) {
    const resolved = inside.resolve(name);
    const bytes = free > 0 && resolved.ok ? readSmallBytesIn(root, resolved.path.relative, MAX_FILE_BYTES) : undefined;
    const text = bytes?.toString().replace(/^\uFEFF/, "") ?? "";
    const told = name.endsWith(".mdc") ? toCursorInstructions(text) : withoutImports(text);
    const instructions = toInstructions(name, told, free);
    if (!instructions || seen.has(instructions.text)) continue;
    seen.add(instructions.text);
    free -= Buffer.byteLength(instructions.text);
    found.unshift(instructions);
  }
  return found;
}

/** Files relative to the root, the nearest and most important first. */
function listFiles(inside: Workspace, workspace: string): string[] {
  const { root } = inside;
  const toName = (folder: string, name: string): string => relative(root, join(folder, name)).replaceAll(sep, "/");
  const names = listFolders(root, workspace)
    .toReversed()
    .flatMap((folder) => [
      ...FILE_NAMES.map((name) => toName(folder, name)),
      ...listCursorFiles(inside, toName(folder, CURSOR_FOLDER)),
    ]);
  return [...names, COPILOT_FILE];
}

function listCursorFiles(inside: Workspace, name: string): string[] {
  const resolved = inside.resolve(name);
  if (!resolved.ok) return [];
  try {
    const files = readNames(inside.root, resolved.path.relative).filter((file) => file.endsWith(".mdc"));
    return files
      .toSorted()
      .slice(0, MAX_CURSOR_FILES)
      .map((file) => `${name}/${file}`)
      .toReversed();
  } catch {
    return [];
  }
}

/** Each of the two files is read by itself, so a line by which one imports the other says nothing. */
function withoutImports(text: string): string {
  return text.replace(/^@(?:\.\/)?(?:AGENTS|CLAUDE)\.md[ \t]*$/gm, "");
}

/** The folders from the root to the workspace, both included. */
function listFolders(root: string, workspace: string): string[] {
  const names = relative(root, workspace).split(sep).filter(Boolean);
  return names.reduce((folders, name) => [...folders, join(folders.at(-1)!, name)], [root]);
}

function toInstructions(name: string, text: string | undefined, maxBytes: number): Instructions | undefined {
  // A byte order mark is not text.
  const trimmed = (text ?? "").replace(/^\uFEFF/, "").trim();
  if (trimmed === "" || maxBytes <= 0) return undefined;
  const shown = toPrefix(trimmed, maxBytes);
  return { name, text: shown, isCut: shown.length < trimmed.length };
}

/**
 * The text of a rule for every model. If the rule does not always apply, the text is when to read it. Undefined for a
 * rule that applies only when a person asks for it.
 */
function toCursorInstructions(text: string): string | undefined {
  const parsed = parseFrontMatter(text);
  if (!parsed) return text;
  const { fields, body } = parsed;
  if (fields.get("alwaysApply") === "true") return body;
  const [globs = "", description = ""] = [fields.get("globs"), fields.get("description")];
  const about = description === "" ? "" : `${description}\n`;
  if (globs !== "") return `${about}Read this file before you change files that match ${globs}.`;
  return description === "" ? undefined : `${about}Read this file when the task is about that.`;
}
