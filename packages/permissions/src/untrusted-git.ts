/**
 * Whether git would run a program that a repository brings along, although nobody trusts it (S-82). Outside of the
 * sandbox such a program has the user's rights, so neither the read-only list nor a rule for git covers it.
 */
import { type Dirent, existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isExecutable } from "@sheaf/base/is-executable";
import type { Environment } from "@sheaf/base/paths";
import type { GitConfig, GitSetting } from "@sheaf/base/git/git-config";
import { listGitlinks } from "@sheaf/base/git/git-index";
import { isProgram, readRepositoryConfig, toShownKey } from "@sheaf/base/git/git-places";
import {
  findRepository,
  isSameRepository,
  listCandidates,
  type Repository,
  toRealPlace,
} from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { gathersWords, isRunner, toProgramName, unwrapCommand } from "./programs.ts";
import type { AskReason } from "./decision.ts";
import type { SimpleCommand } from "./shell-reading.ts";

/** Why git must not run, and what can be done about it. */
export interface GitObstacle extends AskReason {
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
  /** The workspace, then added folders. Absolute, links resolved. */
  readonly folders: readonly [string, ...string[]];
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
  const [workspace] = options.folders;
  // Trust is about the repository as it was when the run began.
  const own = findRepository(workspace);
  return (folder, words) => {
    const call = readGitWords(words);
    if (folder === undefined || !call) return unclear;
    const start = resolve(workspace, folder, ...call.folders);
    const search = new RepositorySearch(own, call.subcommand, options);
    search.add(start, false);
    for (const path of call.operands) search.addRemote(start, path);
    return search.run();
  };
}

const unclear: GitObstacle = {
  reason: "it is not clear in which repository git would run",
  cause: { code: "unclear_repository" },
  advice: "call git by itself with working_directory, or the user passes --force",
};

/** A repository that git may use. */
interface Candidate {
  readonly repository: Repository;
  /** Another git serves it, as for a push. Then it does not see the environment's settings. */
  readonly isServed: boolean;
}

/** Goes through all repositories that one call of git may use. */
class RepositorySearch {
  readonly #waiting: Candidate[] = [];
  readonly #seen = new Set<string>();
  readonly #own: Repository;
  readonly #subcommand: string;
  readonly #options: GitGuardOptions;

  constructor(own: Repository, subcommand: string, options: GitGuardOptions) {
    this.#own = own;
    this.#subcommand = subcommand;
    this.#options = options;
  }

  add(path: string, isServed: boolean): void {
    const found = listCandidates(toRealPlace(path));
    this.#waiting.push(...found.map((repository) => ({ repository, isServed })));
  }

