/**
 * The border between commands and the user's repositories (S-77): a command works on a private copy of git's folder, and
 * Sheaf brings back what git's own formats say of it, never a file.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import type { Repository } from "@sheaf/base/files/repository";
import { applyGitState } from "@sheaf/base/git/apply-git-state";
import { decodeGitState, exportScript, type GitState, isObjectId, readGitState } from "@sheaf/base/git/git-state";
import type { GitSetup } from "@sheaf/base/git/run-git";
import type { Mount } from "../hold/mounts.ts";
import { createGitCopy, type GitCopy } from "./git-copy.ts";
import { findOwnRepository } from "./own-repository.ts";

/** A script that runs in a sandbox in which it writes only `out`, which it sees as `/tmp`, and these mounts. */
export interface BorderScript {
  readonly script: string;
  readonly gitFolder: string;
  readonly mounts: readonly Mount[];
  readonly out: string;
}

export interface GitBorderOrder {
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
  /** After the command: brings back what it changed. Returns sentences for the model and the user. Never rejects. */
  end(): Promise<string[]>;
}

export interface GitBorder {
  /** `isReadOnly`: the command changes nothing, so it sees the repository itself, read-only. */
  begin(isReadOnly: boolean): GitPassage;
  /** After the last command. Returns sentences about operations that still wait. */
  close(): Promise<string[]>;
}

interface OwnCopy {
  readonly copy: GitCopy;
  /** Commands that have it. */
  users: number;
  /** It stays as it is for the next command: an operation waits in it. */
  isKept: boolean;
  /** What came back last; undefined: nothing yet. */
  baseline: GitState | undefined;
}

export function createGitBorder(order: GitBorderOrder): GitBorder {
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
      own.copy.discard();
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
    const notes = change === "state" ? await exportState(own) : [];
    own.isKept = false;
    if (own.users > 1) return notes;
    own.baseline = undefined;
    own.copy.discard();
    return notes;
  };
  const exportState = async (own: OwnCopy, name = createName()): Promise<string[]> => {
    const { copy } = own;
    const place = join(order.toFolder(), `git-export-${(count += 1)}`);
    const [original, out] = [join(place, "original"), join(place, "out")];
    mkdirSync(out, { recursive: true });
    try {
      const setup = toSetup(copy.repository, order);
      const before = own.baseline ?? (await readGitState({ ...setup, gitFolder: copy.writeOriginal(original) }));
      writeFileSync(join(out, "old"), listTips(before).join(""));
      await order.runScript({
        script: exportScript,
        gitFolder: copy.repository.gitFolder,
        mounts: copy.listMounts(),
        out,
      });
      const after = decodeGitState(out);
      own.baseline = after;
      const notes = await applyGitState({
        repository: setup,
        before,
        after,
        packFile: join(out, "pack"),
        name,
        hasNetwork: order.hasNetwork,
      });
      copy
        .listEnded()
        .forEach((ended) => rmSync(join(copy.repository.gitFolder, ended), { recursive: true, force: true }));
      return [...notes];
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  };
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
    async close() {
      return [];
    },
  };
}

const waitingNote =
  "An operation of git waits to be continued: the repository shows it only when it has ended, and until then this run keeps it.";

function toSetup({ gitFolder }: Repository, { program = "git", environment }: GitBorderOrder): GitSetup {
  return { program, gitFolder, environment };
}

/** Objects that the repository has, one in a line. */
function listTips({ head, refs, stashes }: GitState): string[] {
  const ids = [head, ...refs.values(), ...stashes.map(({ id }) => id)].filter(isObjectId);
  return [...new Set(ids)].map((id) => `${id}\n`);
}

/** For refs that lost a race. */
function createName(): string {
  return new Date().toISOString().replaceAll(/[:.]/g, "-");
}
