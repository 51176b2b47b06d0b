/**
 * The private git folder of commands (S-77): copies of the files in which git keeps its state. New objects go to a
 * folder next to it. Outside the sandbox its link `objects` dangles, so that git does not accept it as a repository
 * there.
 */
import { appendFileSync, type Dirent, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isInclude, readGitConfig, toConfigPath } from "@sheaf/base/git/git-config";
import { listEntries } from "@sheaf/base/files/list-files";
import { readSmallBytesIn } from "@sheaf/base/files/open-file";
import { readTarget } from "@sheaf/base/files/read-folder";
import { readStats, type Repository } from "@sheaf/base/files/repository";
import { parseGitConfig } from "@sheaf/base/git/git-config";
import { toQuotedPath } from "@sheaf/base/git/run-git";
import { readStat } from "../hold/folder-memory.ts";
import type { Mount } from "../hold/mounts.ts";

/** Most bytes of one file: an index of a million files is smaller. */
const maxBytes = 256 * 1024 * 1024;
/** Most files of a copy: only a repository with more loose refs and similar files exceeds it. */
const maxFiles = 50_000;

/** The place where the sandbox shows folders for new objects: only bubblewrap makes it. */
export const objectsPlace = "/dev/git";

/** Folders whose files are copied, though in `logs` only the files of HEAD and of the stash. */
const copiedFolders: ReadonlySet<string> = new Set(["refs", "reftable", "info", "logs", "rebase-merge", "rebase-apply", "sequencer"]); // prettier-ignore
const copiedLogs: ReadonlySet<string> = new Set(["logs/HEAD", "logs/refs", "logs/refs/stash"]);

/** Folders that always exist, read-only, so that commands cannot make hooks, submodules and worktrees. */
const heldFolders = ["hooks", "modules", "worktrees", "lfs"] as const;

/** Entries that git keeps while an operation waits for the user. */
const interruptedNames = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "sequencer"] as const; // prettier-ignore

/** Fingerprints of files by relative path: a changed file has another fingerprint. */
type Fingerprints = ReadonlyMap<string, string>;

interface CopiedFile {
  readonly fingerprint: string;
  readonly bytes: Buffer;
}

/** The kind of a command's change: no change, a private one, or a change of the state that the repository gets. */
export type GitChange = "none" | "private" | "state";

export interface GitCopy {
  readonly repository: Repository;
  /** Copies again the files that changed. @throws Error with a sentence if the repository cannot be copied. */
  refresh(): void;
  listMounts(): readonly Mount[];
  /** Compares the copy with its state after `refresh`. */
  findChange(): GitChange;
  /** Lists keys of settings that differ from the repository's, without upstreams. These settings stay in the copy. */
  listOwnSettings(): readonly string[];
  /** True if an operation waits in the copy, but not in the repository. */
  isInterrupted(): boolean;
  /** Lists operations that have ended in the copy since its start, and that the repository still has unchanged. */
  listEnded(): string[];
  /** Writes the copied state as a repository to a new folder. Returns the path of its git folder. */
  writeOriginal(folder: string): string;
  /**
   * Finds a name that is not an ordinary file, such as a pipe, in which git would wait. Git makes ordinary files only.
   */
  findStrange(): string | undefined;
  /** Removes the copy. The next `refresh` makes a new one. */
  discard(): void;
}

