/** The words of a command line as a command, its flags and its other words. */
import { SheafError } from "../base/errors.ts";
import { findNearest } from "../base/nearest-names.ts";
import { checkPromptWords } from "./command-words.ts";
import { findForeignFlag } from "./cursor-arguments.ts";
import { commandNames, type CommandName } from "./command-usages.ts";
import { foreignCommands } from "./foreign-commands.ts";
import { flags, type Flag, type FlagName, type FlagValues } from "./flags.ts";
import { isSessionWord } from "./session-id.ts";

/** What was asked for. */
export interface ParsedArguments {
  /** `prompt`: the positional words are the prompt. `foreign`: the one word is a command of `cursor-agent`. */
  readonly command: CommandName | "prompt" | "foreign";
  readonly flags: FlagValues;
  /** Flags of `cursor-agent` that Sheaf has no use for, as they were spelled (C45). */
  readonly foreign?: readonly string[];
  /** Words that are no flags, without the command. */
  readonly positionals: readonly string[];
  /** Index of the first of them after `--`; there a `-` does not mean stdin. */
  readonly textStart?: number;
}

const spellings: ReadonlyMap<string, FlagName> = new Map(
  (Object.entries(flags) as [FlagName, Flag][]).flatMap(([name, { spellings: all }]) =>
    all.map((spelling) => [spelling, name] as const),
  ),
);

/**
 * Reads the words. Everything after `--` is text; a command counts only as the first word and without `-p`, so a prompt
 * that equals a command's name comes after one of them (section 4).
 * @throws SheafError USAGE for an unknown flag, a missing or a needless value.
 */
export function parseArguments(words: readonly string[]): ParsedArguments {
  const values: Partial<Record<FlagName, true | string | string[]>> = {};
  const positionals: string[] = [];
  const foreign: string[] = [];
  let command: ParsedArguments["command"] | undefined;
  let isText = false;
  let textStart: number | undefined;
  const rest = [...words];
  while (rest.length > 0) {
    const word = rest.shift()!;
    if (word === "--") {
      textStart = positionals.length;
      positionals.push(...rest.splice(0));
      isText = true;
      command ??= "prompt";
    } else if (isFlagGroup(word)) {
      rest.unshift(...toShortFlags(word));
    } else if (!(command === "mcp" && spellings.has(word)) && takeForeignFlag(word, rest)) {
      foreign.push(toSpelling(word));
    } else if (word.startsWith("-") && word !== "-") {
      takeFlag(word, rest, values);
    } else if (command === undefined && !values.print && isCommand(word)) {
      command = word;
    } else if (command === undefined && !values.print && word === "resume" && isResumeEnd(rest[0])) {
      rest.unshift("--resume");
    } else if (command === undefined && word === "agent") {
      // Some clients put this word before the prompt.
      command = "prompt";
      isText = true;
    } else {
      command ??= "prompt";
      positionals.push(word);
    }
  }
  if (command === "prompt" && !isText && !values.print) {
    command = toLoneCommand(positionals, values);
    if (command === "prompt") checkPromptWords(positionals);
  }
  return {
    command: command ?? "prompt",
    flags: values as FlagValues,
    ...(foreign.length > 0 && { foreign }),
    positionals,
    ...(textStart !== undefined && { textStart }),
  };
}

/** `-pf` is `-p -f`, as in the program whose place Sheaf takes (C30). Of a group only the last may take a value. */
function isFlagGroup(word: string): boolean {
  if (!/^-[A-Za-z]{2,}$/.test(word)) return false;
  const names = toShortFlags(word).map((flag) => spellings.get(flag));
  return names.every(
    (name, index) => name !== undefined && (flags[name].kind === "switch" || index === names.length - 1),
  );
}

function toShortFlags(group: string): string[] {
  return Array.from(group.slice(1), (letter) => `-${letter}`);
}

function isCommand(word: string): word is CommandName {
  return (commandNames as readonly string[]).includes(word);
}

