/** The hooks that a workspace names, and which of them a run may use (S-141, S-142). */
import { hash } from "node:crypto";
import { join, relative, resolve } from "node:path";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import { readStats, toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { hookFiles } from "./hook-settings.ts";
import { parseHooks, readHookFile, type Hook, type HookList } from "./read-hooks.ts";
import { toSorted } from "./to-sorted.ts";
import { readTrusted, toTrustState, type TrustState } from "./trust.ts";

/** Longest list of hooks that a person reads before approving it. UTF-16 units, as JSON. */
const MAX_ENTRY = 20_000;
/** Largest file that a hook names. Bytes. */
const MAX_BYTES = 1024 * 1024;
/** Files that the hooks of one file may name. */
const MAX_FILES = 50;

/** The hooks of one file, which a user approves together. */
export type WorkspaceHooks = { readonly name: string } & (
  | (HookList & {
      readonly state: TrustState;
      /** SHA-256 of the hooks as they are written, and of the files that their commands name, hex. */
      readonly digest: string;
      /** The files that the commands name, relative to the workspace. */
      readonly files: readonly string[];
    })
  /** Hooks that never run. */
  | { readonly state: "unusable"; readonly problem: string }
);

/** The repository's place and the user's list of trust; without a data folder, no hook is approved. */
interface HookPlaces {
  /** Absolute, links resolved. */
  readonly workspace: string;
  readonly dataFolder: string | undefined;
}

/**
 * Reads the hooks in the order of `hookFiles`. Skips a file without hooks, unless its hooks were approved (S-213).
 * @throws SheafError CONFIG_INVALID for a list of trust that cannot be read.
 */
export function readWorkspaceHooks(places: HookPlaces): readonly WorkspaceHooks[] {
  const found = hookFiles.flatMap((name) => {
    const value = readHooks(join(places.workspace, name));
    return value === undefined ? [] : [{ name, value }];
  });
  const trusted = readTrusted("hooks", places);
  // A guard that the user relies on must not go without a word: a command can move the folder that it is in.
  const gone = [...trusted.keys()].filter((name) => found.every((entry) => entry.name !== name));
  return [
    ...found.map(({ name, value }): WorkspaceHooks => {
      if (typeof value === "string") return { name, state: "unusable", problem: value };
      const entry = parseEntry(name, value, places.workspace);
      return typeof entry === "string"
        ? { name, state: "unusable", problem: entry }
        : { name, ...entry, state: toTrustState({ name, digest: entry.digest }, trusted) };
    }),
    ...gone.map((name): WorkspaceHooks => ({ name, state: "unusable", problem: goneProblem })),
  ];
}

const goneProblem = "you trusted them, but they are missing (sheaf hooks trust --remove ends the trust)";

/** The hooks of a file; undefined without hooks, or the reason why they cannot be read. */
function readHooks(file: string): Readonly<Record<string, unknown>> | string | undefined {
  const read = readHookFile(file);
  if (!read.ok) return read.isMissing ? undefined : `it ${read.problem}`;
  return Object.keys(read.hooks).length === 0 ? undefined : read.hooks;
}

/** The hooks to approve, or the reason why that is impossible. */
function parseEntry(name: string, value: Readonly<Record<string, unknown>>, workspace: string) {
  const written = JSON.stringify(toSorted(value));
  if (written.length > MAX_ENTRY) {
    return `its hooks have ${written.length} characters, more than a person reads (${MAX_ENTRY})`;
  }
  const parsed = parseHooks(value, { origin: "workspace", isSandboxed: true, file: name });
  const files = listFiles(parsed.hooks, workspace);
  if (files.length > MAX_FILES) return `its hooks name more than ${MAX_FILES} files`;
  const contents = toContents(files, workspace);
  if (contents === undefined) return `its hooks name a file that cannot be read, or has more than ${MAX_BYTES} bytes`;
  const digest = hash("sha256", JSON.stringify([name, written, contents]), "hex");
  // The model's commands can change these files during the run.
  const isChanged = (): boolean => {
    const now = listFiles(parsed.hooks, workspace);
    return JSON.stringify(toContents(now, workspace)) !== JSON.stringify(contents);
  };
  return { ...parsed, hooks: parsed.hooks.map((hook) => ({ ...hook, isChanged })), files, digest };
}

/** The files of the workspace that commands name, by words that are paths. */
function listFiles(hooks: readonly Hook[], workspace: string): string[] {
  const words = hooks.flatMap(({ command }) =>
    command
      .replaceAll(/\$\{?CLAUDE_PROJECT_DIR\}?/g, () => workspace)
      .replaceAll(/["'\\]/g, "")
      .split(/[\s`;|&()<>=:,]+/),
  );
  const paths = words.filter((word) => word !== "" && !word.includes("\0")).map((word) => resolve(workspace, word));
  // A link is bound to the content that it points to.
  const isFile = (path: string): boolean => readStats(toRealPlace(path))?.isFile() === true;
  const files = paths.filter((path) => path !== workspace && isBelow(path, workspace) && isFile(path));
  return [...new Set(files.map((path) => relative(workspace, path)))].toSorted();
}

/** The digest of each file; undefined if one cannot be read. */
function toContents(files: readonly string[], workspace: string): readonly (readonly [string, string])[] | undefined {
  const contents: (readonly [string, string])[] = [];
  for (const file of files) {
    const read = readOrdinaryFile(join(workspace, file), MAX_BYTES);
    if (!read.ok) return undefined;
    contents.push([file, hash("sha256", read.bytes, "hex")]);
  }
  return contents;
}
