/** Decides if a command is on the closed list of commands that run without a question (S-10). */
import { unwrapCommand } from "./programs.ts";
import type { SimpleCommand } from "./shell-reading.ts";

/** The place of a command, with the files that it may see there. */
export interface ReadingPlace {
  /** True for the root of a trusted workspace, where git reads its own configuration. */
  readonly isTrustedRoot: boolean;
  /** True if the program may read this file, or with `folder` this folder and everything below it. */
  mayRead(path: string, kind: "file" | "folder"): boolean;
}

/** True if the command only reads permitted files. It allows no patterns of file names, since a link may match. */
export function isReadOnly(command: SimpleCommand, place: ReadingPlace): boolean {
  if (command.some(({ isGlob }) => isGlob)) return false;
  const [program = "", ...words] = unwrapCommand(command.map(({ text }) => text));
  if (words.length === 1 && words[0] === "--version") return versioned.has(program);
  if (program === "find") return isReadOnlyFind(words, place);
  if (program === "sed") return isReadOnlySed(words, place);
  if (program === "git") return isReadOnlyGit(words, place);
  return Object.hasOwn(readOnlyPrograms, program) && isCovered(readOnlyPrograms[program]!, words, place);
}

/** Programs that print their version without reading the workspace. */
const versioned: ReadonlySet<string> = new Set(["bash", "gcc", "git", "node", "python3", "rg", "tar"]);

function isCovered(program: ReadOnlyProgram, words: readonly string[], place: ReadingPlace): boolean {
  const split = splitWords(program, words);
  if (!split) return false;
  const { operands, hasPattern } = split;
  if (operands.length > (program.most ?? Number.POSITIVE_INFINITY)) return false;
  switch (program.operands) {
    case "none":
      return operands.length === 0;
    case "words":
    case "text":
      return true;
    case "format":
      return operands.every((word) => word.startsWith("+"));
    case "files":
      return operands.every((path) => path === "-" || place.mayRead(path, "file"));
    case "folders":
      return areReadable(operands, place);
    case "pattern and folders":
      return areReadable(hasPattern ? operands : operands.slice(1), place);
  }
}

function areReadable(paths: readonly string[], place: ReadingPlace): boolean {
  return (paths.length === 0 ? ["."] : paths).every((path) => path === "-" || place.mayRead(path, "folder"));
}

/** Returns the operands; undefined if the program may not have one of the options. */
function splitWords(
  program: ReadOnlyProgram,
  words: readonly string[],
): { readonly operands: readonly string[]; readonly hasPattern: boolean } | undefined {
  if (program.operands === "words") return { operands: words, hasPattern: false };
  const operands: string[] = [];
  let hasPattern = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === "--") {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (!/^-./.test(word)) {
      operands.push(word);
      continue;
    }
    const taken = countOptionWords(program, word);
    if (taken === undefined) return undefined;
    hasPattern ||= /^-[A-Za-z]*e/.test(word) || word === "--files";
    at += taken - 1;
  }
  return { operands, hasPattern };
}

/** Returns the number of an option's words: 1, or 2 with a separate value. Undefined if it is not on the list. */
function countOptionWords(program: ReadOnlyProgram, word: string): 1 | 2 | undefined {
  const { letters = "", valued = "", long = [], isJoined = false } = program;
  const withNext = isJoined ? 1 : 2;
  if (word.startsWith("--")) {
    const equals = word.indexOf("=");
    if (equals > 0) return long.includes(word.slice(0, equals + 1)) ? 1 : undefined;
    if (long.includes(word)) return 1;
    return long.includes(`${word}=`) ? withNext : undefined;
  }
  if (program.takesCount && /^-\d+$/.test(word)) return 1;
  for (let at = 1; at < word.length; at += 1) {
    if (valued.includes(word[at]!)) return at === word.length - 1 ? withNext : 1;
    if (!letters.includes(word[at]!)) return undefined;
  }
  return 1;
}

