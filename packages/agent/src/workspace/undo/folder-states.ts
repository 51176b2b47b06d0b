/** The states of one folder during one response: a chain of commits in the folder's store. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { readStats, toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { SheafError } from "@sheaf/base/errors";
import { askGit, toQuotedPath } from "@sheaf/base/git/run-git";
import {
  copyIndex,
  knownDependencyFolders,
  listStateChanges,
  type StateChanges,
  writeState,
} from "../trees/record-state.ts";
import { decodeModes, encodeModes, noModes, readModes } from "./modes.ts";
import {
  decodeRepositoryState,
  readRepositoryState,
  toHeadCommit,
  toRepositoryPrint,
  toRepositorySetup,
} from "./repository-state.ts";
import { toRunFolder, toStateRef, type UndoStore } from "./undo-store.ts";

/** Limit for new ignored files in one response, the smallest first. Bytes. */
export const MAX_IGNORED_BYTES = 200 * 1024 ** 2;

const limits = { fileBytes: 1024 ** 3, totalBytes: 4 * 1024 ** 3, files: 500_000 };

/** A folder that takes longer is too large, and stays so for a day. Milliseconds. */
const RECORD_MS = 30_000;
const TOO_LARGE_MS = 24 * 60 * 60_000;

/** Longest step of a file system's clock. Milliseconds. */
export const CLOCK_MS = 50;

/** Age up to which a file counts among those that have just changed. Milliseconds. */
const YOUNG_MS = 2000;

/** The message of a commit with changes by other programs. */
export const FOREIGN = "foreign";

/** The message of the state after a response that was killed. */
export const CUT = "cut";

/** A time in which the run may have changed files. Milliseconds since 1970. */
export interface EffectTime {
  readonly from: number;
  /** Undefined while it lasts. */
  readonly to: number | undefined;
}

export interface FolderStates {
  /**
   * Reads the changes, so that further ones may follow. `effects` are those since the last time. The inner promise is
   * true once the state has its name, or false without changes. @throws SheafError INTERNAL, a file system's error.
   */
  record(effects: readonly EffectTime[], message: string): Promise<{ readonly named: Promise<boolean> }>;
  /** Records the user's own changes to the repository, before an effect. @throws SheafError INTERNAL */
  recordRepository(): Promise<void>;
  /** Records a text that the user has typed into an editor and not saved. @throws SheafError INTERNAL */
  keepText(path: string, content: Uint8Array): Promise<void>;
  /** The files of the last state that no commit of the user has: absolute. @throws SheafError INTERNAL */
  listUncommitted(): Promise<readonly string[]>;
  /** `isWhole`: the last state is complete; the next response starts with its index. @throws a file system's error. */
  close(isWhole: boolean): void;
}

interface StatesRequest {
  readonly conversationId: string;
  readonly responseId: string;
  readonly dataFolder: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Ends what git reads. */
  readonly signal?: AbortSignal | undefined;
}

