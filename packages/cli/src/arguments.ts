/** Reads the words of a command line: a command, its flags and its other words. */
import type { parseArgs } from "node:util";
import { SheafError } from "@sheaf/base/errors";
import { findNearest } from "@sheaf/base/nearest-names";
import { isCommandName, type CommandName } from "./command-definitions.ts";
import { checkPromptWords } from "./command-words.ts";
import { cursorCommands } from "./dialects/cursor/arguments.ts";
import { flags, type Flag, type FlagName, type FlagValues } from "./flags.ts";
import { isSessionWord } from "./session-id.ts";

/** The request of a command line. */
export interface ParsedArguments {
  /** The command: `prompt` if the positional words are the prompt, or a word that is a command of `cursor-agent`. */
  readonly command: CommandName | "prompt" | "foreign";
  readonly flags: FlagValues;
  /** Flags of another program without a use in Sheaf, in their given spelling (C45). */
  readonly foreign?: readonly string[];
  /** Words except flags and the command. */
  readonly positionals: readonly string[];
  /** Index of the first positional after `--`; from there on a `-` doesn't mean stdin. */
  readonly textStart?: number;
}

type Values = Partial<Record<FlagName, true | string | (true | string)[]>>;
type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];
type FlagToken = Extract<Token, { kind: "option" }>;

/** Tells Node which flags take the next word. */
export const toOption = ([spelling, { kind }]: readonly [string, Pick<Flag, "kind">]) => {
  const type = kind === "value" || kind === "list" ? ("string" as const) : ("boolean" as const);
  return spelling.startsWith("--")
    ? ([spelling.slice(2), { type }] as const)
    : ([spelling, { type, short: spelling.slice(1) }] as const);
};

/**
 * Reads the words. Everything after `--` is text. A command is only the first word, and only without `-p`, so a prompt
 * that equals a command's name must follow `-p` or `--` (section 4). `foreignFlags` are flags of another program.
 * @throws SheafError USAGE for an unknown flag, a missing or a needless value.
 */
export function parseArguments(
  words: readonly string[],
  foreignFlags: ReadonlyMap<string, Flag> = new Map(),
): ParsedArguments {
  const values: Values = {};
  const positionals: string[] = [];
  const foreign: string[] = [];
  let command: ParsedArguments["command"] | undefined;
  let isText = false;
  let textStart: number | undefined;
  const { tokens: rest } = process.getBuiltinModule("node:util").parseArgs({
    args: [...words],
    options: Object.fromEntries([...foreignFlags, ...flags].map(toOption)),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (let token = rest.shift(); token; token = rest.shift()) {
    const mayBeCommand = command === undefined && !values.print;
    if (token.kind === "option-terminator") {
      textStart = positionals.length;
      isText = true;
      command ??= "prompt";
    } else if (token.kind === "option") {
      // In `mcp add`, a spelling of both programs is Sheaf's.
      const both = [flags.get(token.rawName), foreignFlags.get(token.rawName)];
      const flag = checkFlag(token, command === "mcp" ? (both[0] ?? both[1]) : (both[1] ?? both[0]), words);
      const isForeign = flag === both[1];
      if (isForeign) foreign.push(token.rawName);
      if (isForeign && flag.kind === "switch") continue;
      const value = takeValue(token, flag, rest);
      if (!isForeign) values[flag.name] = flag.kind === "list" ? [values[flag.name] ?? [], value].flat() : value;
    } else if (mayBeCommand && isCommandName(token.value)) {
      command = token.value;
    } else if (mayBeCommand && token.value === "resume" && isResumeEnd(rest[0])) {
      values.resume = takeOptionalValue("--resume", undefined, rest);
    } else if (command === undefined && token.value === "agent") {
      // Some clients put this word before the prompt.
      command = "prompt";
      isText = true;
    } else {
      command ??= "prompt";
      positionals.push(token.value);
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

function checkFlag({ rawName, inlineValue, index }: FlagToken, flag: Flag | undefined, words: readonly string[]): Flag {
  if (rawName.startsWith("--") && flag) return flag;
  // `-pf` is `-p -f` (C30), but `-mp` is more likely a slip than the model "p".
  if (flag && !inlineValue) return flag;
  throw createUnknownFlagError(rawName.startsWith("--") ? rawName : words[index]!);
}

export function takeValue(
  { rawName, value, inlineValue }: FlagToken,
  { kind }: Pick<Flag, "kind">,
  rest: Token[],
): true | string {
  if (kind === "optional") return takeOptionalValue(rawName, value, rest);
  if (kind === "switch") {
    if (value === undefined) return true;
    throw new SheafError("USAGE", `${rawName} takes no value, but got "${value}": write ${rawName} alone`);
  }
  // A value with two leading dashes must be attached: `--model --force` is a slip.
  if (value === undefined || (!inlineValue && value.startsWith("--") && value.length > 2)) {
    throw new SheafError("USAGE", `${rawName} needs a value: write ${rawName}=VALUE`);
  }
  return value;
}

/** Takes any next word: a mistyped id must not become part of the prompt (C14). Returns "" without a word. */
function takeOptionalValue(spelling: string, attached: string | undefined, rest: Token[]): string {
  const isTree = flags.get(spelling)?.name === "worktree";
  const next = rest[0]?.kind === "positional" ? rest[0].value : "-";
  // A tree's name has no blank, so a word with one is the prompt.
  if (attached === undefined && (next.startsWith("-") || (isTree && /\s/.test(next)))) return "";
  if (attached === undefined) rest.shift();
  if (attached ?? next) return attached ?? next;
  const advice = isTree ? "write --worktree alone for a new name" : "write --continue for the newest session";
  throw new SheafError("USAGE", `${spelling} is empty (an unset variable?): ${advice}`);
}

/** True if `resume` means `--resume`: before an id, a flag, or the end. "resume the work" is a prompt. */
function isResumeEnd(next: Token | undefined): boolean {
  return next?.kind !== "positional" || next.value.startsWith("-") || isSessionWord(next.value);
}

/** Returns the command for the words of a prompt, of which a single one may be another program's command. */
function toLoneCommand([word = "", ...rest]: readonly string[], values: Values): "prompt" | "foreign" {
  if (rest.length > 0) return "prompt";
  if (word === "version") values.version = true;
  return Object.hasOwn(cursorCommands, word) ? "foreign" : "prompt";
}

function createUnknownFlagError(spelling: string): SheafError {
  const names = [...flags.values()].map(({ name }) => name);
  const word = spelling.replace(/^-+/, "");
  // A flag that refuses is never corrected to a flag that allows.
  const alike = [...new Set(names)].filter((name) => isNegative(name) === isNegative(word));
  const nearest = findNearest(word, alike).map((name) => `--${name}`);
  const known = /^disallowed/i.test(word)
    ? "--exclude-tools leaves tools out, --deny refuses calls"
    : "see sheaf help flags";
  const advice = nearest.length > 0 ? `did you mean ${nearest.join(" or ")}?` : known;
  return new SheafError("USAGE", `unknown flag ${spelling}: ${advice} (put a prompt that begins with a dash after --)`);
}

function isNegative(flag: string): boolean {
  return /^(no-|dis|un)/i.test(flag);
}
