/** AGENTS.md: what the user and the repository tell every model. */
import { join, relative, sep } from "node:path";
import { createWorkspace } from "../../workspace/workspace.ts";
import type { Repository } from "../../workspace/repository.ts";
import { readSmallBytesIn, readSmallFile } from "../../workspace/open-file.ts";
import { toPrefix } from "../../workspace/text-format.ts";

/** Name of the file in the root of a repository and the folders below. */
const FILE_NAME = "AGENTS.md";

/** A larger file is not read. Bytes. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Limit for all files of a repository in the prompt. Bytes. */
const MAX_TOTAL_BYTES = 32 * 1024;

/** One file of instructions. */
export interface Instructions {
  /** Relative to the root of the repository with `/`, or the absolute path of the user's own. */
  readonly name: string;
  readonly text: string;
  /** Whether the end was cut off. */
  readonly isCut: boolean;
}

/** The user's own instructions: always trusted, because they are in the user's configuration folder. */
export function readUserInstructions(file: string): Instructions | undefined {
  return toInstructions(file, readSmallFile(file, MAX_FILE_BYTES), MAX_TOTAL_BYTES);
}

/**
 * The files from the root of the repository down to the workspace. Nearer ones come later, so that they take precedence.
 * Does not follow a link out of the repository. If not all of them fit, the nearer ones are kept.
 */
export function readRepositoryInstructions({ root }: Repository, workspace: string): Instructions[] {
  const found: Instructions[] = [];
  const inside = createWorkspace(root);
  let free = MAX_TOTAL_BYTES;
  for (const folder of listFolders(root, workspace).toReversed()) {
    const name = relative(root, join(folder, FILE_NAME)).replaceAll(sep, "/");
    const resolved = inside.resolve(name);
    const bytes = resolved.ok ? readSmallBytesIn(root, resolved.path.relative, MAX_FILE_BYTES) : undefined;
    const instructions = free > 0 ? toInstructions(name, bytes?.toString(), free) : undefined;
    if (!instructions) continue;
    free -= Buffer.byteLength(instructions.text);
    found.unshift(instructions);
  }
  return found;
}

/** From the root to the workspace, both included. */
function listFolders(root: string, workspace: string): string[] {
  const names = relative(root, workspace).split(sep).filter(Boolean);
  return names.reduce((folders, name) => [...folders, join(folders.at(-1)!, name)], [root]);
}

function toInstructions(name: string, text: string | undefined, maxBytes: number): Instructions | undefined {
  // A byte order mark is not text.
  const trimmed = (text ?? "").replace(/^\uFEFF/, "").trim();
  if (trimmed === "") return undefined;
  const shown = toPrefix(trimmed, maxBytes);
  return { name, text: shown, isCut: shown.length < trimmed.length };
}
