/**
 * The border between commands and the user's repositories (S-77): a command works on a private copy of git's folder.
 * Sheaf never brings back a file of the copy, only the state that git's own formats describe.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { openFolder } from "@sheaf/base/files/open-folder";
import { isBelow } from "@sheaf/base/files/workspace";
import type { Environment } from "@sheaf/base/paths";
import { readStats, type Repository } from "@sheaf/base/files/repository";
import { applyGitState, type GitApplication } from "@sheaf/base/git/apply-git-state";
import {
  decodeGitState,
  exportScript,
  formatTips,
  type GitState,
  isObjectId,
  isOwnRef,
  readGitState,
} from "@sheaf/base/git/git-state";
import { updateRefs } from "@sheaf/base/git/apply-refs";
import { checkConnected, importPack } from "@sheaf/base/git/import-pack";
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";
import { toShownPath } from "../hold/held-place.ts";
import type { Mount } from "../hold/mounts.ts";
import { createGitCopy, type GitCopy } from "./git-copy.ts";
import { findOwnRepository } from "./own-repository.ts";

/** A script that runs in a sandbox. It can write these mounts, and `out`, which it sees as `/tmp`. */
export interface BorderScript {
  readonly script: string;
  readonly gitFolder: string;
  readonly mounts: readonly Mount[];
  readonly out: string;
}

export interface GitBorderOptions {
  /** Folders that commands write; absolute, links resolved. */
  readonly tops: readonly string[];
  readonly environment: Environment;
  /** Git outside of the sandbox, absolute; undefined if it is not installed. */
  readonly program: string | undefined;
  /** The private folder of the run. */
  readonly toFolder: () => string;
  /** Rejects with a sentence if the script fails. */
  readonly runScript: (script: BorderScript) => Promise<void>;
  readonly hasNetwork: boolean;
}

/** The part of the border that one command crosses. */
export interface GitPassage {
  readonly mounts: readonly Mount[];
  /** Brings back the command's changes after its end. Returns sentences for the model and the user. Never rejects. */
  end(): Promise<string[]>;
}

/** A folder that a command made and Sheaf moved away. */
export interface MovedFolder {
  readonly path: string;
  readonly target: string;
}

export interface GitBorder {
  /** Starts a passage. A command that only reads sees the repository itself, read-only. */
  begin(isReadOnly: boolean): GitPassage;
  /** Restores the repositories of a command from an export of their state. Returns sentences. */
  remake(folders: readonly MovedFolder[]): Promise<string[]>;
  /** Ends the border after the last command. Returns sentences about operations that still wait. */
  close(): Promise<string[]>;
}

type ExportedState = Omit<GitApplication, "hasNetwork">;

interface OwnCopy {
  readonly copy: GitCopy;
  /** Number of commands that use the copy. */
  users: number;
  /** True if the copy stays as it is for the next command, since an operation waits in it. */
  isKept: boolean;
  /** The state that Sheaf last brought back to the repository. */
  baseline: GitState | undefined;
}