/** `--model` of `--model=x`. */
function toSpelling(word: string): string {
  return word.startsWith("--") ? word.split("=", 1)[0]! : word;
}

/** Takes its value away, too. */
function takeForeignFlag(word: string, rest: string[]): boolean {
  const flag = findForeignFlag(toSpelling(word));
  if (!flag) return false;
  const isAttached = word !== toSpelling(word);
  if (flag.kind === "value" && !isAttached) takeValue(word, rest);
  // No name has a blank: what follows is the prompt.
  if (flag.kind === "optional" && !isAttached && rest[0] !== undefined && /^[^\s-]\S*$/.test(rest[0])) rest.shift();
  return true;
}

function takeFlag(word: string, rest: string[], values: Partial<Record<FlagName, true | string | string[]>>): void {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  const spelling = equals === -1 ? word : word.slice(0, equals);
  const attached = equals === -1 ? undefined : word.slice(equals + 1);
  const name = spellings.get(spelling);
  if (!name) throw createUnknownFlagError(spelling);
  switch (flags[name].kind) {
    case "switch":
      if (attached !== undefined) throw new SheafError("USAGE", `${spelling} takes no value, "${attached}" was given`);
      values[name] = true;
      return;
    case "optional":
      // A working tree has no name with a blank: such a word is the prompt.
      if (name === "worktree" && attached === undefined && /\s/.test(rest[0] ?? "")) values[name] = "";
      else values[name] = takeOptionalValue(spelling, attached, rest);
      return;
    case "value":
      values[name] = attached ?? takeValue(spelling, rest);
      return;
    case "list":
      values[name] = [...((values[name] as string[] | undefined) ?? []), attached ?? takeValue(spelling, rest)];
      return;
  }
}

function takeValue(spelling: string, rest: string[]): string {
  const value = rest.shift();
  // A value may begin with a dash only when it is attached: `--model --force` is a slip.
  if (value === undefined || (value.startsWith("--") && value.length > 2)) {
    throw new SheafError("USAGE", `${spelling} needs a value: write ${spelling}=VALUE`);
  }
  return value;
}

/** The next word, whatever it is: an id that was mistyped must not become part of the prompt (C14). "" without one. */
function takeOptionalValue(spelling: string, attached: string | undefined, rest: string[]): string {
  if (attached === undefined && (rest[0] === undefined || rest[0].startsWith("-"))) return "";
  const value = attached ?? rest.shift();
  if (value) return value;
  const advice =
    spellings.get(spelling) === "worktree"
      ? "give a name, or no value"
      : "name a session, or write --continue for the newest one";
  throw new SheafError("USAGE", `${spelling} was given an empty id (an unset variable?): ${advice}`);
}

/** `sheaf resume` is `sheaf --resume`; "resume the work" is a prompt. */
function isResumeEnd(next: string | undefined): boolean {
  return next === undefined || next.startsWith("-") || isSessionWord(next);
}

/** A word that is a command where it is the only one. */
function toLoneCommand(
  [word = "", ...rest]: readonly string[],
  values: Partial<Record<FlagName, true | string | string[]>>,
): "prompt" | "foreign" {
  if (rest.length > 0) return "prompt";
  if (word === "version") values.version = true;
  return Object.hasOwn(foreignCommands, word) ? "foreign" : "prompt";
}

/** @throws SheafError USAGE for a flag that only another profile knows (C45). */
export function checkForeignFlags({ foreign = [] }: ParsedArguments): void {
  if (foreign[0] !== undefined) throw createUnknownFlagError(foreign[0]);
}

function createUnknownFlagError(spelling: string): SheafError {
  const nearest = findNearest(spelling.replace(/^-+/, ""), Object.keys(flags)).map((name) => `--${name}`);
  const advice = nearest.length > 0 ? `did you mean ${nearest.join(" or ")}?` : "see sheaf help flags";
  return new SheafError("USAGE", `unknown flag ${spelling}: ${advice} (put a prompt that begins with a dash after --)`);
}
