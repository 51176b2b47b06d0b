/** The bare repository that Sheaf keeps of a repository: it has Sheaf's own configuration and no hooks (S-124). */
import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { makeFolder } from "@sheaf/base/make-folder";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { replaceFile } from "@sheaf/base/replace-file";
import type { Environment } from "@sheaf/base/paths";
import { readRepositoryConfig } from "@sheaf/base/git/git-places";
import type { Repository } from "@sheaf/base/files/repository";
import { askGit, type GitSetup, type RemoteAccess, runGit, toReason } from "@sheaf/base/git/run-git";

/** Another repository: the user's, or one on a server. */
export interface Remote {
  /** A path or an address, without credentials. */
  readonly address: string;
  readonly access: RemoteAccess;
}

/** Time limit of a fetch, which a slow network or a large repository needs. Milliseconds. */
const FETCH_MS = 15 * 60_000;

/** Time limit of a push, which sends only new objects. Milliseconds. */
const PUSH_MS = 60_000;

/** Time limit of a list, which a person may wait for. Milliseconds. */
const LIST_MS = 10_000;

/** Creates the mirror if it does not exist. @throws SheafError INTERNAL. */
export async function openMirror(mirror: GitSetup): Promise<void> {
  const { gitFolder } = mirror;
  if (existsSync(gitFolder)) return;
  makeFolder(dirname(gitFolder));
  const unready = `${gitFolder}.${process.pid}`;
  rmSync(unready, { recursive: true, force: true });
  // The user alone may read the files that git writes later, under any umask (S-42).
  const args = ["init", "-q", "--bare", "--shared=0600", "--template=", "--object-format=sha1", unready];
  await askGit({ ...mirror, gitFolder: unready }, args, { purpose: `create ${unready}` });
  try {
    renameSync(unready, gitFolder);
  } catch (error) {
    // Another process was faster.
    rmSync(unready, { recursive: true, force: true });
    if (!existsSync(gitFolder)) throw error;
  }
}

/** Limit of the list of commits at which the history of a shallow clone ends. Bytes. */
const MAX_SHALLOW_BYTES = 1024 * 1024;

/** Lets the mirror read the objects of the user's repository where they are, without a copy. */
export function borrowObjects({ gitFolder }: GitSetup, { commonFolder }: Repository): void {
  replaceFile(join(gitFolder, "objects/info/alternates"), `${join(commonFolder, "objects")}\n`);
  const shallow = readSmallFile(join(commonFolder, "shallow"), MAX_SHALLOW_BYTES) ?? "";
  const own = join(gitFolder, "shallow");
  if (/^(?:[0-9a-f]{40,64}\n)+$/.test(shallow)) replaceFile(own, shallow);
  else rmSync(own, { force: true });
}

/** A fetch that brought a ref, or why it did not. */
type FetchedRef = { readonly ok: true; readonly commit: string } | { readonly ok: false; readonly reason: string };

/** The outcome of git's work with a remote, with the reason of a failure. */
export type Fetched = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Brings one ref of a remote, `HEAD` or a full name, into the mirror as `as`. */
export async function fetchRef(mirror: GitSetup, remote: Remote, ref: string, as: string): Promise<FetchedRef> {
  const fetched = await fetchRefs(mirror, remote, `+${ref}:${as}`);
  if (!fetched.ok) return fetched;
  const commit = await readCommit(mirror, as);
  return commit === undefined ? { ok: false, reason: `${ref} is not a commit` } : { ok: true, commit };
}

/** `refspecs`: as git writes them. */
export async function fetchRefs(
  mirror: GitSetup,
  { address, access }: Remote,
  ...refspecs: readonly string[]
): Promise<Fetched> {
  const words = [
    "fetch",
    "-q",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    // Otherwise git leaves out the refs of a shallow repository, without an error.
    "--update-shallow",
  ];
  const options = { remote: access, timeoutMs: FETCH_MS };
  const fetched = await runGit(mirror, [...words, ...toSender(access), "--", address, ...refspecs], options);
  return fetched.exitCode === 0 ? { ok: true } : { ok: false, reason: toReason(fetched) };
}