export function createGitBorder(order: GitBorderOptions): GitBorder {
  const copies = new Map<string, OwnCopy>();
  let queue: Promise<unknown> = Promise.resolve();
  let count = 0;
  const findCopies = (): OwnCopy[] => {
    if (order.program === undefined) return [];
    const found = order.tops.flatMap((top) => findOwnRepository(top) ?? []);
    return [...new Map(found.map((repository) => [repository.gitFolder, repository])).values()].map((repository) => {
      const known = copies.get(repository.gitFolder);
      if (known) return known;
      const copy = createGitCopy(repository, order.toFolder(), copies.size);
      const own = { copy, users: 0, isKept: false, baseline: undefined };
      copies.set(repository.gitFolder, own);
      return own;
    });
  };
  const enter = (own: OwnCopy, isReadOnly: boolean): boolean => {
    if (own.users === 0 && !own.isKept) {
      if (isReadOnly) return false;
      own.copy.refresh();
    }
    own.users += 1;
    return true;
  };
  const leave = async (own: OwnCopy): Promise<string[]> => {
    try {
      return await bringBack(own);
    } catch (error) {
      own.isKept = false;
      if (own.users === 1) own.copy.discard();
      const reason = error instanceof Error ? error.message : String(error);
      return [`The repository stays as it was, because ${reason}.`];
    } finally {
      own.users -= 1;
    }
  };
  const bringBack = async (own: OwnCopy): Promise<string[]> => {
    const change = own.copy.findChange();
    if (change === "none") return [];
    if (own.copy.isInterrupted()) {
      const isNew = !own.isKept;
      own.isKept = true;
      return isNew ? [waitingNote] : [];
    }
    const notes = change === "state" ? [...(await apply(own))] : [];
    own.isKept = false;
    if (own.users > 1) return notes;
    own.baseline = undefined;
    const settings = own.copy.listOwnSettings();
    own.copy.discard();
    return settings.length === 0 ? notes : [...notes, toSettingsNote(settings)];
  };
  const exportState = async <Result>(
    own: OwnCopy,
    work: (exported: ExportedState) => Promise<Result>,
  ): Promise<Result> => {
    const { copy } = own;
    const strange = copy.findStrange();
    if (strange !== undefined) throw new Error(`"${basename(strange)}" in its git folder is not an ordinary file`);
    const { gitFolder } = copy.repository;
    const folder = order.toFolder();
    const place = join(folder, `git-export-${(count += 1)}`);
    const [original, out] = [join(place, "original"), join(place, "out")];
    mkdirSync(out, { recursive: true });
    try {
      const repository = toSetup(copy.repository, order);
      const before = own.baseline ?? (await readGitState({ ...repository, gitFolder: copy.writeOriginal(original) }));
      writeFileSync(join(out, "old"), formatTips(before));
      await order.runScript({ script: exportScript, gitFolder, mounts: copy.listMounts(), out });
      const name = `${folder.slice(-6)}-${count}`;
      return await work({ repository, before, after: decodeGitState(out), packFile: join(out, "pack"), name });
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  };
  const apply = (own: OwnCopy): Promise<readonly string[]> =>
    exportState(own, async (exported) => {
      own.baseline = exported.after;
      const notes = await applyGitState({ ...exported, hasNetwork: order.hasNetwork });
      const { gitFolder } = own.copy.repository;
      const ended = own.copy.listEnded();
      // The repository must have the commits of an ended operation first: deleting its files would lose them.
      if (ended.length > 0 && toTip(await readGitState(exported.repository)) === toTip(exported.after))
        for (const name of ended) rmSync(join(gitFolder, name), { recursive: true, force: true });
      return notes;
    });
  return {
    begin(isReadOnly) {
      const entered = findCopies().filter((own) => enter(own, isReadOnly));
      return {
        mounts: entered.flatMap(({ copy }) => copy.listMounts()),
        end() {
          const ended = queue.then(async () => {
            const notes: string[] = [];
            for (const own of entered) notes.push(...(await leave(own)));
            return notes;
          });
          queue = ended;
          return ended;
        },
      };
    },
    async remake(folders) {
      const repositories = folders.filter(
        ({ path, target }) => basename(path) === ".git" && readStats(target)?.isDirectory(),
      );
      const notes: string[] = [];
      if (order.program === undefined) return notes;
      for (const repository of repositories) {
        try {
          notes.push(...(await remakeRepository(repository, order, (count += 1))));
        } catch {
          // The repository stays away, and a sentence of the command already explains this.
        }
      }
      return notes;
    },
    async close() {
      await queue;
      const notes: string[] = [];
      for (const own of copies.values()) {
        if (!own.isKept) continue;
        const tip = await exportState(own, keepTip).catch(() => undefined);
        const place = tip === undefined ? "" : ` Its commits are at ${tip}.`;
        notes.push(`${unfinishedNote}${place}`);
      }
      return notes;
    },
  };
}

function toSettingsNote(keys: readonly string[]): string {
  const shown = keys.slice(0, 5).map((key) => JSON.stringify(key));
  const names = [...shown, ...(keys.length > shown.length ? [`${keys.length - shown.length} more`] : [])].join(", ");
  return `The repository does not get settings of git that this command changed (${names}): the user can change them with git config.`;
}

const waitingNote =
  "A rebase, merge or the like waits: this run keeps its state between commands, and the repository changes only when it has ended.";

const unfinishedNote =
  'A rebase, merge or the like did not end, so the repository has the state before it, and the files have its changes: "git status" lists them.';

/** Returns the commit that is checked out. */
function toTip({ head, refs }: GitState): string {
  return refs.get(head) ?? head;
}

/** Stores the commits of an operation that did not end. Returns the name of their ref. */
async function keepTip({ repository, before, after, packFile, name }: ExportedState): Promise<string | undefined> {
  const tip = toTip(after);
  if (tip === toTip(before) || !isObjectId(tip)) return undefined;
  await importPack(repository, packFile, (inner) => checkConnected(inner, [tip], false));
  const ref = `refs/sheaf/${name}/HEAD`;
  const faults = await updateRefs(repository, [{ name: ref, old: "", new: tip }]);
  return faults.size === 0 ? ref : undefined;
}

/** The place where the export sees the repository, since the repository's own place is empty now. */
const shownPlace = "/tmp/git";

/** @throws Error if the repository cannot be read, or a folder is in the way. */
async function remakeRepository(
  { path, target }: MovedFolder,
  order: GitBorderOptions,
  number: number,
): Promise<string[]> {
  const place = join(order.toFolder(), `git-new-${number}`);
  const [made, out] = [join(place, "made"), join(place, "out")];
  mkdirSync(join(out, basename(shownPlace)), { recursive: true });
  try {
    writeFileSync(join(out, "old"), "");
    const mount = { path: shownPlace, access: "read-only" as const, source: target };
    await order.runScript({ script: exportScript, gitFolder: shownPlace, mounts: [mount], out });
    const exported = decodeGitState(out);
    const refs = new Map([...exported.refs].filter(([name]) => isOwnRef(name)));
    const after = { ...exported, refs, branches: new Map<string, never>() };
    const format = [...refs.values()].some((id) => id.length > 40) ? "sha256" : "sha1";
    const repository = { program: order.program ?? "git", gitFolder: made, environment: order.environment };
    await askGit(repository, ["init", "-q", "--template=", `--object-format=${format}`], {
      purpose: "make a repository",
    });
    await askGit(repository, ["config", "core.bare", "false"], { purpose: "make a repository" });
    const before = await readGitState(repository);
    const packFile = join(out, "pack");
    const notes = await applyGitState({
      repository,
      before,
      after,
      packFile,
      name: `new-${number}`,
      hasNetwork: false,
    });
    // If git refused the commits, the whole repository stays away.
    if (toTip(await readGitState(repository)) !== toTip(after)) throw new Error(notes.join(" "));
    putBack(made, path, order.tops);
    const name = toShownPath(path, order.tops[0]!);
    return [`Sheaf made ${name} again, with the same commits, branches and index, but without settings, remotes and hooks.`, ...notes]; // prettier-ignore
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Puts the repository back, without following a link that a command left on the way. */
function putBack(made: string, path: string, tops: readonly string[]): void {
  const top = tops.find((folder) => isBelow(path, folder));
  if (top === undefined) throw new Error(`${path} is in no folder of this run`);
  const folder = openFolder(top, relative(top, dirname(path)));
  try {
    mkdirSync(folder.entry(basename(path)));
    cpSync(made, folder.entry(basename(path)), { recursive: true });
  } finally {
    folder.close();
  }
}

function toSetup({ gitFolder }: Repository, { program = "git", environment }: GitBorderOptions): GitSetup {
  return { program, gitFolder, environment };
}
