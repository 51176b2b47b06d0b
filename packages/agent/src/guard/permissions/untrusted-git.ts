/**
 * Whether git would run a program that a repository brings along, although nobody trusts it (S-82). Outside of the
 * sandbox such a program has the user's rights, so neither the read-only list nor a rule for git covers it.
 */
import { accessSync, constants, type Dirent, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Environment } from "../../base/paths.ts";
import type { GitSetting } from "../../workspace/git-config.ts";
import { listGitlinks } from "../../workspace/git-index.ts";
import { isProgram, readRepositoryConfig, toShownKey } from "../../workspace/git-places.ts";
import {
  findRepository,
  isSameRepository,
  listCandidates,
  type Repository,
  toRealPlace,
} from "../../workspace/repository.ts";
import { isBelow } from "../../workspace/workspace.ts";
import { isRunner, toProgramName, unwrapCommand } from "./programs.ts";
import type { SimpleCommand } from "./shell-reading.ts";

/** Why git must not run, and what can be done about it. */
export interface GitObstacle {
  readonly reason: string;
  /** For whoever started Sheaf. */
  readonly advice: string;
}

/**
 * `folder`: where the command runs, relative to the workspace; undefined: not known. `words`: what follows `git`;
 * undefined for a word that is not known.
 */
export type FindGitObstacle = (
  folder: string | undefined,
  words: readonly (string | undefined)[],
) => GitObstacle | undefined;

export interface GitGuardOptions {
  /** Absolute, links resolved. */
  readonly workspace: string;
  /** Whether the repository of the workspace is trusted. */
  readonly trusted: boolean;
  /** Whether the user trusts a repository by the list. */
  readonly isListed: (repository: Repository) => boolean;
  readonly environment: Environment;
}

/** With more of them git does not run. */
const maxRepositories = 100;
const maxLinks = 2000;

export function createGitGuard(options: GitGuardOptions): FindGitObstacle {
  const { workspace } = options;
  // Trust is about the repository as it was when the run began.
  const own = findRepository(workspace);
  return (folder, words) => {
    const call = readGitWords(words);
    if (folder === undefined || !call) return unclear;
    const start = resolve(workspace, folder, ...call.folders);
    const inner = call.operands.map((path) => resolve(start, path)).filter((path) => isFolderBelow(path, workspace));
    return findObstacle([start, ...inner], own, { ...options, subcommand: call.subcommand });
  };
}

const unclear: GitObstacle = {
  reason: "it is not clear in which repository git would run",
  advice: "call git by itself with working_directory, or the user passes --force",
};

function findObstacle(
  starts: readonly string[],
  own: Repository,
  options: GitGuardOptions & { readonly subcommand: string },
): GitObstacle | undefined {
  const waiting = starts.flatMap((path) => listCandidates(toRealPlace(path)));
  const seen = new Set<string>();
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    if (next.gitFolder === "" || seen.has(next.gitFolder)) continue;
    seen.add(next.gitFolder);
    const { settings, unread } = readRepositoryConfig(next, options.environment);
    const isOwn = isInside(next, own);
    if (!(options.trusted && isOwn) && !options.isListed(next)) {
      const found =
        unread[0] ?? findSetting(settings, options.subcommand, isOwn) ?? (isOwn ? undefined : findHook(next));
      if (found !== undefined) return toObstacle(isOwn ? own.root : next.root, found);
    }
    const inner = listInner(next, settings, options.workspace);
    if (!inner || seen.size > maxRepositories) return unclear;
    waiting.push(...inner);
  }
  return undefined;
}

/** Whether a repository is the workspace's own, or one of its submodules and worktrees, which git put into its folder. */
function isInside(repository: Repository, own: Repository): boolean {
  const { gitFolder, commonFolder } = repository;
  if (own.gitFolder === "") return false;
  return (
    isSameRepository(repository, own) || [gitFolder, commonFolder].every((folder) => isBelow(folder, own.commonFolder))
  );
}

function toObstacle(root: string, found: string): GitObstacle {
  return {
    reason: `git would run a program that an untrusted repository names (${found})`,
    advice: `use the sandbox, or the user trusts the repository (sheaf trust ${root}) or passes --force`,
  };
}

/** The setting by which git would run a program. `isOwn`: the environment of commands switches off hooks and the file watcher. */
function findSetting(settings: readonly GitSetting[], subcommand: string, isOwn: boolean): string | undefined {
  const found = settings.find((setting) => {
    const { key } = setting;
    if (isOwn && /^core\.(?:hookspath|fsmonitor)$/.test(key)) return false;
    if (key.startsWith("alias.")) return `${key}.`.startsWith(`alias.${subcommand.toLowerCase()}.`);
    return runsProgram(setting);
  });
  return found && toShownKey(found);
}

/** Besides programs: places of hooks, protocols that are programs, and what leads git on to other repositories. */
function runsProgram(setting: GitSetting): boolean {
  const { key, value } = setting;
  if (/^protocol\.(?:.*\.)?allow$/s.test(key)) return value !== "never";
  if (/^url\.(?:[./]|file:|ext:).*insteadof$/s.test(key)) return true;
  return isProgram(setting) || /^(?:core\.hookspath|init\.templatedir|diff\.submodule)$/.test(key);
}

