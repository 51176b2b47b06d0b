/**
 * Records the folders in which commands may have made files, and the places that existed before. If the process is
 * killed, the next one reads the record and takes the new places away (S-253).
 */
import { readdirSync, readFileSync, renameSync, rmSync, statSync, utimes, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { isFolder } from "@sheaf/base/make-folder";
import type { WritableFolders } from "../launch/launcher.ts";
import { createHeldPlaces } from "./held-places.ts";
import { readFirstStart } from "@sheaf/base/process-numbers";
import { isOrphan, listOwnFolders, toRunName } from "./own-folders.ts";

/** Record of a run whose commands are running. */
export interface JournalEntry {
  readonly writable: WritableFolders;
  readonly cacheFolder?: string | undefined;
  /** Keys of the places that existed before the commands. */
  readonly keys: readonly string[];
}

export interface Journal {
  /** Records the entry before the first of several commands starts. @throws an error of the file system. */
  begin(entry: JournalEntry): void;
  /** Removes the record after the last command. */
  end(): void;
}

/** Name of the record in the folder of a run. */
const journalName = "journal.json";
/** Name of the file that the reaper creates when no process is left. */
const endName = "ended";

/** Time between two updates of the record. Milliseconds. */
const beatPeriod = 1000;
/** A command may run for so long after the last update: a busy or stopped process updates nothing. Nanoseconds. */
const lastPeriod = 60_000_000_000n;

/** `open` returns the run's folder, absolute. While commands run, the record's time is updated every second. */
export function createJournal(open: () => string): Journal {
  let timer: NodeJS.Timeout | undefined;
  const beat = (file: string): void => utimes(file, new Date(), new Date(), () => undefined);
  return {
    begin(entry) {
      const file = join(open(), journalName);
      writeFileSync(file, JSON.stringify(entry), { mode: 0o600 });
      clearInterval(timer);
      timer = setInterval(beat, beatPeriod, file).unref();
    },
    end() {
      clearInterval(timer);
      rmSync(join(open(), journalName), { force: true });
    },
  };
}

interface FinishOptions {
  readonly stateFolder?: string | undefined;
  /** The user's environment, by which Sheaf finds git's configuration. */
  readonly environment: Environment;
  /** Folders of the workspace whose sentences are returned. Default: no sentences. */
  readonly writable?: WritableFolders;
}

/**
 * Takes away the places that commands of killed processes left in their folders, and removes the folders of these runs.
 * Returns a sentence for each place in this workspace.
 */
export function finishKilledRuns({ stateFolder, environment, writable }: FinishOptions): string[] {
  const folders = listOwnFolders({ stateFolder, writable: [] }).map((top) => join(top, "runs"));
  return folders.filter(isFolder).flatMap((folder) => {
    const orphans = readdirSync(folder).filter((name) => isOrphan(folder, name));
    return orphans.flatMap((name) => {
      try {
        // A second process cannot rename the folder again. If this one is killed, the next one continues.
        const claimed = join(folder, toRunName(name.slice(-6)));
        renameSync(join(folder, name), claimed);
        const finished = finishRun(claimed, stateFolder, environment);
        void rm(claimed, { recursive: true, force: true }).catch(() => undefined);
        return finished !== undefined && finished.workspace === writable?.[0] ? finished.notes : [];
      } catch {
        return [];
      }
    });
  });
}

function finishRun(folder: string, stateFolder: string | undefined, environment: Environment) {
  const file = join(folder, journalName);
  const text = statSync(file, { throwIfNoEntry: false }) && readFileSync(file, "utf8");
  if (text === undefined) return undefined;
  const { keys, ...entry } = JSON.parse(text) as JournalEntry;
  const places = createHeldPlaces({ ...entry, stateFolder, environment });
  const notes = places.finish(keys, findEnd(folder));
  rmSync(file);
  return { workspace: entry.writable[0], notes };
}

/** Nanoseconds since 1970. A power failure or a logout may end the reaper as well as Sheaf. */
function findEnd(folder: string): bigint | undefined {
  const toTime = (name: string): bigint | undefined =>
    statSync(join(folder, name), { bigint: true, throwIfNoEntry: false })?.mtimeNs;
  const [start, begun] = [readFirstStart(), toTime(journalName)];
  if (begun === undefined) return toTime(endName);
  return toTime(endName) ?? (start !== undefined && begun < start ? start : begun + lastPeriod);
}
