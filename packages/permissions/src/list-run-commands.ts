/** What a line runs, also through programs that run others: `sudo`, `xargs`, `sh -c`, `find -exec`. */
import {
  isOpen,
  isOption,
  countValueWords,
  toKnownName,
  toKnownText,
  toOptions,
  toPattern,
  toShown,
} from "./known-word.ts";
import { toPlainName } from "./programs.ts";
import { readCommand } from "./read-command.ts";
import {
  commandOptions,
  interpreters,
  languages,
  runners,
  shells,
  subcommandGroups,
  valuedOptions,
} from "./runners.ts";
import type { Interpreter, Runner } from "./runners.ts";
import { UNKNOWN, type ShellReading, type ShellWord, type SimpleCommand } from "./shell-reading.ts";
import { findValues, replaceMark, specialPrograms, type RunList, type Way } from "./special-programs.ts";

/** A command that runs, or may. */
export interface RunCommand {
  readonly words: SimpleCommand;
  /** Its words are those of a program, whatever the options before them mean. */
  readonly isCertain: boolean;
}

/** Why it is not known what runs, and what can be done about it. */
export interface Unclear {
  readonly part: string;
  readonly advice: string;
  /** A program that runs what it reads: as the value of a variable it only gets the name of a file. */
  readonly isReader?: boolean;
}

/** What a reading runs: everything, unless something is unclear. */
export interface RunCommands {
  readonly commands: readonly RunCommand[];
  readonly unclear: readonly Unclear[];
}

/** How often one command may run another. */
const MAX_LEVELS = 10;

/** Variables whose value programs or shells run. */
const runVariables =
  /(?:ASKPASS|BROWSER|CMD|COMMAND|EDITOR|EXTERNAL_DIFF|GIT_SSH|OPENER|MAKEFLAGS|PAGER|_RSH|RUNNER|SHELL|VISUAL|WRAPPER)$|^(?:AR|CC|CXX|LD|LESSOPEN|LESSCLOSE|PS[0-4])$|^BASH_FUNC|^GIT_CONFIG_(?:VALUE|PARAMETERS)/i;

/** A place in the words of a runner. */
interface Place {
  readonly at: number;
  readonly isCertain: boolean;
  /** Operands that come before the program. */
  readonly skips: number;
  readonly mayBeOption: boolean;
}

export function listRunCommands(reading: ShellReading): RunCommands {
  const lister = new RunLister();
  lister.addReading(reading, { isCertain: true, level: 0 });
  return lister;
}

function get<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

const tableKeys = [
  ...[runners, interpreters, commandOptions, valuedOptions, specialPrograms].flatMap((table) => Object.keys(table)),
  ...languages,
  ...shells,
];
const listed: ReadonlySet<string> = new Set(tableKeys.map((key) => key.split(" ", 1)[0]!));
/** Beginnings of keys: `docker`, `docker compose`, `docker compose run`. */
const beginnings: ReadonlySet<string> = new Set(
  tableKeys.flatMap((key) => key.split(" ").map((_, index, words) => words.slice(0, index + 1).join(" "))),
);

/** `python3.12` as `python`, unless the tables know that name. */
function toListedName(name: string): string {
  return listed.has(name) ? name : toPlainName(name);
}

/** By which names the tables may know a command, the longest first, and where each ends. */
function toKeys(name: string, words: SimpleCommand): readonly { readonly key: string; readonly at: number }[] {
  const keys = [{ key: name, at: 0 }];
  const valued = toOptions(get(valuedOptions, name));
  for (const { key, at: start } of keys) {
    let mayBeValue = false;
    for (let at = start + 1; at < words.length; at += 1) {
      const text = toPattern(words[at]!);
      const longer = `${key} ${text}`;
      if (isOption(text)) {
        const count = countValueWords(text, valued);
        mayBeValue = count === undefined;
        at += count ?? 0;
        continue;
      }
      if (beginnings.has(longer)) keys.push({ key: longer, at });
      // `docker container run`, `cargo +nightly watch`
      const isInFront = text.startsWith("+") || get(subcommandGroups, name)?.includes(text);
      if (!mayBeValue && !isInFront && !isOpen(words[at]!)) break;
      mayBeValue = false;
    }
  }
  return keys.toReversed();
}

/** What an option with one dash, or a long one, means to an interpreter. */
function readLetters(interpreter: Interpreter, text: string): "code" | "module" | "valued" | undefined {
  const { code, valued = "", joined = "", module, longCode } = interpreter;
  if (text.startsWith("--")) return toOptions(longCode).has(text.split("=", 1)[0]!) ? "code" : undefined;
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at]!;
    if (code.includes(letter)) return "code";
    if (letter === module) return at === text.length - 1 ? "module" : "code";
    if (valued.includes(letter)) return at === text.length - 1 ? "valued" : undefined;
    // Perl takes `-Mmodule;code`.
    if (joined.includes(letter)) return /^[\w:=,./-]*$/.test(text.slice(at)) ? undefined : "code";
  }
  return undefined;
}

