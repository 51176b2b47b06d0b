/** Places in the workspace that git's configuration names: what is there decides what git runs or obeys (S-80). */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../paths.ts";
import {
  type GitConfig,
  type GitSetting,
  isInclude,
  listUserConfigFiles,
  readGitConfig,
  toConfigPath,
  toGitHome,
} from "./git-config.ts";
import { followLinks } from "../files/follow-links.ts";
import { listEntries } from "../files/list-files.ts";
import { listCandidates, readStats, type Repository } from "../files/repository.ts";
import { toComparablePath } from "../files/comparable-name.ts";
import { isBelow, type Workspace, type WorkspacePath } from "../files/workspace.ts";

/** A place that decides what git runs. */
export interface GitPlace {
  /** Absolute. A file or a folder with all in it; it need not exist. */
  readonly path: string;
  /** What names it, for a message. */
  readonly reason: string;
}

export interface GitPlacesOptions {
  /** Where git may be used: the workspace, added folders, repositories in them. Absolute, links resolved. */
  readonly folders: readonly string[];
  /** Places below these are wanted; the folders themselves never are. Absolute, links resolved. */
  readonly inside: readonly string[];
  /** Of the user: where the user's configuration is. */
  readonly environment: Environment;
}

/** Those beyond are left out; the user's own come first. */
const maxPlaces = 1000;

/** Submodules that are looked at. */
const maxRepositories = 200;

/**
 * The places that the configuration of machine, user and repositories names, in every spelling: a link on the way counts
 * as a place too. Reads files only, and never throws.
 */
export function listGitPlaces({ folders, inside, environment }: GitPlacesOptions): GitPlace[] {
  const home = toGitHome(environment);
  const userFiles = listUserConfigFiles(environment);
  const shared = readGitConfig(userFiles, home).settings;
  const places = new Map<string, GitPlace>();
  const add = (path: string, reason: string): void => {
    for (const spelling of listSpellings(path)) {
      const isWanted = inside.some((folder) => spelling !== folder && isBelow(spelling, folder));
      if (isWanted && !places.has(spelling) && places.size < maxPlaces)
        places.set(spelling, { path: spelling, reason });
    }
  };
  for (const file of userFiles) add(file, "git reads it as its configuration");
  for (const repository of listRepositories(folders)) {
    const { root, gitFolder, commonFolder } = repository;
    const hooks = new Set(gitFolder === "" ? [] : [commonFolder, gitFolder].map((folder) => join(folder, "hooks")));
    for (const setting of [...shared, ...readRepositoryConfig(repository, environment).settings]) {
      for (const path of toNamedPaths(setting, root, home)) add(path, toReason(setting));
      const folder = setting.key === "core.hookspath" ? toConfigPath(setting, root, home) : undefined;
      if (folder === undefined) continue;
      hooks.add(folder);
      for (const path of toHookPlaces(folder, inside)) add(path, toReason(setting));
    }
    for (const link of [...hooks].flatMap(listLinks)) add(link, `${link} leads there, and git runs it as a hook`);
  }
  return [...places.values()];
}

/** The place that a path of a workspace meets, by its name or by where it leads; undefined if there is none. */
export function findGitPlace({ root, git }: Workspace, { absolute, named }: WorkspacePath): GitPlace | undefined {
  const paths = [absolute, isAbsolute(named) ? named : join(root, named)];
  const folders = [root, ...git.folders, ...paths.flatMap((path) => listRepositoriesAbove(path, root))];
  const places = listGitPlaces({ folders, inside: [root], environment: git.environment });
  const compared = paths.map(toComparablePath);
  return places.find((place) => {
    const other = toComparablePath(place.path);
    // What is above a place can be a link, and replacing that replaces the place.
    return compared.some((path) => isBelow(path, other) || isBelow(other, path));
  });
}

