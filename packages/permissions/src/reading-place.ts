/** Finds the place where the parts of a command run, and the files that reading ones may see there. */
import { posix } from "node:path";
import { readKind } from "@sheaf/base/files/read-folder";
import type { Workspace } from "@sheaf/base/files/workspace";
import type { ReadingPlace } from "./read-only-commands.ts";
import type { Rule } from "./rule.ts";
import type { ShellReading, SimpleCommand } from "./shell-reading.ts";

/** The kind and the real place of a path in the workspace. */
interface FoundPlace {
  readonly kind: "file" | "folder" | "none";
  /** Relative to the workspace, without links; "." for its root. */
  readonly relative: string;
}

/** Follows any path as file tools do. Undefined for one outside the workspace, or for a device, pipe or socket. */
export type FindPlace = (path: string) => FoundPlace | undefined;

/** The place of a command's parts, without a `cd` before them. */
export interface CommandPlace extends ReadingPlace {
  readonly commands: readonly SimpleCommand[];
  /** The folder where they run, absolute or relative to the workspace; undefined if unknown. */
  readonly folder: string | undefined;
}

/** Creates the place. `cd FOLDER && …` runs its other parts there; in other forms, `cd` is an ordinary command. */
export function createReadingPlace(
  { commands, isChain }: ShellReading,
  workingDirectory: string,
  { trusted, root, findPlace }: { readonly trusted: boolean; readonly root: string; readonly findPlace: FindPlace },
  denies: readonly Rule[],
): CommandPlace {
  const start = toFolder(findPlace, workingDirectory);
  const target = isChain ? toChangedFolder(commands[0]!) : undefined;
  const changed = target === undefined ? undefined : toFolder(findPlace, joinPath(start, target));
  const folder = changed ?? start;
  const hidden = denies.flatMap((rule) => (rule.kind === "Read" ? [rule.glob.in(root)] : []));
  return {
    commands: changed === undefined ? commands : commands.slice(1),
    // The list does not apply in an added folder, but git may run there.
    folder: folder ?? (posix.isAbsolute(workingDirectory) ? workingDirectory : undefined),
    isTrustedRoot: trusted && folder === "." && changed === undefined,
    mayRead(path, kind) {
      if (folder === undefined || isUnclear(path)) return false;
      const named = posix.isAbsolute(path) ? path : joinPath(folder, path);
      const found = named === undefined ? undefined : findPlace(named);
      if (named === undefined || !found || (kind === "file" && found.kind === "folder")) return false;
      return !hidden.some((glob) =>
        [named, found.relative].some(
          (spelling) =>
            glob.isCovering(spelling) || (kind === "folder" && found.kind !== "file" && glob.mayMatchBelow(spelling)),
        ),
      );
    },
  };
}

/** Returns the folder of `cd FOLDER`, if it is a plain folder below. */
function toChangedFolder(command: SimpleCommand): string | undefined {
  const [program, folder, ...more] = command;
  if (program?.text !== "cd" || !folder || folder.isGlob || more.length > 0) return undefined;
  return isUnclear(folder.text) || folder.text.startsWith("-") ? undefined : folder.text;
}

/** True if the meaning of a path depends on more than its text. */
function isUnclear(path: string): boolean {
  return path === "" || path.split("/").includes("..");
}

function toFolder(findPlace: FindPlace, path: string | undefined): string | undefined {
  const found = path === undefined ? undefined : findPlace(path);
  return found?.kind === "folder" ? found.relative : undefined;
}

function joinPath(folder: string | undefined, path: string): string | undefined {
  if (folder === undefined) return undefined;
  return folder === "." || posix.isAbsolute(path) ? path : `${folder}/${path}`;
}

export function createPlaceFinder(workspace: Workspace): FindPlace {
  return (path) => {
    const resolved = workspace.resolve(path);
    if (!resolved.ok) return undefined;
    const { relative } = resolved.path;
    const kind = readKind(workspace.root, relative);
    if (kind === "other") return undefined;
    return { kind: kind === "missing" ? "none" : kind, relative };
  };
}
