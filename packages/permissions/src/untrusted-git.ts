/**
 * Decides if git would work in an untrusted repository (S-82). Such a repository can choose programs that git runs.
 * Outside of the sandbox these have the user's rights, so the read-only list and rules for git do not cover the call.
 */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import {
  findRepository,
  isSameRepository,
  listCandidates,
  type Repository,
  toRealPlace,
} from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { listGitlinks } from "@sheaf/base/git/git-index";
import { readRepositoryConfig } from "@sheaf/base/git/git-places";
import type { AskReason } from "./decision.ts";
import { isRunner, unwrapCommand } from "./programs.ts";
import { toProgramName, type SimpleCommand } from "./shell-reading.ts";

/** The reason why git must not run, with the remedy. */
export interface GitObstacle extends AskReason {
  /** Remedy for the person who started Sheaf. */
  readonly advice: string;
}

/**
 * Finds the obstacle of a call. `folder` is where the command runs, relative to the workspace; undefined if unknown.
 * `words` are the words after `git`, with undefined for unknown ones.
 */
export type FindGitObstacle = (
  folder: string | undefined,
  words: readonly (string | undefined)[],
) => GitObstacle | undefined;

export interface GitGuardOptions {
  /** The workspace, then added folders. Absolute, links resolved. */
  readonly folders: readonly [string, ...string[]];
  /** True if the repository of the workspace is trusted. */
  readonly trusted: boolean;
  /** True if a repository is on the user's list of trusted ones. */
  readonly isListed: (repository: Repository) => boolean;
  readonly environment: Environment;
}

/** Most repositories of one call; with more, git does not run. */
const maxRepositories = 100;
const maxLinks = 2000;

/** Matches options before the subcommand that do not change the repository. */
const frontOption =
  /^(?:-[pPvh]|--paginate|--no-(?:pager|replace-objects|optional-locks|lazy-fetch|advice)|--(?:literal|glob|noglob|icase)-pathspecs|--version|--help)$/;

/** Matches subcommands that use another repository by its address. */
const remoteCommand =
  /^(?:archive|bundle|clone|daemon|fetch.*|http-.*|lfs|ls-remote|maintenance|p4|pull|push|receive-pack|remote.*|request-pull|send-pack|submodule|subtree|svn|upload-.*)$/;

const unclear: GitObstacle = {
  reason: "it is not clear in which repository git would run",
  cause: { code: "unclear_repository" },
  advice: "call git by itself with working_directory, or the user passes --force",
};

