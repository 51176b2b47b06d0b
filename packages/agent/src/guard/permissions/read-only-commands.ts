/** Whether a command is one of the closed list that runs without a question (S-10). */
import { findTests, readOnlyGit, readOnlyPrograms, type ReadOnlyProgram } from "./read-only-programs.ts";
import type { SimpleCommand } from "./shell-reading.ts";
import { unwrapCommand } from "./wrappers.ts";

/** Where a command would run, and what it may see there. */
export interface ReadingPlace {
  /** The workspace itself, and it is trusted: git reads its own configuration there. */
  readonly isTrustedRoot: boolean;
  /** Whether the program may read this file; with `folder`, or this folder and all below it. */
  mayRead(path: string, kind: "file" | "folder"): boolean;
}

/** Whether the command only reads what it may. Patterns of file names are not followed: a link may be among them. */
export function isReadOnly(command: SimpleCommand, place: ReadingPlace): boolean {
  if (command.some(({ isGlob }) => isGlob)) return false;
  const [program = "", ...words] = unwrapCommand(command.map(({ text }) => text));
  if (words.length === 1 && words[0] === "--version") return versioned.has(program);
  if (program === "find") return isReadOnlyFind(words, place);
  if (program === "sed") return isReadOnlySed(words, place);
  if (program === "git") return isReadOnlyGit(words, place);
  return Object.hasOwn(readOnlyPrograms, program) && isCovered(readOnlyPrograms[program]!, words, place);
}

/** Programs that say their version without a look at the workspace. */
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

/** The operands, or undefined if an option is none that the program may have. */
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

/** How many words an option takes: 1, or 2 with its value behind it. Undefined: it is not on the list. */
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

/** Folders, then tests that only look. */
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

/** `sed -n 1,20p FILE…`: prints lines by number. Any other script may run commands and write files. */
function isReadOnlySed(words: readonly string[], place: ReadingPlace): boolean {
  const [option, script = "", ...files] = words;
  const isPrinting = /^(?:\d+|\$)(?:,(?:\d+|\$))?p(?:;(?:\d+|\$)(?:,(?:\d+|\$))?p)*$/.test(script);
  return option === "-n" && isPrinting && files.every((file) => !file.startsWith("-") && place.mayRead(file, "file"));
}

/** The options in front of the subcommand are all refused. */
function isReadOnlyGit([subcommand = "", ...words]: readonly string[], place: ReadingPlace): boolean {
  if (!place.isTrustedRoot || !Object.hasOwn(readOnlyGit, subcommand)) return false;
  return isCovered(readOnlyGit[subcommand]!, words, place);
}