/** @throws an error of the file system. */
export function openFolderStates(store: UndoStore, request: StatesRequest): FolderStates {
  const { setup, top, inner, repository } = store;
  const own = toRunFolder(setup.gitFolder, request.responseId);
  const last = join(setup.gitFolder, "last");
  const work = { workTree: top, index: join(own, "index"), timeoutMs: RECORD_MS, signal: request.signal };
  const chain = createChain(store, request);
  // States do not contain themselves.
  const dataFolder = toRealPlace(request.dataFolder);
  const hidden = isBelow(dataFolder, top) && dataFolder !== top ? relative(top, dataFolder) : undefined;
  const excludeFile = join(repository.commonFolder, "info/exclude");
  const excludes = [
    ...knownDependencyFolders.map((name) => `--exclude=${name}/`),
    ...(readStats(excludeFile)?.isFile() ? [`--exclude-from=${excludeFile}`] : []),
    ...(hidden === undefined ? [] : [`--exclude=/${hidden.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)}/`]),
  ];
  const readRepository = createRepositoryReader(store);
  let modes = noModes;
  let ignoredRoom = MAX_IGNORED_BYTES;
  let lastTree: string | undefined;
  /** Unsaved texts of editors, by the name in a state. */
  let texts: Record<string, Uint8Array> = {};
  /** Files that had just changed, with the times of that. */
  let young = new Map<string, number>();
  let head: string | undefined;

  const mark = join(setup.gitFolder, "too-large");
  if ((readStats(mark)?.mtimeMs ?? 0) > request.now() - TOO_LARGE_MS) {
    throw new SheafError("INTERNAL", `${top} has too many files: work in a smaller folder`);
  }
  mkdirSync(own, { recursive: true, mode: 0o700 });
  if (!existsSync(work.index) && existsSync(join(last, "index"))) {
    copyIndex(join(last, "index"), work.index);
    modes = decodeModes(readFileSync(join(last, "modes"), "utf8"));
  }

  /** Git compares times by the second, and misses new bits of files that had just changed. */
  const addYoung = (present: ReadonlyMap<string, Stats>): ReadonlyMap<string, Stats> => {
    const again = [...young].flatMap(([path, time]) => {
      const stats = readStats(join(top, path));
      const isEntry = stats && (stats.isFile() || stats.isSymbolicLink());
      return isEntry && stats.ctimeMs !== time ? [[path, stats] as const] : [];
    });
    const all = new Map([...again, ...present]);
    const since = request.now() - YOUNG_MS;
    young = new Map([...all].flatMap(([path, { ctimeMs }]) => (ctimeMs > since ? [[path, ctimeMs] as const] : [])));
    return all;
  };

  /** The differences from the last state, as parts of a commit. `leftOut` gets the names that git refuses. */
  const take = async ({ present, gone }: Changed, hasFolders: boolean, leftOut: string[]): Promise<StateParts> => {
    const isSame = lastTree !== undefined && present.size + gone.length === 0;
    const written = isSame ? undefined : await writeState(setup, work, { present, gone });
    const tree = written?.tree ?? lastTree!;
    leftOut.push(...(written?.refused ?? []));
    const next = readModes(modes, { present, gone, top, inner: inner ?? "", hasFolders });
    const parts = {
      ...((tree !== lastTree || (hasFolders && Object.keys(texts).length > 0)) && { tree }),
      ...((next !== modes || lastTree === undefined) && { modes: encodeModes(next) }),
    };
    lastTree = tree;
    modes = next;
    return parts;
  };

  return {
    async record(effects, message) {
      const startedAt = performance.now();
      const scope = { limits, inner, excludes, hidden, ignoredBytes: ignoredRoom };
      const [found, git] = await Promise.all([
        listStateChanges(setup, work, scope).catch((error: unknown) => {
          if (performance.now() - startedAt >= RECORD_MS) writeFileSync(mark, "", { mode: 0o600 });
          throw error;
        }),
        readRepository(),
      ]);
      const changes = { ...found, present: addYoung(found.present) };
      ignoredRoom -= changes.ignoredBytes;
      const { foreign, ours } =
        lastTree === undefined
          ? { foreign: undefined, ours: changes }
          : divideChanges(changes, effects, store, modes.folders);
      const leftOut = [...changes.leftOut];
      if (foreign) chain.add(FOREIGN, { ...(await take(foreign, false, leftOut)), ...texts });
      const parts = await take(ours, true, leftOut);
      chain.add(message, { ...parts, git, "left-out": leftOut.join("\0") });
      texts = {};
      head = (git !== undefined && toHeadCommit(decodeRepositoryState(git)!)) || head;
      const named = chain.store();
      // The caller may not wait for it yet.
      named.catch(() => undefined);
      return { named };
    },
    async recordRepository() {
      const git = lastTree === undefined ? undefined : await readRepository();
      if (git === undefined) return;
      chain.add(FOREIGN, { git });
      await chain.store();
    },
    async keepText(path, content) {
      texts[`files/${relative(top, path)}`] = content;
      chain.add(FOREIGN, texts);
      await chain.store();
    },
    async listUncommitted() {
      const words = [
        "diff-index",
        "--cached",
        "--name-only",
        "-z",
        "--no-renames",
        "--diff-filter=AMT",
        head ?? EMPTY_TREE,
      ];
      const where = inner === undefined ? [] : ["--", inner];
      const listed = await askGit(setup, [...words, ...where], { ...work, purpose: "list uncommitted files" });
      return listed
        .toString()
        .split("\0")
        .filter(Boolean)
        .map((path) => join(top, path));
    },
    close(isWhole) {
      // A revert continues from there, as after a response that was killed.
      if (!isWhole && lastTree !== undefined) return;
      if (lastTree === undefined) return rmSync(own, { recursive: true, force: true });
      writeFileSync(join(own, "modes"), encodeModes(modes), { mode: 0o600 });
      rmSync(last, { recursive: true, force: true });
      renameSync(own, last);
    },
  };
}

/** Git knows it without an object. */
export const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** Reads the state of the repository if git has written one of its files; gives it if it differs from the last one. */
function createRepositoryReader(store: UndoStore): () => Promise<string | undefined> {
  const repository = toRepositorySetup(store);
  let print: string | undefined;
  let known: string | undefined;
  return async () => {
    if (!repository) return undefined;
    const next = toRepositoryPrint(store);
    if (next === print) return undefined;
    const state = await readRepositoryState(repository);
    print = next;
    if (state === known) return undefined;
    known = state;
    return state;
  };
}