/** Allows folders, then tests that only look. */
function isReadOnlyFind(words: readonly string[], place: ReadingPlace): boolean {
  const first = words.findIndex((word) => /^[-!(),]/.test(word));
  const folders = first < 0 ? words : words.slice(0, first);
  for (let at = folders.length; at < words.length; at += 1) {
    const word = words[at]!;
    if (!Object.hasOwn(findTests, word)) return false;
    if (word === "-newer" && !place.mayRead(words[at + 1] ?? "", "file")) return false;
    at += findTests[word]!;
  }
  return areReadable(folders, place);
}

/** Allows `sed -n 1,20p FILE…`, which prints lines by number. Any other script may run commands and write files. */
function isReadOnlySed(words: readonly string[], place: ReadingPlace): boolean {
  const [option, script = "", ...files] = words;
  const isPrinting = /^(?:\d+|\$)(?:,(?:\d+|\$))?p(?:;(?:\d+|\$)(?:,(?:\d+|\$))?p)*$/.test(script);
  return option === "-n" && isPrinting && files.every((file) => !file.startsWith("-") && place.mayRead(file, "file"));
}

/** Allows subcommands of git, but no options before them. */
function isReadOnlyGit([subcommand = "", ...words]: readonly string[], place: ReadingPlace): boolean {
  if (!place.isTrustedRoot || !Object.hasOwn(readOnlyGit, subcommand)) return false;
  return isCovered({ ...readOnlyGit[subcommand]!, isJoined: true }, words, place);
}

/**
 * The operands of a program. `words` are text, even if one looks like an option. `format` starts with `+`. `files` may
 * be missing, for standard input. `folders` are files and folders; without one, the program reads the folder in which
 * it runs. With `-e`, the pattern is among the options.
 */
type Operands = "none" | "words" | "text" | "format" | "files" | "folders" | "pattern and folders";

export interface ReadOnlyProgram {
  readonly operands: Operands;
  /** One-letter options without a value; they may form a group. */
  readonly letters?: string;
  /** One-letter options that need a value, in the same word or the next. */
  readonly valued?: string;
  /**
   * Long options. A final `=` means that it has a value, in the same word or the next. An option with an optional value
   * is listed twice, so that the next word is not taken as its value.
   */
  readonly long?: readonly string[];
  /** True if it accepts `-20` for `-n 20`. */
  readonly takesCount?: true;
  /** Most operands. */
  readonly most?: number;
  /** True if values are part of the option's word: the next word is an operand. */
  readonly isJoined?: boolean;
}

const searching = "EFGHILPachilnoqsvwxz";