/** `folder` is the place for the copy and its objects. `position` differs for each repository of a run. */
export function createGitCopy(repository: Repository, folder: string, position: number): GitCopy {
  const { gitFolder, commonFolder } = repository;
  const own = relative(commonFolder, gitFolder);
  let round = 0;
  let copy = "";
  let objects = "";
  const empty = join(folder, "git-empty");
  const shownObjects = `${objectsPlace}/${position}`;
  let files = new Map<string, CopiedFile>();
  let made: Fingerprints | undefined;

  const write = (place: string, target: string): void => {
    const folders = new Set<string>();
    const makeFolder = (path: string): void => {
      if (folders.has(path)) return;
      folders.add(path);
      mkdirSync(path, { recursive: true });
    };
    for (const name of ["refs/heads", "refs/tags", "info", "base-objects", own]) makeFolder(join(place, name));
    for (const [name, { bytes, fingerprint }] of files) {
      makeFolder(dirname(join(place, name)));
      // The mode is the first part of the fingerprint: git may run the file.
      writeFileSync(join(place, name), bytes, { mode: 0o600 | (Number.parseInt(fingerprint, 10) & 0o777) });
    }
    symlinkSync(target, join(place, "objects"));
  };
  const discard = (): void => {
    made = undefined;
    for (const path of [copy, objects]) {
      try {
        if (path !== "") rmSync(path, { recursive: true, force: true });
      } catch {
        // A command took away the right to delete it, so it stays until the run ends.
      }
    }
  };

  return {
    repository,
    refresh() {
      const found = listCopied(commonFolder, own);
      const isSame = made && found.size === files.size && [...found].every(([name, text]) => files.get(name)?.fingerprint === text); // prettier-ignore
      if (isSame) return;
      const known = files;
      files = new Map();
      for (const [name, fingerprint] of found) {
        const before = known.get(name);
        const bytes = before?.fingerprint === fingerprint ? before.bytes : readSmallBytesIn(commonFolder, name, maxBytes); // prettier-ignore
        // Git may replace or delete it at this moment.
        if (bytes) files.set(name, { fingerprint, bytes });
        else if (readStats(join(commonFolder, name))?.isFile())
          throw new Error(`${join(commonFolder, name)} cannot be read`);
      }
      discard();
      round += 1;
      copy = join(folder, `git-${position}-${round}`);
      objects = join(folder, `git-objects-${position}-${round}`);
      write(copy, shownObjects);
      for (const path of [join(objects, "info"), join(objects, "pack"), empty]) mkdirSync(path, { recursive: true });
      writeFileSync(join(objects, "info/alternates"), `${toQuotedPath(join(commonFolder, "base-objects"))}\n`);
      made = listAll(copy);
    },
    listMounts() {
      const readOnly = { access: "read-only" as const };
      const places = [...new Set([commonFolder, gitFolder])].flatMap((place) => {
        const names = place === commonFolder ? [...heldFolders, ...listOthers(place)] : listOthers(place);
        return names.map((name) => join(place, name));
      });
      return [
        { path: commonFolder, access: "writable", source: copy },
        { path: shownObjects, access: "writable", source: objects },
        { path: join(commonFolder, "base-objects"), ...readOnly, source: join(commonFolder, "objects") },
        ...places.map((path) => ({ path, ...readOnly, source: readStats(path)?.isDirectory() ? path : empty })),
        ...(own === "" ? [] : [{ path: gitFolder, access: "writable" as const, source: join(copy, own) }]),
      ];
    },
    findChange() {
      if (!made) return "none";
      const now = listAll(copy);
      const names = new Set([...made.keys(), ...now.keys()]);
      const changed = [...names].filter((name) => made?.get(name) !== now.get(name));
      if (changed.length === 0) return "none";
      return changed.some((name) => isState(name, own)) ? "state" : "private";
    },
    listOwnSettings() {
      const [before, now] = [files.get("config")?.bytes, readSmallBytesIn(copy, "config", maxBytes)].map(readSettings);
      const changed = [...new Map([...before!, ...now!])].filter(
        ([setting]) => before!.has(setting) !== now!.has(setting),
      );
      return [...new Set(changed.map(([, key]) => key))];
    },
    isInterrupted: () =>
      interruptedNames.some((name) => readStats(join(copy, own, name)) && !readStats(join(gitFolder, name))),
    listEnded() {
      const now = listCopied(commonFolder, own);
      const isSame = (name: string): boolean => {
        const isPart = (file: string): boolean => file === join(own, name) || file.startsWith(`${join(own, name)}/`);
        const parts = [...new Set([...files.keys(), ...now.keys()])].filter(isPart);
        return parts.length > 0 && parts.every((file) => files.get(file)?.fingerprint === now.get(file));
      };
      return interruptedNames.filter((name) => !readStats(join(copy, own, name)) && isSame(name));
    },
    findStrange: () =>
      [copy, objects].flatMap(listStrange).find((path) => path !== join(copy, "objects")) ??
      findUnreadConfig(join(copy, "config"), commonFolder),
    writeOriginal(place) {
      write(place, join(commonFolder, "objects"));
      // The work tree of a submodule is not next to this place.
      for (const name of ["config", join(own, "config.worktree")])
        if (files.has(name)) appendFileSync(join(place, name), "\n[core]\n\tbare = false\n\tworktree = /\n");
      return join(place, own);
    },
    discard,
  };
}