/** The new parts of a state: its tree, and files by name. */
interface StateParts extends Readonly<Record<string, string | Uint8Array | undefined>> {
  readonly tree?: string | undefined;
}

/** Collects commits of a response; `store` makes all of them with one process of git. */
function createChain({ setup }: UndoStore, { conversationId, responseId, now }: StatesRequest) {
  const ref = toStateRef(conversationId, responseId);
  // A response that another process started continues here.
  let isBegun = existsSync(join(setup.gitFolder, ref));
  let leftOut: unknown;
  let waiting: Buffer[] = [];
  let storing: Promise<unknown> = Promise.resolve();
  return {
    /** Adds a commit, if it has something new. */
    add(message: string, { tree, ...files }: StateParts): void {
      const names = Object.keys(files).filter(
        (name) => files[name] !== undefined && (name !== "left-out" || files[name] !== leftOut),
      );
      if (tree === undefined && names.length === 0) return;
      leftOut = files["left-out"] ?? leftOut;
      const parent = isBegun && waiting.length === 0 ? `from ${ref}^0\n` : "";
      const time = Math.floor(now() / 1000);
      const head = [`commit ${ref}\ncommitter Sheaf <sheaf@localhost> ${time} +0000\n`, ...toData(message), parent];
      const parts = names.flatMap((name) => [`M 100644 inline ${toQuotedPath(name)}\n`, ...toData(files[name]!)]);
      const whole = [...head, ...(tree === undefined ? [] : [`M 040000 ${tree} files\n`]), ...parts, "\n"];
      waiting.push(Buffer.concat(whole.map((part) => Buffer.from(part as string))));
    },
    /** @throws SheafError INTERNAL */
    async store(): Promise<boolean> {
      if (waiting.length === 0) return false;
      const input = Buffer.concat(waiting);
      waiting = [];
      isBegun = true;
      const words = ["fast-import", "--quiet", "--date-format=raw"];
      storing = storing.then(() => askGit(setup, words, { purpose: "record the state", input }));
      await storing;
      return true;
    },
  };
}

function toData(content: string | Uint8Array): readonly (string | Uint8Array)[] {
  return [`data ${Buffer.byteLength(content)}\n`, content, "\n"];
}

type Changed = Pick<StateChanges, "present" | "gone">;

/**
 * Separates the changes that other programs made between the effects of the run. The time of a change decides, because
 * no program can set it; in doubt, the run made the change.
 */
function divideChanges(
  changes: StateChanges,
  effects: readonly EffectTime[],
  { top }: UndoStore,
  folders: ReadonlyMap<string, number>,
): {
  readonly foreign: Changed | undefined;
  readonly ours: Changed;
} {
  const isDuring = (time: number): boolean =>
    effects.some(({ from, to = Infinity }) => time >= from - CLOCK_MS && time <= to + CLOCK_MS);
  const first = Math.min(...effects.map(({ from }) => from)) - CLOCK_MS;
  // Moving a folder changes its time, but not the times of its files.
  const toTime = (path: string, stats: Stats): number => {
    let time = stats.ctimeMs;
    for (let folder = dirname(path); folder !== "." && !folders.has(folder); folder = dirname(folder)) {
      time = Math.max(time, readStats(join(top, folder))?.ctimeMs ?? 0);
    }
    return time;
  };
  const isOurs = new Set(
    [...changes.present].filter(([path, stats]) => isDuring(toTime(path, stats))).map(([path]) => path),
  );
  const isGoneOurs = new Set(
    changes.gone.filter(
      (path) => Math.max(readStats(join(top, path))?.ctimeMs ?? 0, findFolderTime(top, path)) >= first,
    ),
  );
  const divide = (isWanted: boolean) => ({
    present: new Map([...changes.present].filter(([path]) => isOurs.has(path) === isWanted)),
    gone: changes.gone.filter((path) => isGoneOurs.has(path) === isWanted),
  });
  const foreign = divide(false);
  const isForeign = foreign.present.size + foreign.gone.length > 0;
  return { foreign: isForeign ? foreign : undefined, ours: divide(true) };
}

/** The time at which an entry of the file's folder last changed. */
function findFolderTime(top: string, path: string): number {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const stats = readStats(join(top, folder));
    if (stats?.isDirectory()) return stats.ctimeMs;
    if (folder === ".") return Infinity;
  }
}
