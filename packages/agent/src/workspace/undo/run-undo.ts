/** Records the folders of a run before and after its effects, so that a revert can undo them. */
import { dirname } from "node:path";
import { readStats } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import type { GitSetup } from "@sheaf/base/git/run-git";
import { CLOCK_MS, type EffectTime, type FolderStates, openFolderStates } from "./folder-states.ts";
import { openUndoStore, tidyStore } from "./undo-store.ts";

export interface RunUndo {
  /** Records the first state soon, in the background, so that the first effect need not wait for it. */
  beginSoon(): void;
  /** Records what effects have changed since the last time, in the background. */
  record(): void;
  /** The number of the next state, which will have the effects of now. */
  readonly nextState: number;
  /** Runs work that may change files, after the state before it is on the disk. */
  around<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Records a text that the user has typed into an editor and not saved. Never rejects. */
  keepText(path: string, content: Uint8Array): Promise<void>;
  /** Counts uncommitted files of the last record that the last effect has removed. */
  countLost(): Promise<number>;
  /** The reason why Sheaf cannot undo the run, given once; undefined if it can. */
  takeProblem(): string | undefined;
  /** After the last effect: resolves when all is recorded. Never rejects. */
  end(): Promise<void>;
}

export interface UndoRequest {
  /** The workspace, and added folders. Absolute, no links. */
  readonly folders: readonly string[];
  readonly dataFolder: string;
  readonly git: Omit<GitSetup, "gitFolder">;
  readonly conversationId: string;
  readonly responseId: string;
  /** The time by which file systems note changes. Milliseconds since 1970. */
  readonly now: () => number;
}

/** A model that answers sooner makes no effect that would wait. Milliseconds. */
const BEGIN_MS = 250;

/** Files that are looked for after a command. */
const MAX_LOOKED_AT = 2000;

export function createRunUndo(request: UndoRequest): RunUndo {
  const { folders, dataFolder, git, now } = request;
  const controller = new AbortController();
  let states: readonly FolderStates[] | undefined;
  let last: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let effects: { readonly from: number; to: number | undefined }[] = [];
  let hasEffects = false;
  let hasState = false;
  let naming: Promise<void> | undefined;
  let uncommitted: readonly string[] = [];
  let since = 0;
  // Another process may continue the response, so a count from 1 would come twice.
  let nextState = now();
  let problem: string | undefined;
  let isTold = false;
  let ended: Promise<void> | undefined;

  const fail = (error: unknown): void => {
    problem ??= error instanceof Error ? error.message : String(error);
  };

  const openFolder = async (folder: string): Promise<FolderStates> => {
    const store = await openUndoStore(dataFolder, folder, git);
    void tidyStore(store);
    return openFolderStates(store, { ...request, signal: controller.signal });
  };

  const recordAll = async (): Promise<void> => {
    const taken: readonly EffectTime[] = effects;
    effects = effects.filter(({ to }) => to === undefined);
    const message = `state ${nextState}`;
    nextState = Math.max(nextState + 1, now());
    try {
      states ??= await Promise.all(folders.map(openFolder));
      await naming;
      const records = await Promise.all(states.map((each) => each.record(taken, message)));
      naming = nameStates(
        states,
        records.map(({ named }) => named),
      );
      // The next effect may follow, but the first one needs a state that a revert finds.
      if (!hasState) await naming;
      hasState = true;
    } catch (error) {
      fail(error);
    }
  };

  const nameStates = async (all: readonly FolderStates[], named: readonly Promise<boolean>[]): Promise<void> => {
    try {
      const isChanged = (await Promise.all(named)).includes(true);
      if (isChanged) uncommitted = (await Promise.all(all.map((each) => each.listUncommitted()))).flat();
    } catch (error) {
      fail(error);
    }
  };

  const begin = (): void => {
    last ??= recordAll();
  };

  const record = (): void => {
    if (problem === undefined && effects.length > 0) last = last?.then(recordAll);
  };

  const end = async (): Promise<void> => {
    clearTimeout(timer);
    if (!hasEffects) controller.abort();
    record();
    await last;
    await naming;
    try {
      for (const each of states ?? []) each.close(problem === undefined);
    } catch {
      // The next run reads its files again.
    }
  };

  return {
    beginSoon() {
      timer ??= setTimeout(begin, BEGIN_MS).unref();
    },
    record,
    get nextState() {
      return nextState;
    },
    async around(work) {
      begin();
      await last;
      if (effects.length === 0 && problem === undefined) {
        await Promise.all((states ?? []).map((each) => each.recordRepository())).catch(fail);
      }
      since = now();
      const effect: (typeof effects)[number] = { from: since, to: undefined };
      effects.push(effect);
      hasEffects = true;
      try {
        return await work();
      } finally {
        effect.to = now();
      }
    },
    async keepText(path, content) {
      const at = folders.findIndex((folder) => isBelow(path, folder));
      await states?.[at]?.keepText(path, content).catch(fail);
    },
    async countLost() {
      await naming;
      const changed = new Map<string, boolean>();
      const isChanged = (folder: string): boolean => {
        const known = changed.get(folder) ?? (readStats(folder)?.ctimeMs ?? Infinity) >= since - CLOCK_MS;
        changed.set(folder, known);
        return known;
      };
      const step = Math.max(1, uncommitted.length / MAX_LOOKED_AT);
      let lost = 0;
      for (let at = 0; at < uncommitted.length; at += step) {
        const path = uncommitted[Math.floor(at)]!;
        if (isChanged(dirname(path)) && !readStats(path)) lost += step;
      }
      return Math.round(lost);
    },
    takeProblem() {
      if (isTold || problem === undefined) return undefined;
      isTold = true;
      return `Sheaf could not record the files before this call, so sheaf revert cannot restore its changes: ${problem}.`;
    },
    end: () => (ended ??= end()),
  };
}