const programs: readonly (readonly [names: string, program: ReadOnlyProgram])[] = [
  ["arch groups tty whoami", { operands: "none" }],
  ["b2sum md5sum sha1sum sha256sum sha512sum", { operands: "files", letters: "bt", long: ["--tag"] }],
  ["basename", { operands: "text", letters: "az", valued: "s" }],
  ["cat", { operands: "files", letters: "AETbenstuv", long: ["--number", "--show-all"] }],
  ["cksum rev tac", { operands: "files" }],
  ["cmp", { operands: "files", letters: "bls", most: 2 }],
  ["comm", { operands: "files", letters: "123", most: 2 }],
  ["cut", { operands: "files", letters: "sz", valued: "bcdf", long: ["--delimiter=", "--fields=", "--complement"] }],
  ["date", { operands: "format", letters: "uR", long: ["--utc", "--iso-8601", "--iso-8601="] }],
  ["df", { operands: "none", letters: "HThikm" }],
  ["diff", { operands: "files", letters: "BEZabdeiqstuwy", valued: "UW", long: ["--brief", "--color", "--color=", "--side-by-side", "--unified", "--unified=", "--width="], most: 2 }],
  ["dirname", { operands: "text", letters: "z" }],
  ["du", { operands: "folders", letters: "abchkmsx", valued: "d", long: ["--max-depth=", "--summarize"] }],
  ["echo expr false true", { operands: "words" }],
  ["file", { operands: "folders", letters: "bih", long: ["--brief", "--mime", "--mime-type"] }],
  ["fold", { operands: "files", letters: "bs", valued: "w" }],
  ["grep", { operands: "pattern and folders", letters: `${searching}r`, valued: "ABCem", long: ["--color", "--color=", "--count", "--exclude-dir=", "--exclude=", "--files-with-matches", "--fixed-strings", "--ignore-case", "--include=", "--line-number", "--no-filename", "--only-matching", "--recursive", "--word-regexp"], takesCount: true }],
  ["head tail", { operands: "files", letters: "qvz", valued: "cn", long: ["--lines=", "--bytes="], takesCount: true }],
  ["hostname", { operands: "none", letters: "s" }],
  ["id", { operands: "none", letters: "Ggnu" }],
  ["ls", { operands: "folders", letters: "1ABCFGQRSUXZabcdfghiklmnopqrstuvx", long: ["--all", "--almost-all", "--color", "--color=", "--full-time", "--group-directories-first", "--human-readable", "--recursive", "--reverse", "--size", "--sort=", "--time=", "--time-style="] }],
  ["nl", { operands: "files", valued: "bnsvw" }],
  ["nproc", { operands: "none", long: ["--all"] }],
  ["od", { operands: "files", letters: "abcdoxv", valued: "ANjt" }],
  ["paste", { operands: "files", letters: "sz", valued: "d" }],
  ["printf", { operands: "text" }],
  ["pwd", { operands: "none", letters: "LP" }],
  ["readlink", { operands: "folders", letters: "efmn" }],
  ["realpath", { operands: "folders", letters: "emqs" }],
  ["rg", { operands: "pattern and folders", letters: "FHIPSUcilnosvwx", valued: "ABCTegmt", long: ["--color=", "--count", "--files", "--files-with-matches", "--fixed-strings", "--glob=", "--hidden", "--ignore-case", "--json", "--line-number", "--max-count=", "--multiline", "--no-heading", "--no-ignore", "--only-matching", "--sort=", "--type=", "--word-regexp"] }],
  ["seq", { operands: "text", letters: "w", valued: "fs" }],
  ["sleep", { operands: "text", most: 1 }],
  ["sort", { operands: "files", letters: "CMRVbcdfghimnrsuz", valued: "kt", long: ["--human-numeric-sort", "--key=", "--numeric-sort", "--reverse", "--unique", "--version-sort"] }],
  ["stat", { operands: "folders", letters: "ft", valued: "c", long: ["--format=", "--printf="] }],
  ["tr", { operands: "text", letters: "Ccdst" }],
  ["tree", { operands: "folders", letters: "CDFacdfhinpstuv", valued: "ILP", long: ["--du", "--dirsfirst", "--gitignore", "--noreport", "--prune"] }],
  ["uname", { operands: "none", letters: "amnoprsv" }],
  ["uniq", { operands: "files", letters: "Dcdiuz", valued: "fsw", most: 1 }],
  ["uptime", { operands: "none", letters: "ps" }],
  ["wc", { operands: "files", letters: "Lclmw", long: ["--bytes", "--chars", "--lines", "--words"] }],
  ["which", { operands: "text", letters: "a" }],
]; // prettier-ignore

export const readOnlyPrograms: Readonly<Record<string, ReadOnlyProgram>> = Object.fromEntries(
  programs.flatMap(([names, program]) => names.split(" ").map((name) => [name, program])),
);