/** Folders from `path` up to `root` that look like repositories. */
function listRepositoriesAbove(path: string, root: string): string[] {
  const found: string[] = [];
  for (let folder = dirname(path); folder !== root && isBelow(folder, root); folder = dirname(folder)) {
    if ([".git", "HEAD"].some((name) => findKind(join(folder, name)) !== "none")) found.push(folder);
  }
  return found;
}

/**
 * The repository's own configuration: what git reads besides the machine's and the user's. That of its own folder counts
 * in any case: a command can create a `commondir`, which is taken away only after it.
 */
export function readRepositoryConfig({ gitFolder, commonFolder }: Repository, environment: Environment): GitConfig {
  if (gitFolder === "") return { settings: [], unread: [] };
  const folders = [commonFolder, gitFolder];
  const files = folders.flatMap((folder) => ["config", "config.worktree"].map((name) => join(folder, name)));
  return readGitConfig(files, toGitHome(environment));
}

function toReason(setting: GitSetting): string {
  return `git's setting ${toShownKey(setting)} names it`;
}

/** `core.hookspath in /home/me/.gitconfig`. A subsection may be any text. */
export function toShownKey({ key, file }: GitSetting): string {
  return `${key.slice(0, 100).replaceAll(/[^ -~]/g, "?")} in ${file}`;
}

/** The repositories to which the folders belong, with their submodules. A folder without one may get one. */
function listRepositories(folders: readonly string[]): Repository[] {
  const found = new Map<string, Repository>();
  const waiting = [...folders];
  for (let next = waiting.shift(); next !== undefined && found.size < maxRepositories; next = waiting.shift()) {
    for (const repository of listCandidates(next)) {
      if (found.has(repository.root)) continue;
      found.set(repository.root, repository);
      waiting.push(...listSubmodules(repository));
    }
  }
  return [...found.values()];
}

function listSubmodules({ root }: Repository): string[] {
  const { settings } = readGitConfig([join(root, ".gitmodules")], "");
  const paths = settings.flatMap(({ key, value }) => (value && /^submodule\..*\.path$/s.test(key) ? [value] : []));
  const inner = paths.slice(0, maxRepositories).map((path) => join(root, path));
  return inner.filter((path) => isBelow(path, root));
}

/** The names of a path on the way to its real place, without dots; links that cannot be followed end it. */
function listSpellings(path: string): string[] {
  const place = resolve(path);
  const spellings = [place];
  try {
    const folder = dirname(place);
    if (existsSync(folder) && realpathSync.native(folder) === folder && !readStats(place)?.isSymbolicLink()) return spellings; // prettier-ignore
    spellings.push(followLinks("/", path.split("/"), (spelling) => spellings.push(spelling)).target);
  } catch {
    // A circle, or a folder that this user may not search.
  }
  return spellings;
}

function listLinks(folder: string): string[] {
  return listEntries(folder)
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => join(folder, name));
}

/** Keys whose value git, or a program that comes with it, runs. */
const programKey = toKeyPattern([
  "core.(?:askpass|editor|pager|sshcommand|fsmonitor|gitproxy|alternaterefscommand)",
  "sequence.editor", "interactive.difffilter", "uploadpack.packobjectshook", "imap.tunnel", "pager.*", "hook.*.command",
  "diff.external", "diff.*.(?:command|textconv)", "merge.*.driver", "filter.*.(?:clean|smudge|process)",
  "(?:mergetool|difftool|browser|man|guitool).*.(?:cmd|path)",
  "gpg.(?:*.)?(?:program|defaultkeycommand)", "credential.(?:*.)?helper", "trailer.*.(?:command|cmd)", "tar.*.command",
  "remote.*.(?:uploadpack|receivepack|vcs)", "instaweb.(?:httpd|browser)",
  "sendemail.(?:*.)?(?:smtpserver|sendmailcmd|tocmd|cccmd|headercmd)",
  "lfs.customtransfer.*.path", "lfs.extension.*.(?:clean|smudge)",
]); // prettier-ignore

