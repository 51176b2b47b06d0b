/** Reads git's configuration from its files, without starting git (S-80). */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Environment } from "../paths.ts";

/** One line of a configuration file. */
export interface GitSetting {
  /** Section and name in lower case, a subsection as written: `diff.Word.textconv`. */
  readonly key: string;
  /** The value; undefined for a key without `=`, which means true. */
  readonly value: string | undefined;
  /** The file that has it. */
  readonly file: string;
}

export interface GitConfig {
  readonly settings: readonly GitSetting[];
  /** Files that are missing or that could not be read to their end; git may know more of them. */
  readonly unread: readonly string[];
}

/** Most bytes of all files together. A repository of 5,000 branches has 400,000. */
const maxBytes = 1024 * 1024;

/** Most levels of files that include others, as in git. */
const maxDepth = 10;

/** Most files in total. */
const maxFiles = 200;

/**
 * Reads configuration files and all files that they include. It follows every `includeIf`, since too many settings are
 * safe. It skips a broken line, although git would refuse the file: the user may repair it. Never throws.
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

/** True if the value is a further configuration file, which git reads as well. */
export function isInclude({ key }: GitSetting): boolean {
  return key === "include.path" || /^includeif\..*\.path$/s.test(key);
}

/** Returns the absolute path in a value, with its dots; undefined if unknown. Relative paths start in `folder`. */
export function toConfigPath({ value = "" }: GitSetting, folder: string, home: string): string | undefined {
  const path = value.replace(/^:\(optional\)/, "");
  if (path.startsWith("~/")) return home + path.slice(1);
  // Paths in another user's home, and in git's installation folder.
  if (path === "" || path.includes("\0") || /^(?:~|%\(prefix\))/.test(path)) return undefined;
  return isAbsolute(path) ? path : `${folder}/${path}`;
}

/** Returns the home folder that git uses. */
export function toGitHome(environment: Environment): string {
  return environment.HOME || homedir();
}

/** Lists configuration files of the machine and the user, existing or not, in no special order. */
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

/** Places of the machine's configuration in packages for Linux and macOS. */
const systemFiles = [
  "/etc/gitconfig",
  "/usr/local/etc/gitconfig",
  "/opt/homebrew/etc/gitconfig",
  "/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
];

/** True for git's forms of true. */
function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(?:true|yes|on|0*[1-9]\d*[kmg]?)$/i.test(value);
}

interface ConfigContent {
  readonly text: string;
  readonly bytes: number;
  readonly isCut: boolean;
}

/** Reads a file. It follows links, as git does, but opens no pipe and no device. */
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
  /** A subsection cannot contain a line end. A backslash escapes the next character. */
  section: /\[([A-Za-z0-9.-]+)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y,
  name: /([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:(=)|(?=\n|$))/y,
  rest: /[^\n]*/y,
} as const;

/** Parses the settings of one file in their order, without included files. It skips broken lines. */
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

/** Reads a value to the end of its line, even a broken one. `end` is the position of that line end. */
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