/** Returns keys by setting, without upstreams, which Sheaf brings back. */
function readSettings(config: Buffer | undefined): ReadonlyMap<string, string> {
  const settings = parseGitConfig(config?.toString() ?? "").filter(({ key }) => !key.startsWith("branch."));
  return new Map(settings.map(({ key, value }) => [JSON.stringify([key, value]), key]));
}

/** True for a file from which git reads HEAD, refs, index, stash or settings. */
function isState(name: string, own: string): boolean {
  const inOwn = own === "" ? name : name.startsWith(`${own}/`) ? name.slice(own.length + 1) : "";
  if (inOwn === "HEAD" || inOwn === "index" || inOwn.startsWith("sharedindex.")) return true;
  return ["packed-refs", "config", "logs/refs/stash"].includes(name) || /^(?:refs|reftable)\//.test(name);
}

/**
 * Lists the repository's files to copy, relative to the common folder. `own` is the folder of a linked worktree in it.
 */
function listCopied(commonFolder: string, own: string): Fingerprints {
  const found = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const entry of listEntries(join(commonFolder, folder))) {
      const name = join(folder, entry.name);
      const inOwn = own !== "" && name.startsWith(`${own}/`) ? name.slice(own.length + 1) : name;
      if (inOwn.startsWith("logs/") && !copiedLogs.has(inOwn)) continue;
      if (entry.isDirectory()) {
        if (copiedFolders.has(inOwn.split("/")[0]!)) visit(name);
      } else if (entry.isFile() && !name.endsWith(".lock") && !(own !== "" && isIndex(name))) {
        add(found, commonFolder, name);
      }
    }
  };
  visit("");
  if (own !== "") visit(own);
  return found;
}

function isIndex(name: string): boolean {
  return name === "index" || name.startsWith("sharedindex.");
}

/** Lists all files of a private folder, which commands may have filled with anything. */
function listAll(copy: string): Fingerprints {
  const found = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const entry of listEntries(join(copy, folder))) {
      const name = join(folder, entry.name);
      if (name === "objects") found.set(name, readTarget(join(copy, name)));
      else if (entry.isDirectory()) visit(name);
      else add(found, copy, name);
    }
  };
  visit("");
  return found;
}

/** Paths of pipes, links and devices. */
function listStrange(folder: string): string[] {
  return listEntries(folder).flatMap((entry) => {
    if (entry.isDirectory()) return listStrange(join(folder, entry.name));
    return entry.isFile() ? [] : [join(folder, entry.name)];
  });
}

/** Finds an included file in which git would wait or which it cannot read, wherever a command has put it. */
function findUnreadConfig(file: string, commonFolder: string): string | undefined {
  const { settings } = readGitConfig([file], commonFolder);
  const included = settings.filter((setting) => setting.file === file && isInclude(setting));
  const paths = included.map((setting) => toConfigPath(setting, commonFolder, commonFolder));
  return readGitConfig(
    paths.filter((path) => path !== undefined),
    commonFolder,
  ).unread[0];
}

function add(found: Map<string, string>, folder: string, name: string): void {
  const stat = readStat(join(folder, name));
  if (!stat) return;
  if (found.size === maxFiles) throw new Error(`${folder} has more than ${maxFiles.toLocaleString("en")} files of refs and the like: run "git pack-refs --all"`); // prettier-ignore
  found.set(name, `${stat.mode}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}:${stat.ino}`);
}

/** Lists the repository's folders that are not copied, such as `annex`. */
function listOthers(folder: string): string[] {
  const isOther = ({ name }: Dirent): boolean => !copiedFolders.has(name) && name !== "objects";
  return listEntries(folder).filter((entry) => entry.isDirectory() && isOther(entry)).map(({ name }) => name); // prettier-ignore
}
