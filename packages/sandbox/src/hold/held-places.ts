/**
 * Keeps commands from changing files that decide which programs run later, and files that the user's rules deny them
 * (S-06, S-22, S-76 to S-79, S-224). Mounts hold existing places. Sheaf takes new places away after the command, since
 * a mount needs an existing place.
 */
import { SheafError } from "@sheaf/base/errors";
import { dirname } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { findProgramFiles, type ProgramFiles } from "@sheaf/base/files/own-places";
import { isBelow } from "@sheaf/base/files/workspace";
import type { FileRule } from "@sheaf/base/files/glob";
import { listConfiguredPlaces } from "./configured-places.ts";
import { createDeniedIndex } from "./denied-places.ts";
import { readStat, type SearchResult, type UnsearchedFolder } from "./folder-memory.ts";
import { createGitlinkIndex } from "./gitlinks.ts";
import type { Journal } from "./journal.ts";
import { type HeldPlace, toMounts, toShownPath } from "./held-place.ts";
import { findProgramFault, listHeldProgram, openToolFolders, type ProgramScope } from "./program-places.ts";
import { type HeldMounts, listAncestors } from "./mounts.ts";
import type { WritableFolders } from "../launch/launcher.ts";
import { listOwnFolders } from "./own-folders.ts";
import { createProtectedIndex } from "./protected-places.ts";
import { createStartedFiles } from "./started-files.ts";
import { makeAccessible, type RefusedPlace, takeAway } from "./take-away.ts";

/** Holds all commands of a launcher to their places. */
export interface HeldPlaces {
  /**
   * Starts to hold a new command. A command that only reads needs no `end`.
   * @throws Error with a sentence when the places cannot be held: then the command must not run.
   */
  begin(command: { readonly isBackground: boolean; readonly isReadOnly?: boolean | undefined }): HeldMounts;
  /**
   * Lets the command in the foreground continue next to others. Returns false if it is not held like a command in the
   * background: it may move folders around places, so others must wait for its end.
   */
  moveToBackground(): boolean;
  /** Checks the places after a command. Returns a sentence for each place taken away, for the model and the user. */
  end(command: { readonly isBackground: boolean }): string[];
  /**
   * Ends the commands of a killed process. `keys` are the keys of the places before those commands. A place made after
   * `endedAt` (nanoseconds since 1970) belongs to the user.
   */
  finish(keys: readonly string[], endedAt: bigint | undefined): string[];
}

export interface HeldFolders {
  /** The workspace and further folders that commands write; absolute paths, links resolved. */
  readonly writable: WritableFolders;
  /** Folders that commands can read, even inside a hidden folder; absolute paths, links resolved. */
  readonly readOnly?: readonly string[] | undefined;
  /** Folder for the places that Sheaf takes away. Default: a temporary folder. */
  readonly stateFolder?: string | undefined;
  /** Record for the next process, if this one is killed. */
  readonly journal?: Journal | undefined;
  /** Folder of the tools' caches. */
  readonly cacheFolder?: string | undefined;
  readonly denials?: readonly FileRule[] | undefined;
  /** The user's environment, by which Sheaf finds git's configuration. */
  readonly environment: Environment;
  /** Sheaf's program files. Default: the files of this process. */
  readonly program?: ProgramFiles | undefined;
  /** Receives the old and the new path of each place that Sheaf takes away while no other command runs. */
  readonly onMoved?: ((path: string, target: string) => void) | undefined;
  /** True for a sandbox whose commands change no files. */
  readonly isProbe?: boolean | undefined;
  /** Most folders that the search reads. Default: 200,000. */
  readonly maxFolders?: number | undefined;
}

/** Most mounts of a command. Bubblewrap's time grows with the square of their number: 0.2 s for 300, 2 s for 1,000. */
const maxMounts = 300;

const probePlaces: HeldPlaces = {
  begin: () => ({ kept: [], mounts: [] }),
  moveToBackground: () => true,
  end: () => [],
  finish: () => [],
};

