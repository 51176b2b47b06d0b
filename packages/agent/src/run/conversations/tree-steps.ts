/** The changes between two trees of git, and the old contents of files. */
import { join } from "node:path";
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";
import { listTreeChanges, type TreeEntry } from "../../workspace/trees/list-tree-changes.ts";
import { EMPTY_TREE } from "../../workspace/undo/folder-states.ts";
import { type Modes, toUsualMode } from "../../workspace/undo/modes.ts";
import type { FileState, FileStep } from "./file-spans.ts";
import type { OldContents } from "./revert-files.ts";

/** Largest content that Sheaf compares or restores. Bytes. */
const MAX_BYTES = 256 * 1024 ** 2;

/** Contents that are read together. Bytes. */
const CHUNK_BYTES = 32 * 1024 ** 2;

/** The files of a folder at two times. */
export interface TreePair {
  readonly setup: GitSetup;
  /** Commits or trees; undefined: an empty one. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The folder of the trees. Absolute. */
  readonly top: string;
  /** Root of the workspace, or of the added folder, for the steps. */
  readonly workspace: string;
  /** Returns the path that documents show. */
  readonly toShown: (path: string) => string;
  /** All mode bits; undefined: git's alone. */
  readonly modes?: { readonly from: Modes; readonly to: Modes } | undefined;
}

/** @throws SheafError INTERNAL */
export async function listTreeSteps(pair: TreePair): Promise<readonly FileStep[]> {
  const { setup, from = EMPTY_TREE, to = EMPTY_TREE, modes, top } = pair;
  const toStep = (path: string, before: FileState, after: FileState): FileStep => {
    const absolute = join(top, path);
    const { workspace, toShown } = pair;
    const kind = modes ? "exact" : "program";
    return { path: absolute, filePath: toShown(absolute), workspace, before, after, modes: kind };
  };
  const changes = await listTreeChanges(setup, from, to);
  const steps = changes.map(({ path, before, after }) =>
    toStep(path, toState(before, modes?.from.files.get(path)), toState(after, modes?.to.files.get(path))),
  );
  if (!modes) return steps;
  const known = new Set(changes.map(({ path }) => path));
  const others = listDifferent(modes.from.files, modes.to.files).filter((path) => !known.has(path));
  for (const [path, entry] of others.length === 0 ? [] : await listEntries(setup, to, new Set(others))) {
    steps.push(toStep(path, toState(entry, modes.from.files.get(path)), toState(entry, modes.to.files.get(path))));
  }
  const toFolder = (mode: number | undefined): FileState =>
    mode === undefined ? { kind: "absent" } : { kind: "folder", mode };
  for (const path of listDifferent(modes.from.folders, modes.to.folders)) {
    steps.push(toStep(path, toFolder(modes.from.folders.get(path)), toFolder(modes.to.folders.get(path))));
  }
  return steps;
}

function listDifferent(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path));
}

function toState(entry: TreeEntry | undefined, mode: number | undefined): FileState {
  if (!entry) return { kind: "absent" };
  const { kind, id: hash } = entry;
  if (kind === "link") return { kind: "link", hash };
  if (kind === "repository") return { kind: "unknown" };
  return { kind: "content", hash, mode: mode ?? toUsualMode(kind === "program") };
}

/** Files of a tree whose content has not changed. */
async function listEntries(setup: GitSetup, tree: string, wanted: ReadonlySet<string>): Promise<[string, TreeEntry][]> {
  const listed = await askGit(setup, ["ls-tree", "-r", "-z", tree], { purpose: "list the files", maxBytes: MAX_BYTES });
  return listed
    .toString()
    .split("\0")
    .flatMap((line): [string, TreeEntry][] => {
      const [, mode = "", id = "", path = ""] = /^(\d+) blob (\w+)\t(.*)$/s.exec(line) ?? [];
      return wanted.has(path) ? [[path, { kind: mode === "100755" ? "program" : "file", id }]] : [];
    });
}

export interface TreeContents extends OldContents {
  /** Makes the objects of these steps readable. @throws SheafError INTERNAL */
  add(setup: GitSetup, steps: readonly FileStep[]): Promise<void>;
}

export function createTreeContents(): TreeContents {
  const known = new Map<string, { readonly setup: GitSetup; readonly size: number }>();
  let chunk = new Map<string, Buffer>();
  return {
    async add(setup, steps) {
      const states = steps.map(({ before }) => before);
      const ids = new Set(states.flatMap((state) => ("hash" in state && !known.has(state.hash) ? [state.hash] : [])));
      if (ids.size === 0) return;
      const input = [...ids].map((id) => `${id}\n`).join("");
      const words = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
      const lines = (await askGit(setup, words, { purpose: "find old contents", input })).toString().split("\n");
      for (const line of lines) {
        const [, id, size] = /^(\w+) (\d+)$/.exec(line) ?? [];
        if (id !== undefined && Number(size) <= MAX_BYTES) known.set(id, { setup, size: Number(size) });
      }
    },
    findSize: (hash) => known.get(hash)?.size,
    async read(hash) {
      const found = known.get(hash);
      if (!found || chunk.has(hash)) return chunk.get(hash);
      // Git ends at a damaged object, but the others are readable.
      chunk = await readChunk(found.setup, listChunk(known, hash))
        .catch(() => readChunk(found.setup, [hash]))
        .catch(() => new Map());
      return chunk.get(hash);
    },
  };
}

/** The object, and the objects that are likely to be read after it. */
function listChunk(known: ReadonlyMap<string, { readonly setup: GitSetup; readonly size: number }>, first: string) {
  const ids: string[] = [];
  const { setup } = known.get(first)!;
  let bytes = 0;
  let isReached = false;
  for (const [id, object] of known) {
    isReached ||= id === first;
    if (!isReached || object.setup !== setup) continue;
    bytes += object.size;
    if (ids.length > 0 && bytes > CHUNK_BYTES) break;
    ids.push(id);
  }
  return ids;
}

async function readChunk(setup: GitSetup, ids: readonly string[]): Promise<Map<string, Buffer>> {
  const input = ids.map((id) => `${id}\n`).join("");
  const maxBytes = 2 * MAX_BYTES;
  const output = await askGit(setup, ["cat-file", "--batch"], { purpose: "read old contents", input, maxBytes });
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < output.length;) {
    const end = output.indexOf("\n", at);
    const [, id, size] = /^(\w+) blob (\d+)$/.exec(output.toString("latin1", at, end)) ?? [];
    at = end + 1;
    if (id === undefined) continue;
    contents.set(id, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return contents;
}