/** Options of `find` that only read, with the number of words that follow each. */
const findTests: Readonly<Record<string, number>> = {
  "-a": 0, "-and": 0, "-amin": 1, "-atime": 1, "-cmin": 1, "-ctime": 1, "-daystart": 0, "-depth": 0, "-empty": 0, "-executable": 0,
  "-false": 0, "-group": 1, "-iname": 1, "-ipath": 1, "-iregex": 1, "-links": 1, "-ls": 0, "-maxdepth": 1, "-mindepth": 1, "-mmin": 1,
  "-mount": 0, "-mtime": 1, "-name": 1, "-newer": 1, "-nogroup": 0, "-not": 0, "-nouser": 0, "-o": 0, "-or": 0, "-path": 1, "-perm": 1,
  "-print": 0, "-print0": 0, "-printf": 1, "-prune": 0, "-quit": 0, "-readable": 0, "-regex": 1, "-regextype": 1, "-size": 1, "-true": 0,
  "-type": 1, "-user": 1, "-writable": 0, "-xdev": 0, "!": 0, "(": 0, ")": 0, ",": 0,
}; // prettier-ignore

/**
 * Commands of git that only read. Values are joined to their options. The repository's configuration can make git run
 * programs, so this list applies only at the root of a trusted workspace.
 */
export const readOnlyGit: Readonly<Record<string, ReadOnlyProgram>> = {
  blame: { operands: "folders", letters: "bceflnstw", valued: "LMC", most: 2 },
  branch: { operands: "none", letters: "arv", long: ["--all", "--list", "--remotes", "--show-current", "--sort=", "--format=", "--verbose"] },
  describe: { operands: "text", long: ["--abbrev=", "--all", "--always", "--dirty", "--long", "--tags"] },
  diff: { operands: "folders", letters: "bw", valued: "U", long: ["--cached", "--check", "--color=", "--diff-filter=", "--exit-code", "--find-renames", "--ignore-all-space", "--ignore-space-change", "--name-only", "--name-status", "--no-color", "--no-ext-diff", "--no-renames", "--no-textconv", "--numstat", "--quiet", "--shortstat", "--staged", "--stat", "--stat=", "--summary", "--unified=", "--word-diff", "--word-diff="] },
  log: { operands: "folders", letters: "bipw", valued: "nSGL", long: ["--abbrev-commit", "--after=", "--all", "--author=", "--before=", "--branches", "--cherry-pick", "--color=", "--date=", "--decorate", "--decorate=", "--diff-filter=", "--first-parent", "--follow", "--format=", "--graph", "--grep=", "--left-right", "--max-count=", "--merges", "--name-only", "--name-status", "--no-color", "--no-decorate", "--no-ext-diff", "--no-merges", "--no-textconv", "--numstat", "--oneline", "--patch", "--pretty=", "--reverse", "--shortstat", "--since=", "--skip=", "--stat", "--tags", "--until="], takesCount: true },
  "ls-files": { operands: "folders", letters: "cdmosz", long: ["--cached", "--deleted", "--exclude-standard", "--modified", "--others", "--stage"] },
  "merge-base": { operands: "text", letters: "a", long: ["--all", "--is-ancestor", "--octopus"] },
  reflog: { operands: "none", valued: "n", takesCount: true },
  remote: { operands: "none", letters: "v" },
  "rev-list": { operands: "folders", valued: "n", long: ["--all", "--count", "--max-count=", "--since=", "--until="], takesCount: true },
  "rev-parse": { operands: "text", long: ["--abbrev-ref", "--git-dir", "--is-inside-work-tree", "--short", "--short=", "--show-prefix", "--show-toplevel", "--verify"], letters: "q" },
  shortlog: { operands: "text", letters: "ens", long: ["--all", "--email", "--numbered", "--summary"] },
  show: { operands: "folders", letters: "bpqsw", long: ["--abbrev-commit", "--color=", "--date=", "--format=", "--name-only", "--name-status", "--no-color", "--no-ext-diff", "--no-patch", "--no-textconv", "--numstat", "--oneline", "--pretty=", "--shortstat", "--stat", "--summary"] },
  status: { operands: "folders", letters: "bsvz", valued: "u", long: ["--branch", "--ignored", "--long", "--porcelain", "--porcelain=", "--short", "--show-stash", "--untracked-files", "--untracked-files="] },
  tag: { operands: "none", letters: "ln", long: ["--list", "--sort=", "--format="] },
}; // prettier-ignore