/** `xargs` adds what it reads to the words, or puts it in the place of a mark (`-I{}`). */
function replaceInput(words: SimpleCommand, from: number): SimpleCommand {
  const texts = words.map(({ text }) => text);
  const at = texts.findIndex((text, index) => index >= from && /^-\w*?[IJi]|^--replace/.test(text));
  const option = texts[at] ?? "";
  const named = /^-\w*[IJ]$/.test(option) ? texts[at + 1] : option.replace(/^-\w*?[IJi]|^--replace=?/, "");
  const mark = named === undefined || named === "" ? "{}" : named;
  const input: ShellWord = { text: UNKNOWN, isGlob: false, isMany: true, source: "what xargs reads" };
  const replaced = at < 0 ? words : words.map((word) => replaceMark(word, mark, UNKNOWN));
  return [...replaced, input];
}

class RunLister implements RunList {
  readonly commands: RunCommand[] = [];
  readonly unclear: Unclear[] = [];

  addReading({ commands, settings }: ShellReading, way: Way): void {
    for (const setting of settings) this.addSetting(setting, way);
    for (const words of commands) this.add(words, way);
  }

  doubt(part: string, advice: string, isReader = false): void {
    this.unclear.push({ part, advice, isReader });
  }

  add(words: SimpleCommand, { isCertain, level }: Way): void {
    const [program] = words;
    if (!program) return;
    const name = toKnownName(program);
    if (name === undefined || level > MAX_LEVELS) {
      const why = name === undefined ? "is known only when it runs" : "is run by too many others";
      const advice = program.isMany ? "write its name, or quote it if it is a value" : "write its name";
      return this.doubt(`the program ${toShown(program)} ${why}`, advice);
    }
    this.commands.push({ words, isCertain });
    this.#follow(toListedName(name), words, { isCertain, level: level + 1 });
  }

