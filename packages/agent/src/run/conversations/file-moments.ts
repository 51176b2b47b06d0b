/** The moments of a file at which a log or a state has its content (C195). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FileChange } from "@sheaf/protocol";
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";
import { FOREIGN, CUT } from "../../workspace/undo/folder-states.ts";
import type { BlamedCall } from "./blamed-calls.ts";

/** Absolute paths; times are milliseconds since 1970. */
export type FileMoment = {
  readonly time: number;
  readonly path: string;
  /** The path before, which differs after a rename. */
  readonly from: string;
} & (
  | { readonly kind: "call"; readonly call: BlamedCall; readonly change: FileChange }
  /** A state after the effects of a response since `since`. */
  | { readonly kind: "own"; readonly ref: string; readonly since: number; readonly content: StateContent }
  /** The state before them. */
  | { readonly kind: "seen"; readonly ref: string; readonly content: StateContent }
);

/** The content of a file in a state; undefined for a missing file. */
export type StateContent = { readonly setup: GitSetup; readonly id: string } | undefined;

/** Lists the changes of file tools. */
export function listCallMoments(calls: readonly BlamedCall[]): FileMoment[] {
  return calls.flatMap((call) =>
    (call.changes ?? []).map((change): FileMoment => {
      const { path, filePath, newFilePath } = change;
      const root = path.slice(0, path.length - filePath.length);
      const to = newFilePath === undefined ? path : newFilePath.startsWith("/") ? newFilePath : root + newFilePath;
      return { kind: "call", time: call.endedAt, path: to, from: path, call, change };
    }),
  );
}

/** Lists the changes between the states of a folder. A state after a kill is left out: any program may have made its changes. */
export async function listStateMoments(setup: GitSetup, top: string): Promise<FileMoment[]> {
  const words = [
    "-c",
    "log.showRoot=false",
    "log",
    "--glob=refs/sheaf/*",
    "--reverse",
    "--raw",
    "-z",
    "-M30%",
    "--no-abbrev",
  ];
  const log = await askGit(setup, [...words, "--format=commit %S %H [%P] %ct %s"], { purpose: "read the states" });
  const fields = log.toString().split("\0").values();
  const times = new Map<string, number>();
  const moments: FileMoment[] = [];
  let state: { ref: string; since: number; time: number } | undefined;
  for (const field of fields) {
    const [, ref, commit = "", parent = "", seconds, message = ""] =
      /^\n?commit (\S+) (\w+) \[(\w*)\] (\d+) (.*)$/s.exec(field) ?? [];
    if (ref !== undefined) {
      const since = times.get(parent) ?? 0;
      // The states of older versions lack milliseconds.
      const time = Number(/^state (\d+)$/.exec(message)?.[1] ?? `${seconds}999`);
      times.set(commit, message === FOREIGN ? since : time);
      state = message === FOREIGN || message === CUT ? undefined : { ref, since, time };
      continue;
    }
    const [, before = "", after = "", status = ""] = /^\n?:\d+ \d+ (\w+) (\w+) (\w+)$/.exec(field) ?? [];
    if (status === "") continue;
    const from = fields.next().value ?? "";
    const to = status.startsWith("R") ? (fields.next().value ?? "") : from;
    if (!state || !to.startsWith("files/")) continue;
    const [path, old] = [to, from].map((name) => join(top, name.slice("files/".length))) as [string, string];
    const toContent = (id: string): StateContent => (/^0+$/.test(id) ? undefined : { setup, id });
    moments.push(
      { kind: "seen", ref: state.ref, time: state.since, path: old, from: old, content: toContent(before) },
      { kind: "own", ...state, path, from: old, content: toContent(after) },
    );
  }
  return moments;
}

const order = { call: 0, own: 1, seen: 2 };

export function sortMoments(moments: readonly FileMoment[]): FileMoment[] {
  return moments.toSorted((one, other) => one.time - other.time || order[one.kind] - order[other.kind]);
}

/** The share of lines that a renamed file keeps at least. */
const MIN_COMMON = 0.3;

/** Follows the file that is `text` at `path` now back through renames. `moments`: sorted. */
export async function followPath(
  moments: readonly FileMoment[],
  path: string,
  text: string,
  read: (moment: FileMoment) => Promise<string | undefined>,
): Promise<FileMoment[]> {
  const kept: FileMoment[] = [];
  let now = path;
  let next: string | undefined;
  for (let at = moments.length; at > 0; at -= 1) {
    if ((kept[0]?.kind ?? "seen") === "seen" && !moments.slice(0, at).some((moment) => moment.path === now)) {
      const renamed = await findRenamed(moments.slice(0, at), kept[0] ? ((await read(kept[0])) ?? "") : text, read);
      if (!renamed) break;
      [now, next] = [renamed, undefined];
    }
    const moment = moments[at - 1]!;
    // The rename happened at some time before the state.
    if (moment.path === next) [now, next] = [next, undefined];
    if (moment.path !== now) continue;
    kept.unshift(moment);
    if (moment.from === now) continue;
    if (moment.kind === "call") now = moment.from;
    else next = moment.from;
  }
  return kept;
}

/** Finds the file that disappeared between two calls, and that had most of these lines. */
async function findRenamed(
  moments: readonly FileMoment[],
  text: string,
  read: (moment: FileMoment) => Promise<string | undefined>,
): Promise<string | undefined> {
  const last = new Map(moments.map((moment) => [moment.path, moment]));
  for (const { from, path } of moments) if (from !== path) last.delete(from);
  const lines = new Set(text.split("\n"));
  let [found, most] = [undefined as string | undefined, MIN_COMMON];
  for (const [path, moment] of last) {
    if (existsSync(path)) continue;
    const old = new Set((await read(moment))?.split("\n"));
    const common = [...lines].filter((line) => old.has(line)).length / Math.max(lines.size, old.size);
    if (common > most) [found, most] = [path, common];
  }
  return found;
}