/**
 * A repository on this machine may belong to another user, as in a container that CI starts. The program that sends it
 * only reads objects and refs, so it need not refuse that.
 */
function toSender({ protocol }: RemoteAccess): readonly string[] {
  return protocol === "file" ? ["--upload-pack=git -c safe.directory='*' upload-pack"] : [];
}

/** The refs of a remote with this start, and their commits; undefined: the remote cannot be reached. */
export async function listRemoteRefs(
  mirror: GitSetup,
  { address, access }: Remote,
  start: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const words = ["ls-remote", "-q", ...toSender(access), "--", address, `${start}*`];
  const { exitCode, stdout } = await runGit(mirror, words, { remote: access, timeoutMs: LIST_MS });
  if (exitCode !== 0) return undefined;
  const lines = stdout.toString().split("\n").filter(Boolean);
  return new Map(lines.map((line) => line.split("\t") as [string, string]).map(([commit, ref]) => [ref, commit]));
}

/** Undefined if the mirror lacks the commit. */
export async function readCommit(mirror: GitSetup, ref: string): Promise<string | undefined> {
  const found = await runGit(mirror, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`]);
  return found.exitCode === 0 ? found.stdout.toString().trim() : undefined;
}

/**
 * A repository on this machine has its own settings and hooks, but the receiving program runs neither (S-124). It must
 * not change a branch that is checked out, which would run filters.
 */
const receivingSettings = [
  "safe.directory='*'",
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.alternateRefsCommand=true",
  "receive.autogc=false",
  "receive.denyCurrentBranch=refuse",
  // The mirror of a shallow repository is shallow as well. A receiver with more of the history keeps it.
  "receive.shallowUpdate=true",
  // New objects must be safe to check out: no path points into a `.git` or out of the folder.
  "receive.fsckObjects=true",
  "gc.auto=0",
  "maintenance.auto=false",
];

/**
 * Sends refs. `ok` is false if the remote refuses, as it does for a branch that has other commits. `refspecs` are as
 * git writes them. `expected` has the commits that refs of the remote must have now, by name; "": no ref.
 */
export async function pushRefs(
  mirror: GitSetup,
  { address, access }: Remote,
  refspecs: readonly string[],
  expected: Readonly<Record<string, string>> = {},
): Promise<Fetched> {
  const receiver = ["git", ...receivingSettings.map((setting) => `-c ${setting}`), "receive-pack"].join(" ");
  const words = ["push", "-q", "--no-verify", ...(access.protocol === "file" ? [`--receive-pack=${receiver}`] : [])];
  const leases = Object.entries(expected).map(([ref, commit]) => `--force-with-lease=${ref}:${commit}`);
  const options = { remote: access, timeoutMs: PUSH_MS };
  const pushed = await runGit(mirror, [...words, ...leases, "--", address, ...refspecs], options);
  return pushed.exitCode === 0 ? { ok: true } : { ok: false, reason: toReason(pushed) };
}

/**
 * The user's repository as a remote. Git's program for fetches reads only its objects and refs.
 * @throws SheafError USAGE for a folder without a repository, or with its objects elsewhere.
 */
export function toLocalRemote(repository: Repository, environment: Environment): Remote {
  const { root, commonFolder, gitFolder, git } = repository;
  if (git === "none" || gitFolder === "") {
    throw new SheafError("USAGE", `${root} is in no git repository: run git init and commit, or leave --worktree out`);
  }
  const { settings, unread } = readRepositoryConfig(repository, environment);
  const missing = settings.find(({ key }) => key === "extensions.partialclone" || /^remote\..*\.promisor$/s.test(key));
  if (missing !== undefined || unread.length > 0) {
    const problem = missing
      ? `it is a partial clone (${missing.key}): clone it without --filter, for instance with --depth 1`
      : `${unread[0]} cannot be read: check its permissions`;
    throw new SheafError("USAGE", `the repository ${root} cannot be copied, ${problem}, or leave --worktree out`);
  }
  return { address: existsSync(`${gitFolder}/HEAD`) ? gitFolder : commonFolder, access: { protocol: "file" } };
}