  /** What may be the address of a repository. Only folders that the run can write matter. */
  addRemote(base: string, address: string): void {
    if (!remoteCommands.test(this.#subcommand)) return;
    const path = resolve(base, address.replace(/^file:\/\//, ""));
    if (this.#options.folders.some((folder) => isFolderBelow(path, folder))) this.add(path, true);
  }

  run(): GitObstacle | undefined {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { root, git, gitFolder } = next.repository;
      const key = `${next.isServed} ${gitFolder}`;
      if (git === "none" || this.#seen.has(key)) continue;
      this.#seen.add(key);
      if (gitFolder === "" || this.#seen.size > maxRepositories) return unclear;
      const config = readRepositoryConfig(next.repository, this.#options.environment);
      const isOwn = isInside(next.repository, this.#own);
      const isTrusted = (this.#options.trusted && isOwn) || this.#options.isListed(next.repository);
      const found = isTrusted
        ? undefined
        : findProgram(next.repository, config, this.#subcommand, isOwn && !next.isServed);
      if (found !== undefined) return toObstacle(isOwn ? this.#own.root : root, found);
      if (!this.#addInner(next.repository, config.settings)) return unclear;
    }
    return undefined;
  }

  /** Repositories that git may go on to. False: they are not known. */
  #addInner({ root, gitFolder }: Repository, settings: readonly GitSetting[]): boolean {
    const isLong = settings.some(({ key, value }) => key === "extensions.objectformat" && value === "sha256");
    const links = listGitlinks(gitFolder, isLong ? 32 : 20);
    if (!links || links.length > maxLinks) return false;
    // A sparse folder should not be there: what is in it is not in the index.
    if (links.some((path) => path.endsWith("/") && isFolderBelow(join(root, path), "/"))) return false;
    for (const path of links) this.add(join(root, path), false);
    for (const address of settings.flatMap(toAddresses)) this.addRemote(root, address);
    const modules = listModules(join(gitFolder, "modules"));
    this.#waiting.push(...modules.map((repository) => ({ repository, isServed: false })));
    return true;
  }
}

/** Whether a repository is the workspace's own, or one of its submodules and worktrees, which git put into its folder. */
function isInside(repository: Repository, own: Repository): boolean {
  if (own.gitFolder === "") return false;
  const isKept = (folder: string): boolean =>
    folder === own.commonFolder ||
    ["modules", "worktrees"].some((name) => isBelow(folder, join(own.commonFolder, name)));
  return isSameRepository(repository, own) || (isKept(repository.gitFolder) && isKept(repository.commonFolder));
}

function toObstacle(root: string, found: string): GitObstacle {
  return {
    reason: `git would run a program that an untrusted repository names (${found})`,
    cause: { code: "untrusted_repository" },
    advice: `use the sandbox, or the user trusts the repository (sheaf trust ${root}) or passes --force`,
  };
}

/** `isHardened`: the environment of commands switches off hooks and the file watcher. */
function findProgram(
  repository: Repository,
  { settings, unread }: GitConfig,
  subcommand: string,
  isHardened: boolean,
): string | undefined {
  const setting = settings.find((candidate) => {
    const { key } = candidate;
    if (isHardened && /^core\.(?:hookspath|fsmonitor)$/.test(key)) return false;
    if (key.startsWith("alias.")) return `${key}.`.startsWith(`alias.${subcommand.toLowerCase()}.`);
    return runsProgram(candidate);
  });
  if (setting) return toShownKey(setting);
  if (unread[0] !== undefined) return `${unread[0]} cannot be read`;
  // An interrupted rebase may have lines that it runs.
  const steps = join(repository.gitFolder, "rebase-merge", "git-rebase-todo");
  if (subcommand === "rebase" && existsSync(steps)) return steps;
  return isHardened ? undefined : findHook(repository);
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

/** Where git fetches and pushes. */
function toAddresses({ key, value = "" }: GitSetting): string[] {
  const isRemote = /^(?:remote\..*\.(?:url|pushurl)|branch\..*\.(?:push)?remote|remote\.pushdefault)$/s.test(key);
  return isRemote ? [value] : [];
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

/** Subcommands that use another repository by its address. */
const remoteCommands =
  /^(?:archive|bundle|clone|daemon|fetch.*|http-.*|lfs|ls-remote|maintenance|p4|pull|push|receive-pack|remote.*|request-pull|send-pack|submodule|subtree|svn|upload-.*)$/;

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
  return { subcommand, folders, operands: known.map((word) => word.replace(/^--?[\w-]+=/, "")) };
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
  const isMoving = commands.some((words) =>
    words.slice(0, 2).some(({ text }) => /^(?:cd|chdir|pushd|popd)$/.test(text)),
  );
  for (const command of commands) {
    const call = findGitWords(command);
    const obstacle = call && find(isMoving || call.isElsewhere ? undefined : folder, call.words);
    if (obstacle) return obstacle;
  }
  return undefined;
}

interface GitWords {
  /** Those after `git`. */
  readonly words: readonly (string | undefined)[];
  /** Words before it may choose another folder or repository. */
  readonly isElsewhere: boolean;
}

/** Undefined if the command does not run git, by itself or through another program. */
function findGitWords(command: SimpleCommand): GitWords | undefined {
  const texts = command.map(({ text }) => text);
  const start = texts.length - unwrapCommand(texts).length;
  const program = texts[start] ?? "";
  const at = isGit(program) || !isRunner(toProgramName(program)) ? start : texts.findIndex(isGit);
  const name = texts[at] ?? "";
  if (!isGit(name)) return undefined;
  const rest = command.slice(at + 1).map(({ text, isGlob }) => (isGlob ? undefined : text));
  const [, joined] = toProgramName(name).split(/-(.*)/s);
  const words = joined === undefined ? rest : [joined, ...rest];
  const isElsewhere = texts.slice(0, at).some((text) => /^(?:GIT_\w+=|-[CD]|--chdir)/.test(text));
  // `xargs` adds words that it reads.
  return { words: gathersWords(texts) ? [...words, undefined] : words, isElsewhere };
}

function isGit(word: string): boolean {
  return /^git(?:-.+)?$/.test(toProgramName(word));
}
