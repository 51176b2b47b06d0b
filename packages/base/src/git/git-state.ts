/** The parts of a repository that return from a command, read by git into its own formats. */
import { SheafError } from "../errors.ts";
import { join, resolve } from "node:path";
import { readSmallBytesIn, readSmallFile } from "../files/open-file.ts";
import { readGitConfig } from "./git-config.ts";
import { askGit, type GitSetup, runGit } from "./run-git.ts";

/** State of a repository. Names, paths and messages are bytes as Latin-1 text, since git knows no encoding. */
export interface GitState {
  /** HEAD: a full name such as `refs/heads/main`, even before the first commit, or a commit's id; "" if broken. */
  readonly head: string;
  /** Full name to object id, or to `ref: NAME` for a symbolic ref. */
  readonly refs: ReadonlyMap<string, string>;
  /** The list of stashes, the newest one first. */
  readonly stashes: readonly GitStash[];
  /** The index: `MODE ID` by `STAGE PATH`. */
  readonly index: ReadonlyMap<string, string>;
  /** The upstream of each branch, by the branch's short name. */
  readonly branches: ReadonlyMap<string, GitUpstream>;
}

export interface GitStash {
  readonly id: string;
  readonly message: string;
}

export interface GitUpstream {
  readonly remote?: string;
  readonly merge?: string;
}

/** Most bytes of one exported file; the pack has another limit. */
const maxBytes = 256 * 1024 * 1024;

export interface GitRepositoryState {
  readonly state: GitState;
  /** Names of remotes that the repository's configuration has. */
  readonly remotes: ReadonlySet<string>;
  /** True if the repository lacks objects that a server has. */
  readonly isPartial: boolean;
}

const settingsPattern = "^(branch\\..*\\.(remote|merge)|remote\\..*\\.(url|promisor)|extensions\\.partialclone)$";

const commands = {
  head: ["symbolic-ref", "-q", "HEAD"],
  detached: ["rev-parse", "-q", "--verify", "HEAD"],
  refs: ["for-each-ref", "--format=%(objectname) %(refname) %(symref)"],
  stash: ["log", "-g", "-z", "--no-show-signature", "--no-color", "--format=%H %gs", "refs/stash", "--"],
  index: ["ls-files", "-s", "-z"],
  settings: ["config", "--local", "-z", "--get-regexp", settingsPattern],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Reads the parts that may return from a command. @throws SheafError INTERNAL */
export async function readGitState(setup: GitSetup): Promise<GitState> {
  return (await readRepository(setup)).state;
}

/** Reads the state. It runs git twice, or three times if there is a stash. @throws SheafError INTERNAL */
export async function readRepository(setup: GitSetup): Promise<GitRepositoryState> {
  const ask = (what: "refs" | "index" | "stash"): Promise<Buffer> =>
    askGit(setup, commands[what], { purpose: `read the ${what} of ${setup.gitFolder}`, maxBytes });
  const [head, refs, index] = await Promise.all([
    readHead(setup),
    ask("refs").then(parseRefs),
    ask("index").then(parseIndex),
  ]);
  const settings = readSettings(setup.gitFolder);
  const stashes = refs.has("refs/stash") ? parseStashes(await ask("stash")) : [];
  return {
    state: { head, refs, index, branches: parseBranches(settings), stashes },
    remotes: new Set(settings.flatMap((record) => /^remote\.(.+)\.url\n/s.exec(record)?.[1] ?? [])),
    isPartial: settings.some((record) => /^(?:extensions\.partialclone|remote\..+\.promisor)\n/s.test(record)),
  };
}

/** Returns the records of `git config -z` for the repository's own file, without starting git. */
function readSettings(gitFolder: string): string[] {
  const config = join(readCommonFolder(gitFolder), "config");
  return readGitConfig([config], "")
    .settings.filter(({ file }) => file === config)
    .map(({ key, value = "" }) => Buffer.from(`${key}\n${value}`).toString("latin1"));
}

/** Returns the common folder, which differs from `gitFolder` in a linked working tree. */
export function readCommonFolder(gitFolder: string): string {
  return resolve(gitFolder, readSmallFile(join(gitFolder, "commondir"), 4096)?.replace(/[\r\n]+$/, "") ?? "");
}

/** Reads `GitState.head`. If refs are not files, it runs git. */
export async function readHead(setup: GitSetup): Promise<string> {
  const text = readSmallBytesIn(setup.gitFolder, "HEAD", 4096)?.toString("latin1").trim() ?? "";
  const head = text.replace(/^ref:\s*/, "");
  if (text === head ? isObjectId(head) : isBranch(head)) return head;
  for (const command of [commands.head, commands.detached]) {
    const { exitCode, stdout } = await runGit(setup, command);
    if (exitCode === 0) return stdout.toString("latin1").trim();
  }
  return "";
}

function toShell(words: readonly string[]): string {
  return words.map((word) => (/^[\w./:=-]+$/.test(word) ? word : `'${word}'`)).join(" ");
}

/**
 * Script for sh that writes the state of the repository `$2` into the empty folder `$1`, with a pack of all objects
 * that its alternates lack. `$1/old` has the lines of `formatTips`. Its output is hostile data, since a command may
 * have written each file that git reads here.
 */
export const exportScript = `set -eu
cd -- "$1"
export GIT_DIR="$2" GIT_NO_REPLACE_OBJECTS=1 GIT_OPTIONAL_LOCKS=0 GIT_GRAFT_FILE="$1/none" LC_ALL=C
unset GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR GIT_NAMESPACE
ulimit -f 2097152
{ git ${toShell(commands.head)} >head || git ${toShell(commands.detached)} >head
} & head=$!
git ${toShell(commands.index)} >index & index=$!
git ${toShell(commands.settings)} >settings & settings=$!
git ${toShell(commands.refs)} >refs
true >stash
if grep -q ' refs/stash ' refs
then git ${toShell(commands.stash)} >stash
fi
wait $head
wait $index
wait $settings || true
{
  sed -nE 's,^([0-9a-f]+) refs/(heads/|tags/|remotes/|stash ).*,\\1,p' refs
  tr '\\0' '\\n' <stash | sed 's/ .*//'
  grep -v / head || true
  cat old
} | git pack-objects --revs --indexed-objects --local --thin --delta-base-offset --stdout -q >pack
`;

/** Formats a state's commits as lines for `git pack-objects`, which need not pack them for a later state. */
export function formatTips({ head, refs, stashes }: GitState): string {
  const ids = [head, ...refs.values(), ...stashes.map(({ id }) => id)].filter(isObjectId);
  return [...new Set(ids)].map((id) => `^${id}\n`).join("");
}

/** Reads the script's files, as hostile data. @throws SheafError INTERNAL */
export function decodeGitState(folder: string): GitState {
  const read = (name: string): Buffer => {
    const bytes = readSmallBytesIn(folder, name, maxBytes);
    if (!bytes) throw createFault(name, `is missing, or it is not a file of at most ${maxBytes} bytes`);
    return bytes;
  };
  const head = read("head").toString("latin1").trim();
  if (head !== "" && !isObjectId(head) && !isBranch(head)) throw createFault("head", `has ${JSON.stringify(head)}`);
  return {
    head,
    refs: parseRefs(read("refs")),
    stashes: parseStashes(read("stash")),
    index: parseIndex(read("index")),
    branches: parseBranches(toRecords(read("settings"), "\0")),
  };
}

/** True if a ref belongs to the repository alone: a branch, a tag or the stash. */
export function isOwnRef(name: string): boolean {
  return /^refs\/(?:(?:heads|tags)\/|stash$)/.test(name);
}

export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) && !/^0+$/.test(text);
}