/** A star is any text, as in a subsection. */
function toKeyPattern(keys: readonly string[]): RegExp {
  return new RegExp(`^(?:${keys.join("|").replaceAll(".", "\\.").replaceAll("*", ".*")})$`, "s");
}

/** True if git runs the value of a setting. Truth values switch what is built in. */
export function isProgram({ key, value = "" }: GitSetting): boolean {
  if (value === "" || /^(?:true|false|yes|no|on|off|\d+)$/i.test(value)) return false;
  if (/^submodule\..*\.update$/s.test(key)) return value.startsWith("!");
  // Names of tools, or of scripts for them.
  if (/^(?:diff|merge)\.(?:gui)?tool$/.test(key)) return value.includes("/");
  // Another alias is a command of git, which may have a program among its options.
  if (key.startsWith("alias.")) return /^!|(?:^|\s)(?:-[cx]|--exec|run|foreach|filter-branch)/.test(value);
  return programKey.test(key);
}

/** Absolute paths. */
function toNamedPaths(setting: GitSetting, root: string, home: string): string[] {
  const { key, file, value = "" } = setting;
  if (isProgram(setting)) return toProgramPaths(value, root, home);
  const isFile = isInclude(setting) || key === "core.attributesfile" || key === "init.templatedir";
  const path = isFile ? toConfigPath(setting, isInclude(setting) ? dirname(file) : root, home) : undefined;
  return path === undefined ? [] : [path];
}

/** `folder`: that of the hooks. */
function toHookPlaces(folder: string, inside: readonly string[]): string[] {
  const plain = resolve(folder);
  // Then the folder as a whole is no place, but each hook in it is.
  if (inside.includes(plain)) return hookNames.map((name) => join(plain, name));
  // Husky keeps the users' scripts in the folder above.
  return basename(plain) === "_" && !inside.includes(dirname(plain)) ? [dirname(plain)] : [folder];
}

const hookNames = [
  "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit", "post-index-change",
  "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit",
  "pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction",
  "sendemail-validate", "update",
]; // prettier-ignore

/** Longer values are cut: they name thousands of files. */
const maxValue = 65_536;

/**
 * The words of a command that may be files: with a slash, or existing files, such as the script of `python3 watch.py`. They
 * are relative to the root, where git runs them. Existing folders are what a command works on.
 */
function toProgramPaths(value: string, root: string, home: string): string[] {
  // What a shell puts in the place of a variable is the home, or most likely the root.
  const text = value
    .slice(0, maxValue)
    .replaceAll(/\$(?:HOME|\{HOME\})(?=\/)/g, "~")
    .replaceAll(/(?:\$\([^()]*\)|\$\{\w+\}|\$\w+|`[^`]*`)(?=\/)/g, ".");
  // A shell may read quoted text again, so each reading counts: cut at quotes, quoted as a whole, with escaped blanks.
  const words = new Set([
    ...text.split(/[\s"'`!;&|()<>=,]+/),
    ...[...text.matchAll(/"([^"|;&]*)"|'([^'|;&]*)'/g)].map(([, one, other]) => one ?? other ?? ""),
    ...[...text.matchAll(/(?:\\ |[^\s\\])+/g)]
      .map(([word]) => word.replaceAll("\\ ", " "))
      .filter((word) => word.includes(" ")),
  ]);
  return [...words].flatMap((word) => {
    if (word.endsWith("/") || word.includes("\0") || /^\w+:\/\//.test(word)) return [];
    const path = word.startsWith("~/") ? home + word.slice(1) : isAbsolute(word) ? word : `${root}/${word}`;
    const kind = findKind(path);
    return kind === "file" || (kind === "none" && word.includes("/")) ? [path] : [];
  });
}

function findKind(path: string): "file" | "folder" | "none" {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return !stats ? "none" : stats.isDirectory() ? "folder" : "file";
  } catch {
    return "none";
  }
}
