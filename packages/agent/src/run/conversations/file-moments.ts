/** The moments of a file at which a log or a state has its content (C195). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FileChange } from "@sheaf/protocol";
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";
import type { BlamedCall } from "./blamed-calls.ts";

/** Absolute paths; times are milliseconds since 1970. */
export type FileMoment = {
  readonly time: number;
  readonly path: string;
  /** The path before, which differs after a rename. */
  readonly from: string;
  /** The calls with changes in one state, in the order of their ends; without states, all calls of the response. */
  readonly calls: readonly BlamedCall[];
} & (
  | { readonly kind: "call"; readonly call: BlamedCall; readonly change: FileChange }
  /** The state before these calls, or the state with their changes. */
  | { readonly kind: "before" | "after"; readonly content: StateContent }
);

/** The content of a file in a state; undefined for a missing file. */
export type StateContent = { readonly setup: GitSetup; readonly id: string } | undefined;

/** A file that differs between a state and the one before it. */
export interface StateChange extends Pick<FileMoment, "path" | "from"> {
  readonly state: number;
  readonly before: StateContent;
  readonly after: StateContent;
}

/** Lists the changes in a folder's states by ref, except those after a kill, which any program may have made. */
export async function readStateChanges(setup: GitSetup, top: string): Promise<ReadonlyMap<string, StateChange[]>> {
  const options = ["--glob=refs/sheaf/*", "--reverse", "--raw", "-z", "-M30%", "--no-abbrev", "--format=commit %S %s"];
  const words = ["-c", "log.showRoot=false", "log", ...options];
  const log = await askGit(setup, words, { purpose: "read the states" });
  const fields = log.toString().split("\0").values();
  const changes = new Map<string, StateChange[]>();
  let [ref, state] = ["", undefined as number | undefined];
  const toContent = (id: string): StateContent => (/^0+$/.test(id) ? undefined : { setup, id });
  for (const field of fields) {
    const [, name, message = ""] = /^\n?commit (\S+) (.*)$/s.exec(field) ?? [];
    if (name !== undefined) {
      const [, number] = /^state (\d+)$/.exec(message) ?? [];
      [ref, state] = [name, number === undefined ? undefined : Number(number)];
      changes.set(ref, changes.get(ref) ?? []);
      continue;
    }
    const [, before = "", after = "", status = ""] = /^\n?:\d+ \d+ (\w+) (\w+) (\w+)$/.exec(field) ?? [];
    if (status === "") continue;
    const old = fields.next().value ?? "";
    const now = status.startsWith("R") ? (fields.next().value ?? "") : old;
    if (state === undefined || !now.startsWith("files/")) continue;
    const [path, from] = [now, old].map((place) => join(top, place.slice("files/".length))) as [string, string];
    changes.get(ref)!.push({ state, path, from, before: toContent(before), after: toContent(after) });
  }
  return changes;
}

/** Lists the moments of a response in their order. `changes`: of its states. */
export function listMoments(calls: readonly BlamedCall[], changes: readonly StateChange[], createdAt: number) {
  const moments: FileMoment[] = [];
  const states = new Set([...calls, ...changes].map(({ state }) => state));
  let time = createdAt;
  for (const state of [...states].toSorted((one = 0, other = 0) => one - other)) {
    const own = calls.filter((call) => call.state === state);
    const changed = changes.filter((change) => change.state === state);
    time = own[0]?.startedAt ?? time;
    for (const { from, before } of changed)
      moments.push({ kind: "before", time, path: from, from, calls: own, content: before });
    for (const call of own) moments.push(...(call.changes ?? []).map((change) => toCallMoment(call, change, own)));
    time = own.at(-1)?.endedAt ?? time;
    for (const { path, from, after } of changed)
      moments.push({ kind: "after", time, path, from, calls: own, content: after });
  }
  return moments;
}

function toCallMoment(call: BlamedCall, change: FileChange, calls: readonly BlamedCall[]): FileMoment {
  const { path: from, filePath, newFilePath = filePath } = change;
  const root = from.slice(0, from.length - filePath.length);
  const path = newFilePath.startsWith("/") ? newFilePath : root + newFilePath;
  return { kind: "call", time: call.endedAt, path, from, calls, call, change };
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
    if ((kept[0]?.kind ?? "before") === "before" && !moments.slice(0, at).some((moment) => moment.path === now)) {
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