export function createGitGuard({ folders, trusted, isListed, environment }: GitGuardOptions): FindGitObstacle {
  // Trust applies to the repository as it was at the start of the run.
  const own = findRepository(folders[0]);
  const isTrusted = (repository: Repository): boolean => (trusted && isInside(repository, own)) || isListed(repository);
  return (folder, words) => {
    const front = words.findIndex((word) => word === undefined || !frontOption.test(word));
    const [subcommand, ...operands] = front < 0 ? [""] : words.slice(front);
    const isRemote = subcommand !== undefined && remoteCommand.test(subcommand);
    // Options before the subcommand change the repository; `--recurse-submodules` and unknown addresses can add others.
    const leads = (word: string | undefined): boolean => (word === undefined ? isRemote : /^--(?:sub|rec)/.test(word));
    if (folder === undefined || !/^(?!-)/.test(subcommand ?? "-") || operands.some(leads)) return unclear;
    const start = resolve(folders[0], folder);
    const toPlaces = (base: string, address: string): string[] => {
      const place = resolve(base, address.replace(/^--?[\w-]+=/, "").replace(/^file:\/\//, ""));
      return isRemote && folders.some((run) => isFolderBelow(place, run)) ? [place] : [];
    };
    const waiting = [start, ...operands.flatMap((word) => toPlaces(start, word ?? ""))].flatMap((place) =>
      listCandidates(toRealPlace(place)),
    );
    const seen = new Set<string>();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { root, git, gitFolder } = next;
      if (git === "none" || seen.has(gitFolder)) continue;
      seen.add(gitFolder);
      if (gitFolder === "" || seen.size > maxRepositories) return unclear;
      if (!isTrusted(next)) return toObstacle(isInside(next, own) ? own.root : root);
      const { settings } = readRepositoryConfig(next, environment);
      const isLong = settings.some(({ key, value }) => key === "extensions.objectformat" && value === "sha256");
      const links = listGitlinks(gitFolder, isLong ? 32 : 20);
      // A sparse folder should not exist: its content is not in the index.
      const isSparse = links?.some((path) => path.endsWith("/") && isFolderBelow(join(root, path), "/"));
      if (!links || isSparse || links.length > maxLinks) return unclear;
      const addresses = settings.flatMap(({ key, value = "" }) => (remoteKey.test(key) ? toPlaces(root, value) : []));
      const places = [...links.map((path) => join(root, path)), ...addresses];
      waiting.push(...places.flatMap((place) => listCandidates(toRealPlace(place))));
    }
    return undefined;
  };
}

/** Matches settings with the addresses from which git fetches and to which it pushes. */
const remoteKey = /^(?:remote\..*\.(?:url|pushurl)|branch\..*\.(?:push)?remote|remote\.pushdefault)$/s;

/** True for the workspace's own repository, and for its submodules and worktrees, which git put into its folder. */
function isInside(repository: Repository, own: Repository): boolean {
  if (own.gitFolder === "") return false;
  const isKept = (folder: string): boolean =>
    folder === own.commonFolder ||
    ["modules", "worktrees"].some((name) => isBelow(folder, join(own.commonFolder, name)));
  return isSameRepository(repository, own) || (isKept(repository.gitFolder) && isKept(repository.commonFolder));
}

function toObstacle(root: string): GitObstacle {
  return {
    reason: `git could run programs that the repository ${root} names, which is not trusted`,
    cause: { code: "untrusted_repository" },
    advice: `use the sandbox, or the user trusts the repository (sheaf trust ${root}), or the user passes --force`,
  };
}

function isFolderBelow(path: string, folder: string): boolean {
  try {
    return isBelow(toRealPlace(path), folder) && statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Returns the obstacle of a line's commands. `folder` is where they run, relative to the workspace; undefined if
 * unknown. After another `cd`, the folder is unknown.
 */
export function findLineObstacle(
  commands: readonly SimpleCommand[],
  folder: string | undefined,
  find: FindGitObstacle,
): GitObstacle | undefined {
  const isMoving = commands.some((words) =>
    words.slice(0, 2).some(({ text }) => /^(?:cd|chdir|pushd|popd)$/.test(text)),
  );
  return commands.map((command) => findObstacle(command, isMoving ? undefined : folder, find)).find((found) => found);
}

/** Returns the obstacle of a command; undefined if it does not run git, even through another program. */
function findObstacle(
  command: SimpleCommand,
  folder: string | undefined,
  find: FindGitObstacle,
): GitObstacle | undefined {
  const texts = command.map(({ text }) => text);
  const start = texts.length - unwrapCommand(texts).length;
  const program = texts[start] ?? "";
  const at = isGit(program) || !isRunner(toProgramName(program)) ? start : texts.findIndex(isGit);
  const name = texts[at] ?? "";
  if (!isGit(name)) return undefined;
  const joined = /^git-(.+)$/s.exec(toProgramName(name))?.slice(1) ?? [];
  const rest = command.slice(at + 1).map(({ text, isGlob }) => (isGlob ? undefined : text));
  // The program `xargs` adds words from its input.
  const gathered = texts.some((text) => /^(?:parallel|xargs)$/.test(toProgramName(text))) ? [undefined] : [];
  // Words before it may choose another folder or repository.
  const isElsewhere = texts.slice(0, at).some((text) => /^(?:GIT_\w+=|-[CD]|--chdir)/.test(text));
  return find(isElsewhere ? undefined : folder, [...joined, ...rest, ...gathered]);
}

function isGit(word: string): boolean {
  return /^git(?:-.+)?$/.test(toProgramName(word));
}
