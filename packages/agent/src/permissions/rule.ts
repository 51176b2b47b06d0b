/** Rules of `--allow` and `--deny`: `Shell(words)`, `Read(glob)`, `Write(glob)`. */
import { SheafError } from "../errors.ts";
import { findInnerProgram, toProgramName } from "./inner-programs.ts";
import { parsePathGlob, type PathGlob } from "./path-glob.ts";
import { parseWords } from "./words.ts";

/** A rule about commands. */
export interface ShellRule {
  readonly kind: "Shell";
  /** As it was written, for messages. */
  readonly text: string;
  /** The first words of the commands; undefined for `Shell(*)`, which means every command. */
  readonly words: readonly string[] | undefined;
}

/** A rule about files. */
export interface FileRule {
  readonly kind: "Read" | "Write";
  readonly text: string;
  readonly glob: PathGlob;
}

export type Rule = ShellRule | FileRule;

const forms = 'write Shell(words), Shell(*), Read(glob) or Write(glob), for instance "Shell(npm test)" or "Read(.env)"';

/**
 * Reads a rule.
 * @throws SheafError USAGE naming the rule and the valid forms.
 */
export function parseRule(text: string): Rule {
  const [, kind, body = ""] = /^\s*(Shell|Read|Write)\((.*)\)\s*$/s.exec(text) ?? [];
  const content = body.trim();
  if (kind === undefined) throw new SheafError("USAGE", `the rule ${JSON.stringify(text)} is not known: ${forms}`);
  if (content === "") throw new SheafError("USAGE", `the rule ${JSON.stringify(text)} is empty: ${forms}`);
  if (kind === "Shell") return parseShellRule(text, content);
  const glob = parsePathGlob(content);
  if (!glob) throw new SheafError("USAGE", `the glob of the rule ${JSON.stringify(text)} is too long: ${forms}`);
  return { kind: kind === "Read" ? "Read" : "Write", text, glob };
}

function parseShellRule(text: string, content: string): ShellRule {
  if (content === "*") return { kind: "Shell", text, words: undefined };
  const words = parseWords(content);
  if (words) return { kind: "Shell", text, words };
  const advice =
    "its words are compared one by one with the first words of a command, so it holds no wildcards or quotes";
  throw new SheafError("USAGE", `the rule ${JSON.stringify(text)} is no list of plain words (${advice}): ${forms}`);
}

/** Why a rule does not allow a command of plain words; "" if it does. */
export function findShellObstacle(
  rule: ShellRule,
  words: readonly string[],
): "" | "other words" | { readonly word: string } {
  if (!rule.words) return "";
  if (words.length === 0 || !rule.words.every((word, index) => word === words[index])) return "other words";
  const word = findInnerProgram(words, rule.words.length);
  return word === undefined ? "" : { word };
}

/**
 * Whether a rule denies a command of plain words. Wider than allowing: its words may stand anywhere in the command, in
 * this order, with others between (`sudo rm x`, `git -c a=b push`), in any case and with a folder in front.
 */
export function isShellDenied(rule: ShellRule, words: readonly string[]): boolean {
  if (!rule.words) return true;
  let found = 0;
  for (const word of words) {
    const wanted = rule.words[found];
    if (
      wanted !== undefined &&
      (word.toLowerCase() === wanted.toLowerCase() || toProgramName(word) === toProgramName(wanted))
    )
      found += 1;
  }
  return found === rule.words.length;
}