/** True for a branch by `git check-ref-format`, except names that git avoids because of another meaning. */
export function isBranch(name: string): boolean {
  const isPlain = /^refs\/heads\/(?![-.]|HEAD$|(?:[0-9a-f]{40}|[0-9a-f]{64})$)[^\0-\x20\x7f~^:?*[\\]+(?<![./])$/.test(
    name,
  );
  return isPlain && !/\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)/.test(name);
}

function parseRefs(bytes: Buffer): Map<string, string> {
  const refs = new Map<string, string>();
  for (const line of toRecords(bytes, "\n")) {
    const [, id = "", name = "", target] = /^([0-9a-f]+) (refs\/[^ \0]+) (refs\/[^ \0]+)?$/.exec(line) ?? [];
    if (!isObjectId(id) || refs.has(name)) throw createFault("refs", `has ${JSON.stringify(line.slice(0, 200))}`);
    refs.set(name, target === undefined ? id : `ref: ${target}`);
  }
  return refs;
}

function parseStashes(bytes: Buffer): GitStash[] {
  return toRecords(bytes, "\0").map((record) => {
    const [, id = "", message = ""] = /^(\S+) ([^\n]*)$/.exec(record) ?? [];
    if (!isObjectId(id)) throw createFault("stash", `has ${JSON.stringify(record.slice(0, 200))}`);
    return { id, message };
  });
}

function parseIndex(bytes: Buffer): Map<string, string> {
  const index = new Map<string, string>();
  for (const record of toRecords(bytes, "\0")) {
    const tab = record.indexOf("\t");
    const [, value = "", stage = ""] =
      /^((?:100644|100755|120000|160000) [0-9a-f]{40,64}) ([0-3])$/.exec(record.slice(0, Math.max(tab, 0))) ?? [];
    const key = `${stage} ${record.slice(tab + 1)}`;
    if (value === "" || tab + 1 === record.length || index.has(key))
      throw createFault("index", `has ${JSON.stringify(record.slice(0, 200))}`);
    index.set(key, value);
  }
  // Git accepts such an index from others, but fails when it reads its own.
  const both = [...index.keys()].find((key) => key[0] !== "0" && index.has(`0${key.slice(1)}`));
  if (both !== undefined) throw createFault("index", `has ${JSON.stringify(both.slice(2, 200))} merged and unmerged`);
  return index;
}

function parseBranches(settings: readonly string[]): Map<string, GitUpstream> {
  const branches = new Map<string, GitUpstream>();
  for (const record of settings) {
    const [, name = "", key = "", value = ""] = /^branch\.(.+)\.(remote|merge)\n(.*)$/s.exec(record) ?? [];
    if (name !== "") branches.set(name, { ...branches.get(name), [key]: value });
  }
  return branches;
}

function toRecords(bytes: Buffer, end: string): string[] {
  return bytes
    .toString("latin1")
    .split(end)
    .filter((record) => record !== "");
}

function createFault(name: string, problem: string): SheafError {
  return new SheafError("INTERNAL", `the exported file ${name} ${problem}`, { source: "sandbox" });
}
