/** Git's configuration, read from its files: git is never started for it (S-80). */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Environment } from "../paths.ts";

/** One line of a configuration file. */
export interface GitSetting {
  /** Section and name in lower case, a subsection as written: `diff.Word.textconv`. */
  readonly key: string;
  /** Undefined for a key without `=`, which means true. */
  readonly value: string | undefined;
  /** The file that has it. */
  readonly file: string;
}

export interface GitConfig {
  readonly settings: readonly GitSetting[];
  /** Files that could not be read to their end, or found; git may know more of them. */
  readonly unread: readonly string[];
}

/** Read in all. Bytes: a repository of 5,000 branches has 400,000. */
const maxBytes = 1024 * 1024;

/** As deep as git follows files that include others. */
const maxDepth = 10;

/** Files read in all. */
const maxFiles = 200;

/**
 * Reads configuration files and all that they include. Every condition of `includeIf` counts as met: to know too much is
 * safe. A broken line is skipped, although git would refuse the file: the user may repair it. Never throws.
 */
export function readGitConfig(files: readonly string[], home: string): GitConfig {
  const settings: GitSetting[] = [];
  const unread: string[] = [];
  const seen = new Set<string>();
  let room = maxBytes;
  const waiting = files.map((file) => ({ file, depth: 0 }));
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { file, depth } = next;
    if (seen.has(file)) continue;
    if (seen.size === maxFiles) return { settings, unread: [...unread, file] };
    seen.add(file);
    const content = depth > maxDepth ? "unread" : readConfigFile(file, room);
    if (content === "missing") continue;
    if (content === "unread" || content.isCut) unread.push(file);
    if (content === "unread") continue;
    room -= content.bytes;
    for (const setting of parseGitConfig(content.text).map((parsed) => ({ ...parsed, file }))) {
      settings.push(setting);
      if (!isInclude(setting) || !setting.value) continue;
      const included = toConfigPath(setting, dirname(file), home);
      if (included === undefined) unread.push(setting.value);
      else waiting.push({ file: included, depth: depth + 1 });
    }
  }
  return { settings, unread };
}

/** True if the value is a configuration file that git reads too. */
export function isInclude({ key }: GitSetting): boolean {
  return key === "include.path" || /^includeif\..*\.path$/s.test(key);
}

/** The absolute path that a value names, with its dots; undefined if none is known. `folder`: where a relative one begins. */
export function toConfigPath({ value = "" }: GitSetting, folder: string, home: string): string | undefined {
  const path = value.replace(/^:\(optional\)/, "");
  if (path.startsWith("~/")) return home + path.slice(1);
  // The home of another user, and the place where git is installed.
  if (path === "" || path.includes("\0") || /^(?:~|%\(prefix\))/.test(path)) return undefined;
  return isAbsolute(path) ? path : `${folder}/${path}`;
}

/** The user's home, as git takes it. */
export function toGitHome(environment: Environment): string {
  return environment.HOME || homedir();
}

/** The files of the machine and of the user, whether they exist or not. Their order means nothing. */
export function listUserConfigFiles(environment: Environment): string[] {
  const home = toGitHome(environment);
  const { GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, GIT_CONFIG_NOSYSTEM, XDG_CONFIG_HOME } = environment;
  const system = isTrue(GIT_CONFIG_NOSYSTEM) ? [] : [GIT_CONFIG_SYSTEM, ...systemFiles];
  const user = [
    GIT_CONFIG_GLOBAL,
    join(home, ".gitconfig"),
    join(XDG_CONFIG_HOME || join(home, ".config"), "git/config"),
  ];
  return [...system, ...user].filter((file) => file !== undefined && isAbsolute(file)) as string[];
}

/** The place where the packages of Linux and macOS have it. */
const systemFiles = [
  "/etc/gitconfig",
  "/usr/local/etc/gitconfig",
  "/opt/homebrew/etc/gitconfig",
  "/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
];

/** As git reads a truth value. */
function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(?:true|yes|on|0*[1-9]\d*[kmg]?)$/i.test(value);
}

interface ConfigContent {
  readonly text: string;
  readonly bytes: number;
  readonly isCut: boolean;
}

/** Follows links, as git does, but opens no pipe and no device. */
function readConfigFile(file: string, room: number): ConfigContent | "missing" | "unread" {
  let descriptor: number | undefined;
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found) return "missing";
    if (!found.isFile()) return found.isDirectory() ? "missing" : "unread";
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const { size } = fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, room));
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    return { text: buffer.toString("utf8", 0, length), bytes: length, isCut: size > room };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "unread";
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const tokens = {
  blank: /[ \t\n\r]+|[#;][^\n]*/y,
  /** A subsection cannot contain a line end; a backslash stands for the character after it. */
  section: /\[([A-Za-z0-9.-]+)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y,
  name: /([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:(=)|(?=\n|$))/y,
  rest: /[^\n]*/y,
} as const;

/** The settings of one file in their order, without what it includes. Broken lines are skipped. */
export function parseGitConfig(content: string): Omit<GitSetting, "file">[] {
  const text = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const settings: Omit<GitSetting, "file">[] = [];
  let prefix = "";
  let at = 0;
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = at;
    const found = token.exec(text);
    if (found) at = token.lastIndex;
    return found;
  };
  while (at < text.length) {
    if (take(tokens.blank)) continue;
    const section = take(tokens.section);
    const name = section ? null : take(tokens.name);
    if (section) {
      const [, main = "", inner] = section;
      prefix = `${main.toLowerCase()}.${inner === undefined ? "" : `${inner.replaceAll(/\\(.)/gs, "$1")}.`}`;
    } else if (name) {
      const { value, end } = name[2] ? readValue(text, at) : { value: undefined, end: at };
      settings.push({ key: prefix + name[1]!.toLowerCase(), value });
      at = end;
    } else {
      take(tokens.rest);
    }
  }
  return settings;
}

const pieces = {
  plain: /([ \t\r]+)|([;#][^\n]*)|(")|\\([^]?)|[^ \t\r;#"\\\n]+/y,
  quoted: /(?!)()()|(")|\\([^]?)|[^"\\\n]+/y,
} as const;

const escapes: Readonly<Record<string, string>> = { "\n": "", t: "\t", b: "\b", n: "\n", "\\": "\\", '"': '"' };

/** A value up to the end of its line; one that is broken as far as it is known. `end`: where the next line begins. */
function readValue(text: string, start: number): { readonly value: string; readonly end: number } {
  let value = "";
  let blanks = "";
  let isQuoted = false;
  let at = start;
  while (at < text.length && text[at] !== "\n") {
    const piece = isQuoted ? pieces.quoted : pieces.plain;
    piece.lastIndex = at;
    const [whole, blank, comment, quote, escape] = piece.exec(text) ?? [text[at]!];
    at += whole.length;
    if (comment !== undefined) continue;
    if (blank !== undefined) {
      if (value !== "") blanks += " ".repeat(blank.length);
      continue;
    }
    value += blanks;
    blanks = "";
    if (quote !== undefined) isQuoted = !isQuoted;
    else value += escape === undefined ? whole : (escapes[escape] ?? "");
  }
  return { value: value.replace(/\0.*$/s, ""), end: at };
}
