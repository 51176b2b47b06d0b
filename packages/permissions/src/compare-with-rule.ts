/** Decides if a deny rule covers a command: its program, the subcommand, and options that belong to it (S-85). */
import { toPlainName } from "./programs.ts";
import {
  findEntries,
  gitSubcommands,
  shorteningPrograms,
  subcommandGroups,
  subcommandNames,
  taskPrograms,
  valuedOptions,
} from "./runners.ts";
import { isOption, toKnownName, toPattern, toProgramName, toShown, UNKNOWN } from "./shell-reading.ts";
import type { ShellWord, SimpleCommand } from "./shell-reading.ts";

/** True if the rule covers this command. A text is the reason why it may, in a few words. */
export type Comparison = boolean | string;

export function compareWithRule(named: readonly string[], words: SimpleCommand): Comparison {
  const name = toKnownName(words[0]!) ?? "";
  const [first = "", second = ""] = named.map(toProgramName);
  if (name === first || toPlainName(name) === first) return compareRest(first, named.slice(1), words);
  // Git's `git push` is also a program git-push.
  const isJoined = second !== "" && name === `${first}-${second}`;
  return isJoined && compareRest(first, named.slice(2), words);
}

function compareRest(program: string, named: readonly string[], words: SimpleCommand): Comparison {
  if (named.every((word, index) => word === words[index + 1]?.text)) return true;
  const groups = subcommandGroups[program] ?? [];
  const operands = named.filter((word) => !isOption(word)).map((word) => toFullName(program, word));
  const path = operands.length > 1 && groups.includes(operands[0]!) ? operands.slice(1) : operands;
  const options = named.filter(isOption);
  const found = comparePath(program, path, words);
  if (found !== true) return found;
  return options.map((option) => compareOption(option, words)).find((result) => result !== true) ?? true;
}

function toFullName(program: string, word: string): string {
  const name = word.toLowerCase();
  const names = Object.hasOwn(subcommandNames, program) ? subcommandNames[program]! : {};
  return Object.hasOwn(names, name) ? names[name]! : name;
}

/** A way to read the words up to a place. */
interface Step {
  readonly at: number;
  /** Number of the rule's words found so far. */
  readonly found: number;
  readonly mayBeOption: boolean;
}

/** True if a command's operands start with a rule's words, with or without a value for each option before them. */
function comparePath(program: string, path: readonly string[], words: SimpleCommand): Comparison {
  const seen = new Set<string>();
  let doubt: string | undefined;
  const steps: Step[] = [{ at: 1, found: 0, mayBeOption: true }];
  for (let step = steps.pop(); step; step = steps.pop()) {
    const key = `${step.at} ${step.found} ${step.mayBeOption}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const wanted = path[step.found];
    const word = words[step.at];
    if (wanted === undefined) return true;
    if (!word) continue;
    doubt ??= findDoubt(program, wanted, word, step);
    steps.push(...takeWord(program, wanted, words, step));
  }
  return doubt ?? false;
}

/** Returns the reason why a word may be the wanted one, if it is not fully known. */
function findDoubt(program: string, wanted: string, word: ShellWord, step: Step): string | undefined {
  const text = toPattern(word);
  if (word.isMany || text.startsWith(UNKNOWN) || mayBe(text, wanted)) return `${toShown(word)} may be ${wanted}`;
  const isPlace = program === "git" && step.found === 0 && !(step.mayBeOption && isOption(text));
  return isPlace && !gitSubcommands.has(text.toLowerCase()) ? `git ${text} may be an alias` : undefined;
}

/** True if a text that is not fully known may be another text. */
function mayBe(text: string, wanted: string): boolean {
  if (!text.includes(UNKNOWN)) return false;
  const start = text.slice(0, text.indexOf(UNKNOWN)).toLowerCase();
  const end = text.slice(text.lastIndexOf(UNKNOWN) + 1).toLowerCase();
  const name = wanted.toLowerCase();
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

/** Returns the places after this word; an empty list if it is another word than the wanted one. */
function takeWord(program: string, wanted: string, words: SimpleCommand, step: Step): readonly Step[] {
  const text = toPattern(words[step.at]!);
  const go = (by: number, change?: Partial<Step>): Step => ({ ...step, at: step.at + by, ...change });
  if (step.mayBeOption && text === "--") return [go(1, { mayBeOption: false })];
  if (step.mayBeOption && isOption(text)) {
    return takeOption(program, text, words[step.at + 1]).map((by) => go(by));
  }
  const name = toFullName(program, text);
  const isShort = shorteningPrograms.has(program) && name.length > 1 && wanted.startsWith(name);
  if (name === wanted || isShort) return [go(1, { found: step.found + 1 })];
  // Words before a subcommand: `cargo +nightly publish`.
  const isInFront = name.startsWith("+") || subcommandGroups[program]?.includes(name);
  const isSkipped = taskPrograms.has(program) || (step.found === 0 && isInFront);
  return isSkipped ? [go(1)] : [];
}

/** Returns the possible numbers of words of an option with its value. */
function takeOption(program: string, text: string, next: ShellWord | undefined): readonly number[] {
  const isValued = findEntries(valuedOptions, program, []).some(({ value }) => value.split(" ").includes(text));
  // An unquoted value may become several words.
  if (isValued) return [next?.isMany ? 1 : 2];
  return text.includes("=") || text.startsWith("--no-") ? [1] : [1, 2];
}

/** True if a command has an option of a rule. The order of options and of their letters does not matter. */
function compareOption(option: string, words: SimpleCommand): Comparison {
  const end = words.findIndex(({ text }) => text === "--");
  const before = words.slice(1, end < 0 ? undefined : end);
  const texts = before.map((word) => toPattern(word).toLowerCase());
  const wanted = option.toLowerCase();
  const isGroup = /^-[a-z]{1,4}$/.test(wanted);
  const letters = texts.filter((text) => /^-[a-z]{1,4}$/.test(text)).join("");
  const isThere = isGroup
    ? [...wanted].every((letter) => letters.includes(letter))
    : texts.some((text) => isLongOption(wanted, text));
  if (isThere) return true;
  const open = before.find(
    (_, at) => mayBe(texts[at]!, wanted) || (isGroup && /^\0[a-z\0]*$|^-[a-z]*\0[a-z\0]*$/.test(texts[at]!)),
  );
  return open !== undefined && `${toShown(open)} may be ${option}`;
}

/** True for a long option, which may be shortened, and may have a value. */
function isLongOption(wanted: string, text: string): boolean {
  const [name = ""] = text.split("=", 1);
  return text === wanted || name === wanted || (wanted.startsWith(name) && /^--\w{2}/.test(name));
}
