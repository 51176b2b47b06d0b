/** What a line runs, also through programs that run others: `sudo`, `xargs`, `sh -c`, `find -exec`. */
import { createRunOptionTest, findRiskyWord, shellCommands, toPlainName } from "./programs.ts";
import { readCommand } from "./read-command.ts";
import { findEntries, interpreters, isListedRunner, languages, type Runner, runners, shells } from "./runners.ts";
import { isOpen, isOption, toKnownName, toKnownText, toPattern, toShown, UNKNOWN } from "./shell-reading.ts";
import type { ShellReading, ShellWord, SimpleCommand } from "./shell-reading.ts";

/** A command that runs, or may. */
export interface RunCommand {
  readonly words: SimpleCommand;
  /** Its words are those of a program, whatever the options before them mean. */
  readonly isCertain: boolean;
}

/** Why it is not known what runs, and what can be done about it. */
export interface Unclear {
  /** The line shows a command that a rule names; only the words before it are not clear. */
  readonly isShown?: true;
  readonly part: string;
  readonly advice: string;
}

/** What a reading runs: everything, unless something is unclear. */
export interface RunCommands {
  readonly commands: readonly RunCommand[];
  readonly unclear: readonly Unclear[];
}

/** How a command is reached. */
interface Way {
  readonly isCertain: boolean;
  /** In how many other commands it is. */
  readonly level: number;
}

/** A place in the words of a runner. */
interface Place {
  readonly at: number;
  readonly isCertain: boolean;
  /** Operands that come before the program. */
  readonly skips: number;
  readonly mayBeOption: boolean;
}

/** How often one command may run another. */
const MAX_LEVELS = 10;

/** Variables whose value programs or shells run, and settings of git; not where the value does nothing. */
const runVariable =
  /^(?!.*=(?:cat|true|-j\d*)?$)(?:[^=]*(?:ASKPASS|BROWSER|CMD|COMMAND|EDITOR|EXTERNAL_DIFF|GIT_SSH|OPENER|MAKEFLAGS|PAGER|_RSH|RUNNER|SHELL|VISUAL|WRAPPER)=|(?:AR|CC|CXX|LD|LESSOPEN|LESSCLOSE|PS[0-4])=|BASH_FUNC|GIT_CONFIG_(?:VALUE|PARAMETERS)|(?:alias|pager)\.|[^=]*\.(?:alternaterefscommand|askpass|\w*cmd|clean|command|difffilter|driver|editor|external|fsmonitor|gitproxy|helper|packobjectshook|pager|path|process|program|receivepack|smtpserver|smudge|sshcommand|textconv|tunnel|update|uploadpack|vcs)=)/is;