export function createHeldPlaces(held: HeldFolders): HeldPlaces {
  const { writable: tops, readOnly = [], denials = [], environment, maxFolders } = held;
  const [workspace, ...addedFolders] = tops;
  if (held.isProbe) return probePlaces;
  const own = { stateFolder: held.stateFolder, writable: tops };
  const hidden = [...listOwnFolders(own), ...(held.cacheFolder === undefined ? [] : [held.cacheFolder])];
  const addedPlaces = addedFolders.map((path) => ({ path, names: "all" as const }));
  const findProtected = createProtectedIndex(workspace, addedPlaces, hidden, maxFolders);
  const findDenied = createDeniedIndex([...tops, ...readOnly], denials);
  const findGitlinks = createGitlinkIndex(tops);
  const started = createStartedFiles(workspace);
  let files = held.program;
  const toProgram = (): ProgramScope => ({ tops, environment, program: (files ??= findProgramFiles()) });
  /** Undefined until the program's files were checked. */
  let programFault: { readonly reason: string | undefined } | undefined;
  const isWriteDenied = denials.some(({ kind }) => kind === "Write");
  const running = { foreground: 0, background: 0 };
  /** True if the command in the foreground can rename folders around held places. */
  let canMovePlaces = false;
  let known: KnownPlaces = { places: [], paths: new Set(), keys: new Set(), own: [] };
  const settle = (isQuiet: boolean, isOwn: (place: HeldPlace) => boolean = () => false): string[] => {
    const opened: string[] = [];
    const open = (path: string): void => {
      makeAccessible(path, tops);
      opened.push(path);
    };
    const { places, unsearched } = findProtected(isQuiet ? open : undefined);
    const denied = isWriteDenied ? findDenied().places : [];
    const closed = isQuiet ? unsearched.map((folder) => toClosedPlace(folder, workspace)) : [];
    const { refused, kept } = sortPlaces(
      [...places, ...denied].filter((place) => !isOwn(place)),
      known,
    );
    const notes = takeAway([...refused, ...closed], own, isQuiet ? held.onMoved : undefined);
    // After the removals, the user has made every configuration that remains.
    const configured = [...listConfiguredPlaces({ tops, environment, places: kept }), ...listHeldProgram(toProgram())];
    notes.push(
      ...takeAway(
        sortPlaces(
          configured.filter((place) => !isOwn(place)),
          known,
        ).refused,
        own,
      ),
    );
    return [...notes, ...toOpenedNote(opened, workspace), ...started.compare()];
  };
  return {
    begin({ isBackground, isReadOnly = false }) {
      // The other command may rename folders above places, and so mislead the plan of this one.
      if (running.foreground > 0) {
        throw new Error("another command is running: wait for it with read_terminal, or end it there, and try again");
      }
      programFault ??= { reason: findProgramFault(toProgram()) };
      const denied = findDenied();
      const fault = programFault.reason ?? denied.fault;
      if (fault !== undefined) throw createFault(fault);
      if (isReadOnly) return { kept: denied.ancestors, mounts: denied.places.flatMap(toMounts) };
      // While no command runs, only the user makes places. Commands in the background cannot move known places.
      if (running.background === 0) {
        const found = searchAll(findProtected, workspace);
        const configured = listConfiguredPlaces({ tops, environment, places: found });
        started.look();
        known = toKnownPlaces([...found, ...configured, ...denied.places], listHeldProgram(toProgram()));
      }
      const places = [...known.places, ...denied.places.filter(({ path }) => !known.paths.has(path))];
      const links = findGitlinks();
      const all = [...links.mounts, ...places.flatMap(toMounts)];
      const mounts = [...new Map(all.map((mount) => [mount.path, mount])).values()];
      const around = listAncestors(
        mounts.map(({ path }) => path),
        tops,
      );
      const fixed = isBackground ? around : [];
      const ownFolders = listAncestors(
        known.own.map(({ path }) => path),
        tops,
      );
      const kept = [...new Set([...denied.ancestors, ...ownFolders, ...links.kept, ...fixed])];
      checkCount(mounts.length + kept.length, places, workspace);
      held.journal?.begin({ writable: tops, cacheFolder: held.cacheFolder, keys: [...known.keys] });
      running[isBackground ? "background" : "foreground"] += 1;
      if (!isBackground) canMovePlaces = around.some((path) => !kept.includes(path));
      const open = openToolFolders(known.own).filter(
        (path) => !denied.places.some((place) => isBelow(path, place.path)),
      );
      return { kept, mounts, open };
    },
    moveToBackground() {
      if (canMovePlaces) return false;
      running.foreground -= 1;
      running.background += 1;
      return true;
    },
    end({ isBackground }) {
      running[isBackground ? "background" : "foreground"] -= 1;
      // While commands run, a folder may fail to be searched for a moment only.
      const isQuiet = running.foreground + running.background === 0;
      const notes = settle(isQuiet);
      if (isQuiet) held.journal?.end();
      return notes;
    },
    finish(keys, endedAt = BigInt(Number.MAX_SAFE_INTEGER) ** 2n) {
      known = { ...known, keys: new Set(keys) };
      return settle(true, ({ path }) => (readStat(path)?.birthtimeNs ?? 0n) > endedAt);
    },
  };
}