  #follow(name: string, words: SimpleCommand, way: Way): void {
    get(specialPrograms, name)?.(this, words, way);
    const keys = toKeys(name, words);
    for (const { key } of keys) this.addOptionValues(words, get(commandOptions, key), way);
    const language = keys.find(({ key }) => languages.has(key));
    if (language) return this.doubt(`${language.key} can run any program`, "use another one", true);
    for (const { key, at } of keys) {
      if (Object.hasOwn(runners, key)) this.#addRun(runners[key]!, words, at + 1, way);
    }
    if (shells.has(name)) this.#addShell(words, way);
    if (Object.hasOwn(interpreters, name)) this.#addInterpreter(interpreters[name]!, words, way);
  }

  /** What follows the options and operands of a runner. */
  #addRun(runner: Runner, words: SimpleCommand, from: number, way: Way): void {
    const hasText = this.addOptionValues(words, runner.texts, way);
    const starts = this.#findStarts(runner, words, from, way);
    const idle = toOptions(runner.idle);
    if (words.slice(from, starts[0]?.at).some(({ text }) => idle.has(text))) return;
    if (starts.length === 0 && runner.readsInput && !hasText) return this.#doubtInput(words[0]!);
    const added = runner.isAppending ? replaceInput(words, from) : words;
    for (const { at, isCertain } of starts) {
      const inner = added.slice(at);
      const innerWay = { ...way, isCertain: way.isCertain && isCertain };
      if (runner.isEachText) for (const word of inner) this.addTexts([word], innerWay);
      else if (runner.isJoined) this.addTexts(inner, innerWay);
      // `npx tool@1.2` runs tool.
      else this.add(inner.with(0, { ...inner[0]!, text: inner[0]!.text.replace(/(?<=.)@.*/, "") }), innerWay);
    }
  }

  #findStarts(runner: Runner, words: SimpleCommand, from: number, way: Way): Place[] {
    const valued = toOptions(`${runner.valued ?? ""} ${runner.texts ?? ""}`);
    const starts: Place[] = [];
    const seen = new Set<string>();
    const places: Place[] = [{ at: from, isCertain: true, skips: runner.skips ?? 0, mayBeOption: true }];
    for (let place = places.shift(); place; place = places.shift()) {
      const { at, skips, mayBeOption } = place;
      const word = words[at];
      const state = `${at} ${skips} ${mayBeOption}`;
      if (!word || seen.has(state)) continue;
      seen.add(state);
      const text = toPattern(word);
      const go = (by: number, change?: Partial<Place>): number => places.push({ ...place, at: at + by, ...change });
      if (runner.takesSettings && /^[^-=][^=]*=/.test(text)) {
        this.addSetting(word, way);
        go(1);
      } else if (mayBeOption && (text === "--" || text === "-")) go(1, { mayBeOption: text === "-" });
      else if (mayBeOption && isOption(text)) {
        // Without quotes the value may be several words.
        const count = countValueWords(text, valued);
        go(count === 1 && !words[at + 1]?.isMany ? 2 : 1);
        if (count === undefined) go(2, { isCertain: false });
      } else if (skips > 0 && !word.isMany) {
        go(1, { skips: skips - 1 });
        if (mayBeOption && isOpen(word)) go(1, { isCertain: false });
      } else starts.push(place);
    }
    return starts;
  }

  #addShell(words: SimpleCommand, way: Way): void {
    let isText = false;
    let at = 1;
    for (; at < words.length; at += 1) {
      const text = toPattern(words[at]!);
      if (text === "--" || text === "-") {
        at += 1;
        break;
      }
      if (!/^[-+]./.test(text)) break;
      if (text === "--version" || text === "--help") return;
      if (/^-[A-Za-z]*[Hs]/.test(text) || text === "histexpand") return this.#doubtInput(words[0]!);
      isText ||= /^-[A-Za-z]*c/.test(text);
      if (/^(?:[-+][A-Za-z]*[oO]|--(?:rcfile|init-file|init-command))$/.test(text)) at += 1;
    }
    if (isText) this.addTexts(words.slice(at, at + 1), way);
    else this.addScript(words[0]!, words.slice(at), way);
  }

  #addInterpreter(interpreter: Interpreter, words: SimpleCommand, way: Way): void {
    const idle = toOptions(interpreter.idle);
    const longValued = toOptions(interpreter.longValued);
    let isIdle = false;
    for (let at = 1; at < words.length; at += 1) {
      const text = toPattern(words[at]!);
      if (!isOption(text) || text === "--") {
        return this.addScript(words[0]!, words.slice(text === "--" ? at + 1 : at), way);
      }
      const letters = readLetters(interpreter, text);
      if (letters === "code") return this.#doubtCode(words[0]!, words[at]!);
      if (letters === "module") return this.add(words.slice(at + 1), way);
      if (letters === "valued" || longValued.has(text)) at += 1;
      if (words[at]?.text.startsWith("data:")) return this.#doubtCode(words[0]!, words[at]!);
      isIdle ||= idle.has(text);
    }
    if (!isIdle) this.#doubtInput(words[0]!);
  }

  /** A file of commands, or of another language: it counts as the program. */
  addScript(program: ShellWord, words: SimpleCommand, way: Way): void {
    const [script] = words;
    if (!script || /^(?:-$|data:|\/(?:dev|proc)\/)/i.test(script.text)) return this.#doubtInput(program);
    if (isOpen(script)) {
      const name = toShown(script);
      return this.doubt(`${name} may be an option of ${toShown(program)}`, `begin it with a folder, as in "./$file"`);
    }
    if (toKnownName(script) !== undefined) this.commands.push({ words, isCertain: way.isCertain });
  }

  #doubtInput(program: ShellWord): void {
    this.doubt(`${toShown(program)} runs what it reads from its input`, "write that to a file and run the file", true);
  }

  #doubtCode(program: ShellWord, option: ShellWord): void {
    const part = `${toShown(program)} ${toShown(option)} runs code that no rule can read`;
    this.doubt(part, "write the code to a file and run the file");
  }

  /** Values of options that are commands. Says whether there is one. */
  addOptionValues(words: SimpleCommand, options: string | undefined, way: Way): boolean {
    if (options === undefined) return false;
    const values = [...toOptions(options)].flatMap((option) => findValues(words, option));
    // `ssh -o ProxyCommand=…`
    for (const value of values) this.addTexts([{ ...value, text: value.text.replace(/^\w+=/, "") }], way);
    return values.length > 0;
  }

  /** Words that a shell reads as one text. */
  addTexts(words: readonly ShellWord[], way: Way): void {
    const unknown = words.find((word) => toKnownText(word) === undefined);
    if (unknown) {
      const part = `${toShown(unknown)} is run as a command, and known only when it runs`;
      return this.doubt(part, "write the command itself");
    }
    const result = readCommand(words.map(({ text }) => text).join(" "));
    if (result.ok) return this.addReading(result.reading, { ...way, level: way.level + 1 });
    this.doubt(`${toShown(words[0]!)} is run as a command and contains ${result.problem}`, "write it plainly");
  }

  /** `NAME=value`: programs run what some variables say, and the shell what is in others. */
  addSetting(word: ShellWord, way: Way): void {
    const [, name = "", value = ""] = /^([^=]*)=([^]*)$/.exec(word.text) ?? ["", "", word.text];
    const isRun = runVariables.test(name);
    if (!isRun && !/\$\(|`/.test(value)) return;
    const result = readCommand(value.replace(/^!/, ""));
    if (!result.ok) return this.doubt(`${toShown(word)} may run what cannot be read`, "leave the variable out");
    const inner = new RunLister();
    inner.addReading(result.reading, { isCertain: false, level: way.level + 1 });
    this.commands.push(...inner.commands);
    this.unclear.push(...inner.unclear.filter(({ isReader }) => !isReader));
  }
}