/** What only runs when some text is taken for a command. */
const substitution = /\$\(|`/;

/** Scripts of awk and sed that run nothing. */
const quietAwk = /^(?!(?:-|\/dev\/.*|\/proc\/.*)$)(?:(?!system|[|@\0])[^]|\|\|)*$/;
const quietSed =
  /^(?:[\s;{}\d$,+~!]|\/(?:[^/\\\n\0]|\\[^])*\/I?|[sy]([^\w\s\\\0])(?:(?!\1)[^\\]|\\[^])*\1(?:(?!\1)[^\\]|\\[^])*\1[gpIiMm\d]*(?=[\s;}]|$)|[=dDgGhHnNpPqxz](?=[\s;}\d]|$))*$/;

const inputPlace = /^(?:-$|data:|\/(?:dev|proc)\/)/i;

export function listRunCommands(reading: ShellReading): RunCommands {
  const lister = new RunLister();
  lister.addReading(reading, { isCertain: true, level: 0 });
  return lister;
}

class RunLister {
  readonly commands: RunCommand[] = [];
  readonly unclear: Unclear[] = [];
  /** Texts that were read. */
  readonly #texts = new Set<string>();

  addReading({ commands, settings }: ShellReading, way: Way): void {
    for (const setting of settings) this.#addSetting(setting);
    for (const words of commands) this.#add(words, way);
  }

  #doubt(part: string, advice: string): void {
    this.unclear.push({ part, advice });
  }

  #add(words: SimpleCommand, { isCertain, level }: Way): void {
    const [program] = words;
    if (!program) return;
    const name = program.text.includes("{}") ? undefined : toKnownName(program);
    if (name === undefined || level > MAX_LEVELS) {
      const why = name === undefined ? "is known only when it runs" : "is run by too many others";
      const advice = program.isMany ? "write its name, or quote it if it is a value" : "write its name";
      return this.#doubt(`the program ${toShown(program)} ${why}`, advice);
    }
    this.commands.push({ words, isCertain });
    const way = { isCertain, level: level + 1 };
    // `python3.12` is python, unless the tables know that name.
    this.#follow(isListedRunner(name) ? name : toPlainName(name), words, way);
  }

  #follow(name: string, words: SimpleCommand, way: Way): void {
    const texts = words.map(toPattern);
    const entries = findEntries(runners, name, texts);
    if (findEntries(languages, name, texts).length > 0) {
      this.#doubt(`${name} can run any program`, "use another one");
      for (const word of words.filter(isSpaced)) this.#addValue(word, word.text, way);
    }
    const isAsked = name === "command" && /^-\w*[vV]/.test(texts[1] ?? "");
    for (const { at, value } of isAsked ? [] : entries) this.#addRun(value, words, at + 1, way);
    if (shells.has(name)) this.#addShell(words, way);
    if (interpreters.has(name)) this.#addInterpreter(words, way);
    if (shellCommands.has(name) || /^(?:test|\[|printf)$/.test(name)) this.#addShellCommand(name, words, way);
    if (/^(?:g?find|fd|fdfind)$/.test(name)) return this.#addExecuted(words, way);
    if (name === "git") this.#addGitSettings(texts);
    const isRunOption = createRunOptionTest([name, ...texts.slice(1)]);
    for (const [at, word] of words.entries()) {
      if (at > 0 && isRunOption(texts[at]!))
        for (const value of [word, words[at + 1]]) this.#addValue(value, value?.text ?? "", way);
    }
    const risky = findScript(name, texts.slice(1)) ?? findRiskyWord([name, ...texts.slice(1)], 1);
    if (risky !== undefined) this.#doubt(`${name} ${toLine(risky)} may run a command`, "leave it out");
  }

  /** What follows the options and operands of a runner. A word with blanks before it is a text for a shell. */
  #addRun(runner: Runner, words: SimpleCommand, from: number, way: Way): void {
    const starts = this.#findStarts(runner, words, from);
    const end = starts.length === 0 ? words.length : Math.max(...starts.map(({ at }) => at + 1));
    const spaced = words.slice(from, end).filter(isSpaced);
    for (const word of spaced) this.#addValue(word, word.text, way);
    if (starts.length === 0 && runner.readsInput && spaced.length === 0) return this.#doubtInput(words[0]!);
    const added = runner.isAppending ? replaceInput(words, from) : words;
    for (const { at, isCertain } of starts) {
      if (spaced.includes(words[at]!)) continue;
      const [first, ...rest] = added.slice(at);
      // `npx tool@1.2` runs tool.
      this.#add([{ ...first!, text: first!.text.replace(/(?<=.)@.*/, "") }, ...rest], {
        ...way,
        isCertain: way.isCertain && isCertain,
      });
    }
  }

  #findStarts(runner: Runner, words: SimpleCommand, from: number): Place[] {
    const valued = new Set(runner.valued?.split(" "));
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
      if (/^[^-=\s][^=\s]*=/.test(text)) {
        this.#addSetting(word);
        go(1);
      } else if (mayBeOption && (text === "--" || text === "-")) go(1, { mayBeOption: text === "-" });
      else if (mayBeOption && isOption(text)) {
        // Without quotes the value may be several words.
        const isValued = valued.has(text);
        go(isValued && !words[at + 1]?.isMany ? 2 : 1);
        const isWhole = text.includes("=") || (/^-\w./.test(text) && valued.has(text.slice(0, 2)));
        if (!isValued && !isWhole) go(2, { isCertain: false });
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
    for (; /^[-+]/.test(words[at]?.text ?? ""); at += 1) {
      const { text } = words[at]!;
      if (/^--(?:version|help)$/.test(text)) return;
      if (/^-[A-Za-z]*[Hs]/.test(text)) return this.#doubtInput(words[0]!);
      isText ||= /^-[A-Za-z]*c/.test(text);
      if (/^(?:[-+][A-Za-z]*[oO]|--(?:rcfile|init-file|init-command))$/.test(text)) at += 1;
      if (/^--?$/.test(text) || words[at]?.text === "histexpand") return this.#addScript(words[0]!, [], way);
    }
    if (isText) this.#addTexts(words.slice(at, at + 1), way);
    else this.#addScript(words[0]!, words.slice(at), way);
  }

  /** Takes any option for code whose letters could mean that, whatever the language. */
  #addInterpreter(words: SimpleCommand, way: Way): void {
    const [program] = words;
    let isIdle = false;
    for (let at = 1; at < words.length; at += 1) {
      const text = toPattern(words[at]!);
      if (!isOption(text)) return this.#addScript(program!, words.slice(at), way);
      if (/^-\w*m$/.test(text)) return this.#add(words.slice(at + 1), way);
      isIdle ||= /^(?:-[hvV]+|--help|--version|--test|--run)$/.test(text);
      if (/^-(?!-)\w*[BCceEprnR]|^-[^-].*\W|^--(?:eval|import|print|rpc)/.test(text) || text === "--") {
        return this.#doubt(
          `${toShown(program!)} ${toShown(words[at]!)} may run code that no rule can read`,
          "write the code to a file and run the file",
        );
      }
      if (/^-[IQWX]$|^--(?:conditions|loader|require|env-file|tsconfig)$/.test(text)) at += 1;
    }
    if (!isIdle) this.#doubtInput(program!);
  }

  /** A file of commands, or of another language: it counts as the program. */
  #addScript(program: ShellWord, words: SimpleCommand, way: Way): void {
    const [script] = words;
    if (!script || inputPlace.test(script.text)) return this.#doubtInput(program);
    if (isOpen(script)) {
      const name = toShown(script);
      return this.#doubt(`${name} may be an option of ${toShown(program)}`, `begin it with a folder, as in "./$file"`);
    }
    if (toKnownName(script) !== undefined) this.commands.push({ words, isCertain: way.isCertain });
  }

  /** The shell's own: some run a text, or what is in the names of variables. */
  #addShellCommand(name: string, words: SimpleCommand, way: Way): void {
    const [first, ...rest] = words.slice(words[1]?.text === "--" ? 2 : 1);
    if (name === "." || name === "source") return this.#addScript(words[0]!, words.slice(1), way);
    if (name === "eval") return this.#addTexts(first ? [first, ...rest] : [], way);
    if (name === "trap")
      return rest.length > 0 && !first!.text.startsWith("-") ? this.#addTexts([first!], way) : undefined;
    for (const word of words.slice(1)) this.#addSetting(word);
  }

  /** `find … -exec COMMAND ;` and `fd -x COMMAND`. */
  #addExecuted(words: SimpleCommand, way: Way): void {
    const split = words.find(({ isMany, isGlob }) => isMany && !isGlob);
    if (split) this.#doubt(`${toShown(split)} may be several words`, "quote it");
    for (const [at, { text }] of words.entries()) {
      if (!/^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(text)) continue;
      const rest = words.slice(at + 1);
      const end = rest.findIndex((word) => /^[;+]$/.test(word.text));
      this.#add(rest.slice(0, end < 0 ? undefined : end), way);
    }
  }

  /** `git -c alias.x=…`, `git config core.pager …`. */
  #addGitSettings(texts: readonly string[]): void {
    const isSet = texts.includes("config") || texts.includes("clone");
    const named = texts.find(
      (text, at) => /^-c|^--config/.test(texts[at - 1] ?? "") && (runVariable.test(text) || text.startsWith(UNKNOWN)),
    );
    const set = isSet ? texts.find((text, at) => runVariable.test(`${text}=${texts[at + 1] ?? ""}`)) : undefined;
    const risky = named ?? set ?? texts.find((text) => /^--config-env|^ext::/.test(text));
    if (risky !== undefined) this.#doubt(`git ${toLine(risky)} may run a command`, "leave it out");
  }

  #doubtInput(program: ShellWord): void {
    this.#doubt(`${toShown(program)} runs what it reads from its input`, "write that to a file and run the file");
  }

  /** A word that is a command, or has one as its value: `--filter=COMMAND`, `-oProxyCommand=COMMAND`. */
  #addValue(word: ShellWord | undefined, text: string, way: Way): void {
    const value = text.replace(/^-\w(?!-)|^--[\w-]+=?/, "").replace(/^\w+=/, "");
    if (word && value !== "") this.#addTexts([{ ...word, text: value }], way);
  }

  /** Words that a shell reads as one text. */
  #addTexts(words: readonly ShellWord[], way: Way): void {
    const unknown = words.find((word) => toKnownText(word) === undefined);
    if (unknown) {
      return this.#doubt(
        `${toShown(unknown)} is run as a command, and known only when it runs`,
        "write the command itself",
      );
    }
    const text = words.map((word) => word.text).join(" ");
    if (this.#texts.has(`${way.isCertain} ${text}`)) return;
    this.#texts.add(`${way.isCertain} ${text}`);
    const result = readCommand(text);
    if (result.ok) return this.addReading(result.reading, { ...way, level: way.level + 1 });
    if (words[0])
      this.#doubt(`${toShown(words[0])} is run as a command and contains ${result.problem}`, "write it plainly");
  }

  /** `NAME=value`: programs run what some variables say, and the shell what is in others. */
  #addSetting(word: ShellWord): void {
    if (!runVariable.test(word.text) && !substitution.test(word.text)) return;
    this.#doubt(`${toShown(word)} may run a command`, "leave it out");
  }
}

/** A text in one short line. */
function toLine(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}

/** What may be a script of awk or sed that runs commands. */
function findScript(name: string, words: readonly string[]): string | undefined {
  const first = words.findIndex((word) => !isOption(word));
  if (/^[gmn]?awk$/.test(name)) return words.find((word) => !isOption(word) && !quietAwk.test(word));
  if (!/^g?sed$/.test(name)) return undefined;
  return words.find((word, at) => (at === first || /^-\w*e$/.test(words[at - 1] ?? "")) && !quietSed.test(word));
}

/** Whether a word may be several for a shell. */
function isSpaced({ text }: ShellWord): boolean {
  return /[\s;&|]/.test(text);
}

/** `xargs` adds what it reads to the words, or puts it in the place of a mark (`-I{}`). */
function replaceInput(words: SimpleCommand, from: number): SimpleCommand {
  const texts = words.map(({ text }) => text);
  const at = texts.findIndex((text, index) => index >= from && /^-\w*?[IJi]|^--replace/.test(text));
  const option = texts[at] ?? "";
  const named = /^-\w*[IJ]$/.test(option) ? texts[at + 1] : option.replace(/^-\w*?[IJi]|^--replace=?/, "");
  const mark = named === undefined || named === "" ? "{}" : named;
  const input: ShellWord = { text: UNKNOWN, isGlob: false, isMany: true, source: "what xargs reads" };
  return [...(at < 0 ? words : words.map((word) => ({ ...word, text: word.text.replaceAll(mark, UNKNOWN) }))), input];
}