/**
 * Creates the error for a command that the sandbox cannot hold. The run fails if it has run no other command (S-31).
 */
function createFault(message: string): SheafError {
  return new SheafError("SANDBOX_UNAVAILABLE", message, { source: "sandbox" });
}

/** @throws Error with a sentence when a folder cannot be searched: git may find a repository there. */
function searchAll(find: () => SearchResult<HeldPlace>, workspace: string): readonly HeldPlace[] {
  const { places, unsearched } = find();
  const [first] = unsearched;
  if (!first) return places;
  const name = toShownPath(first.path, workspace);
  const advice = "make it readable or delete it, or start Sheaf in another folder with --workspace";
  throw createFault(
    `no command runs, because ${name} cannot be searched for protected places (${first.problem}): ${advice}, or run commands without the sandbox (--sandbox disabled)`,
  );
}

/** @throws Error with a sentence if there are too many: protecting some of them would be worse than none. */
function checkCount(count: number, places: readonly HeldPlace[], workspace: string): void {
  if (count <= maxMounts) return;
  const example = toShownPath(places.at(-1)?.path ?? workspace, workspace);
  throw createFault(
    `no command runs, because ${count} places such as ${example} must be protected or denied, and the sandbox can do so for ${maxMounts}: start Sheaf in a subfolder with --workspace, deny whole folders, or run commands without the sandbox (--sandbox disabled)`,
  );
}

/** The places that existed before any command ran. */
interface KnownPlaces {
  readonly places: readonly HeldPlace[];
  readonly paths: ReadonlySet<string>;
  readonly keys: ReadonlySet<string>;
  /** The places among them that Sheaf itself runs from. */
  readonly own: readonly HeldPlace[];
}

function toKnownPlaces(others: readonly HeldPlace[], own: readonly HeldPlace[]): KnownPlaces {
  const places = [...others, ...own];
  const paths = new Set(places.map(({ path }) => path));
  return { places, paths, keys: new Set(places.flatMap(({ keys }) => keys)), own };
}

interface SortedPlaces {
  /** New places that commands must not make; inner ones move with the outer one. */
  readonly refused: readonly RefusedPlace[];
  /** The remaining places. */
  readonly kept: readonly HeldPlace[];
}

function sortPlaces(places: readonly HeldPlace[], known: KnownPlaces): SortedPlaces {
  const fresh = places.filter(({ keys }) => !keys.some((key) => known.keys.has(key)));
  const paths = new Set<string>();
  const refused: RefusedPlace[] = [];
  for (const { path, identity, refusal } of fresh) {
    if (refusal === undefined || isAmong(path, paths)) continue;
    paths.add(path);
    refused.push({ path, identity, reason: refusal });
  }
  return { refused, kept: places.filter(({ path }) => !isAmong(path, paths)) };
}

/** True if the path is one of these paths, or inside one. */
function isAmong(path: string, paths: ReadonlySet<string>): boolean {
  if (paths.has(path)) return true;
  const folder = dirname(path);
  return folder !== path && isAmong(folder, paths);
}

/** Describes folders whose rights Sheaf restored, since git can enter a folder that its owner cannot list. */
function toOpenedNote(paths: readonly string[], workspace: string): string[] {
  const [first] = paths;
  if (first === undefined) return [];
  const name = toShownPath(first, workspace);
  const subject = paths.length === 1 ? `The folder ${name}` : `${paths.length} folders such as ${name}`;
  return [`${subject} could not be searched for protected places: the owner's rights were restored (chmod u+rwx).`];
}

function toClosedPlace({ path, problem }: UnsearchedFolder, workspace: string): RefusedPlace {
  const name = toShownPath(path, workspace);
  return { path, reason: `${name} cannot be searched for protected places, since ${problem}` };
}