function findHook({ commonFolder }: Repository): string | undefined {
  const folder = join(commonFolder, "hooks");
  const isHook = (name: string): boolean => !name.endsWith(".sample") && isExecutable(join(folder, name));
  const name = listEntries(folder).find((entry) => !entry.isDirectory() && isHook(entry.name))?.name;
  return name === undefined ? undefined : join(folder, name);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Repositories that git may go on to from this one; undefined if they are not known. */
function listInner(
  repository: Repository,
  settings: readonly GitSetting[],
  workspace: string,
): Repository[] | undefined {
  const { root, gitFolder } = repository;
  const isLong = settings.some(({ key, value }) => key === "extensions.objectformat" && value === "sha256");
  const links = listGitlinks(gitFolder, isLong ? 32 : 20);
  // A sparse folder should not be there: what is in it is not in the index.
  if (
    !links ||
    links.length > maxLinks ||
    links.some((path) => path.endsWith("/") && isFolderBelow(join(root, path), "/"))
  )
    return undefined;
  const remotes = settings.flatMap(toRemotes).map((path) => resolve(root, path));
  const folders = [
    ...links.map((path) => join(root, path)),
    ...remotes.filter((path) => isFolderBelow(path, workspace)),
  ];
  return [...folders.flatMap((path) => listCandidates(toRealPlace(path))), ...listModules(join(gitFolder, "modules"))];
}

/** Where git fetches and pushes, as far as it may be a folder. */
function toRemotes({ key, value = "" }: GitSetting): string[] {
  const isRemote = /^(?:remote\..*\.(?:url|pushurl)|branch\..*\.(?:push)?remote|remote\.pushdefault)$/s.test(key);
  return isRemote ? [toLocalPath(value)] : [];
}

function toLocalPath(address: string): string {
  return address.replace(/^file:\/\//, "");
}

/** Repositories of submodules, in `.git/modules`; their names may have slashes. */
function listModules(folder: string, depth = 0): Repository[] {
  const entries = depth > 5 ? [] : listEntries(folder);
  if (entries.some((entry) => entry.name === "config" && !entry.isDirectory())) {
    return [{ root: folder, git: "bare", gitFolder: folder, commonFolder: folder }];
  }
  return entries.flatMap((entry) => (entry.isFile() ? [] : listModules(join(folder, entry.name), depth + 1)));
}

function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isFolderBelow(path: string, folder: string): boolean {
  try {
    return isBelow(toRealPlace(path), folder) && statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Options in front of the subcommand that leave the repository as it is. */
const frontOptions: ReadonlySet<string> = new Set([
  "-p", "-P", "--paginate", "--no-pager", "--no-replace-objects", "--no-optional-locks", "--no-lazy-fetch", "--no-advice",
  "--literal-pathspecs", "--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs", "--version", "--help", "-v", "-h",
]); // prettier-ignore

/** Subcommands that take a repository. */
const remoteCommands = /^(?:archive|clone|fetch|ls-remote|pull|push|remote|submodule|subtree|worktree)$/;

/** What the words of a call say; undefined: not known. */
interface GitCall {
  readonly subcommand: string;
  /** Where it runs, each relative to the one before. */
  readonly folders: readonly string[];
  /** What may be repositories. */
  readonly operands: readonly string[];
}

function readGitWords(words: readonly (string | undefined)[]): GitCall | undefined {
  const folders: string[] = [];
  let at = 0;
  for (; words[at]?.startsWith("-"); at += 1) {
    const word = words[at]!;
    if (frontOptions.has(word)) continue;
    const value = words[at + 1];
    if ((word !== "-C" && word !== "-c") || value === undefined) return undefined;
    at += 1;
    if (word === "-C") folders.push(value);
  }
  const [subcommand = at < words.length ? undefined : "", ...rest] = words.slice(at);
  if (subcommand === undefined || (rest.includes(undefined) && remoteCommands.test(subcommand))) return undefined;
  const known = rest.filter((word) => word !== undefined);
  // They lead into repositories that the index does not name.
  if (known.some((word) => /^--(?:sub|rec)/.test(word))) return undefined;
  return { subcommand, folders, operands: known.map((word) => toLocalPath(word.replace(/^--?[\w-]+=/, ""))) };
}

/**
 * The obstacle of a line's commands. `folder`: where they run, relative to the workspace; undefined: not known. Another
 * `cd` among them may lead anywhere.
 */
export function findLineObstacle(
  commands: readonly SimpleCommand[],
  folder: string | undefined,
  find: FindGitObstacle,
): GitObstacle | undefined {
  const isMoving = commands.some(([program]) => /^(?:cd|chdir|pushd|popd)$/.test(program?.text ?? ""));
  for (const command of commands) {
    const words = listGitWords(command);
    const obstacle = words && find(isMoving ? undefined : folder, words);
    if (obstacle) return obstacle;
  }
  return undefined;
}

/** The words after `git`, if the command runs it, by itself or through another program. */
function listGitWords(command: SimpleCommand): (string | undefined)[] | undefined {
  const texts = command.map(({ text }) => text);
  const start = texts.length - unwrapCommand(texts).length;
  const program = texts[start] ?? "";
  const at = isGit(program) || !isRunner(toProgramName(program)) ? start : texts.findIndex(isGit);
  const name = texts[at] ?? "";
  if (!isGit(name)) return undefined;
  const rest = command.slice(at + 1).map(({ text, isGlob }) => (isGlob ? undefined : text));
  const [, joined] = toProgramName(name).split(/-(.*)/s);
  return joined === undefined ? rest : [joined, ...rest];
}

function isGit(word: string): boolean {
  return /^git(?:-.+)?$/.test(toProgramName(word));
}
