/** Lists the commands that a line runs, even through other programs: `sudo`, `xargs`, `sh -c`, `find -exec`. */
import { createRunOptionTest, findRiskyWord, shellCommands, toPlainName } from "./programs.ts";
import { readCommand } from "./read-command.ts";
import { findEntries, interpreters, isListedRunner, languages, type Runner, runners, shells } from "./runners.ts";
import { isOpen, isOption, toKnownName, toKnownText, toPattern, toShown, UNKNOWN } from "./shell-reading.ts";
import type { ShellReading, ShellWord, SimpleCommand } from "./shell-reading.ts";

/** The commands that a reading runs: the list is complete unless something is unclear. */
export interface RunCommands {
  readonly commands: readonly SimpleCommand[];
  /** Reasons why the list may be incomplete, in a few words each. */
  readonly unclear: readonly string[];
}

/** A place in the words of a runner. */
interface Place {
  readonly at: number;
  /** Number of operands to skip before the program. */
  readonly skips: number;
  readonly mayBeOption: boolean;
}

/** Most levels at which one command may run another. */
const MAX_LEVELS = 10;

/** Matches variables whose value programs or shells run, and settings of git, except harmless values. */
const runVariable =
  /^(?!.*=(?:cat|true|-j\d*)?$)(?:[^=]*(?:ASKPASS|BROWSER|CMD|COMMAND|EDITOR|EXTERNAL_DIFF|GIT_SSH|OPENER|MAKEFLAGS|PAGER|_RSH|RUNNER|SHELL|VISUAL|WRAPPER)=|(?:AR|CC|CXX|LD|LESSOPEN|LESSCLOSE|PS[0-4])=|BASH_FUNC|GIT_CONFIG_(?:VALUE|PARAMETERS)|(?:alias|pager)\.|[^=]*\.(?:alternaterefscommand|askpass|\w*cmd|clean|command|difffilter|driver|editor|external|fsmonitor|gitproxy|helper|packobjectshook|pager|path|process|program|receivepack|smtpserver|smudge|sshcommand|textconv|tunnel|update|uploadpack|vcs)=)/is;

/** Matches a substitution, which runs only if a shell reads the text as a command. */
const substitution = /\$\(|`/;

/** Match scripts of awk and sed that run no program. */
const quietAwk = /^(?!(?:-|\/dev\/.*|\/proc\/.*)$)(?:(?!system|[|@\0])[^]|\|\|)*$/;
const quietSed =
  /^(?:[\s;{}\d$,+~!]|\/(?:[^/\\\n\0]|\\[^])*\/I?|[sy]([^\w\s\\\0])(?:(?!\1)[^\\]|\\[^])*\1(?:(?!\1)[^\\]|\\[^])*\1[gpIiMm\d]*(?=[\s;}]|$)|[=dDgGhHnNpPqxz](?=[\s;}\d]|$))*$/;

const readsInput = "runs what it reads from its input";

const inputPlace = /^(?:-$|data:|\/(?:dev|proc)\/)/i;

export function listRunCommands(reading: ShellReading): RunCommands {
  const lister = new RunLister();
  lister.addReading(reading, 0);
  return lister;
}

class RunLister {
  readonly commands: SimpleCommand[] = [];
  readonly unclear: string[] = [];
  /** Texts that were read already. */
  readonly #texts = new Set<string>();

  addReading({ commands, settings }: ShellReading, level: number): void {
    for (const setting of settings) this.#addSetting(setting);
    for (const words of commands) this.#add(words, level);
  }

  #doubt(word: ShellWord, why: string): void {
    this.unclear.push(`${toShown(word)} ${why}`);
  }

  /** Adds a command. `level` is the number of other commands around it. */
  #add(words: SimpleCommand, level: number): void {
    const [program] = words;
    if (!program) return;
    const name = program.text.includes("{}") ? undefined : toKnownName(program);
    if (name === undefined) return this.#doubt(program, "is a program that is known only when it runs");
    if (level > MAX_LEVELS) return this.#doubt(program, "is run by too many others");
    this.commands.push(words);
    // `python3.12` is python, unless the tables contain that name.
    this.#follow(isListedRunner(name) ? name : toPlainName(name), words, level + 1);
  }

  #follow(name: string, words: SimpleCommand, level: number): void {
    const [program] = words;
    const texts = [name, ...words.slice(1).map(toPattern)];
    if (findEntries(languages, name, texts).length > 0) {
      this.#doubt(program!, "can run any program");
      for (const word of words.filter(isSpaced)) this.#addValue(word, level);
    }
    const isAsked = name === "command" && /^-\w*[vV]/.test(texts[1] ?? "");
    const entries = isAsked ? [] : findEntries(runners, name, texts);
    for (const { at, value } of entries) this.#addRun(value, words, at + 1, level);
    if (shells.has(name)) this.#addShell(words, level);
    if (interpreters.has(name)) this.#addInterpreter(words, level);
    if (shellCommands.has(name) || /^(?:test|\[|printf)$/.test(name)) this.#addShellCommand(name, words, level);
    if (/^(?:g?find|fd|fdfind)$/.test(name)) return this.#addExecuted(words, level);
    const isRunOption = createRunOptionTest(texts);
    const options = texts.flatMap((text, at) => (at > 0 && isRunOption(text) ? [at, at + 1] : []));
    for (const at of options) this.#addValue(words[at], level);
    const risky = findScript(name, texts.slice(1)) ?? findGitSetting(texts) ?? findRiskyWord(texts, 1);
    if (risky !== undefined) this.#doubt(program!, `${JSON.stringify(risky.slice(0, 200))} may run a command`);
  }

  /** Adds a runner's program, after its options and operands. A word with blanks before it is a text for a shell. */
  #addRun(runner: Runner, words: SimpleCommand, from: number, level: number): void {
    const starts = this.#findStarts(runner, words, from);
    const spaced = words.slice(from, starts.length === 0 ? undefined : Math.max(...starts) + 1).filter(isSpaced);
    for (const word of spaced) this.#addValue(word, level);
    if (starts.length === 0 && runner.readsInput && spaced.length === 0) return this.#doubt(words[0]!, readsInput);
    const added = runner.isAppending ? replaceInput(words, from) : words;
    for (const [first, ...rest] of starts.map((at) => added.slice(at))) {
      // The words `npx tool@1.2` run tool.
      if (!isSpaced(first!)) this.#add([{ ...first!, text: first!.text.replace(/(?<=.)@.*/, "") }, ...rest], level);
    }
  }

  /** Finds the possible places of the program: a long option may take the next word or not. */
  #findStarts(runner: Runner, words: SimpleCommand, from: number): number[] {
    const valued = new Set(runner.valued?.split(" "));
    const starts = new Set<number>();
    const seen = new Set<string>();
    const places: Place[] = [{ at: from, skips: runner.skips ?? 0, mayBeOption: true }];
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
        const isWhole = text.includes("=") || (/^-\w./.test(text) && valued.has(text.slice(0, 2)));
        const isValued = valued.has(text) || (!isWhole && /^-\w+$/.test(text) && valued.has(`-${text.at(-1)}`));
        const isEither = !isValued && !isWhole && (valued.size === 0 || text.startsWith("--"));
        // An unquoted value may become several words.
        go(isValued && !words[at + 1]?.isMany ? 2 : 1);
        if (isEither) go(2);
      } else if (skips > 0 && !word.isMany) {
        go(1, { skips: skips - 1 });
        if (mayBeOption && isOpen(word)) go(1);
      } else starts.add(at);
    }
    return [...starts];
  }

  #addShell(words: SimpleCommand, level: number): void {
    let isText = false;
    let at = 1;
    for (; /^[-+]/.test(words[at]?.text ?? ""); at += 1) {
      const { text } = words[at]!;
      if (/^--(?:version|help)$/.test(text)) return;
      if (/^-[A-Za-z]*[Hs]/.test(text)) return this.#doubt(words[0]!, readsInput);
      isText ||= /^-[A-Za-z]*c/.test(text);
      if (/^(?:[-+][A-Za-z]*[oO]|--(?:rcfile|init-file|init-command))$/.test(text)) at += 1;
      if (/^--?$/.test(text) || words[at]?.text === "histexpand") return this.#addScript(words[0]!, []);
    }
    if (isText) this.#addTexts(words.slice(at, at + 1), level);
    else this.#addScript(words[0]!, words.slice(at));
  }

  /** Adds an interpreter. Any option with a letter that could mean code is treated as code, in every language. */
  #addInterpreter(words: SimpleCommand, level: number): void {
    const [program] = words;
    let isIdle = false;
    for (let at = 1; at < words.length; at += 1) {
      const text = toPattern(words[at]!);
      if (!isOption(text)) return this.#addScript(program!, words.slice(at));
      if (/^-\w*m$/.test(text)) return this.#add(words.slice(at + 1), level);
      isIdle ||= /^(?:-[hvV]+|--help|--version|--test|--run)$/.test(text);
      if (/^-(?!-)\w*[BCceEprnR]|^-[^-].*\W|^--(?:eval|import|print|rpc)/.test(text) || text === "--") {
        return this.#doubt(program!, `${toShown(words[at]!)} may run code that no rule can read`);
      }
      if (/^-[IQWX]$|^--(?:conditions|loader|require|env-file|tsconfig)$/.test(text)) at += 1;
    }
    if (!isIdle) this.#doubt(program!, readsInput);
  }

  /** Adds a file of commands, or of another language, as a program. */
  #addScript(program: ShellWord, words: SimpleCommand): void {
    const [script] = words;
    if (!script || inputPlace.test(script.text)) return this.#doubt(program, readsInput);
    if (isOpen(script)) return this.#doubt(script, `may be an option of ${toShown(program)}`);
    if (toKnownName(script) !== undefined) this.commands.push(words);
  }

  /** Adds a command of the shell itself: some run a text, or commands in the names of variables. */
  #addShellCommand(name: string, words: SimpleCommand, level: number): void {
    const [first, ...rest] = words.slice(words[1]?.text === "--" ? 2 : 1);
    if (name === "." || name === "source") return this.#addScript(words[0]!, words.slice(1));
    if (name === "eval") return this.#addTexts(first ? [first, ...rest] : [], level);
    if (name === "trap")
      return rest.length > 0 && !first!.text.startsWith("-") ? this.#addTexts([first!], level) : undefined;
    for (const word of words.slice(1)) this.#addSetting(word);
  }

  /** Adds the commands of `find … -exec COMMAND ;` and `fd -x COMMAND`. */
  #addExecuted(words: SimpleCommand, level: number): void {
    const split = words.find(({ isMany, isGlob }) => isMany && !isGlob);
    if (split) this.#doubt(split, "may be several words");
    for (const [at, { text }] of words.entries()) {
      if (!/^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(text)) continue;
      const rest = words.slice(at + 1);
      const end = rest.findIndex((word) => /^[;+]$/.test(word.text));
      this.#add(rest.slice(0, end < 0 ? undefined : end), level);
    }
  }

  /** Adds a word that is a command, or has one as its value: `--filter=COMMAND`, `-oProxyCommand=COMMAND`. */
  #addValue(word: ShellWord | undefined, level: number): void {
    const text = word?.text.replace(/^-\w(?!-)|^--[\w-]+=?/, "").replace(/^\w+=/, "");
    if (word && text) this.#addTexts([{ ...word, text }], level);
  }

  /** Adds words that a shell reads as one text. */
  #addTexts(words: readonly ShellWord[], level: number): void {
    const unknown = words.find((word) => toKnownText(word) === undefined);
    const text = words.map((word) => word.text).join(" ");
    if (words.length === 0 || this.#texts.has(text)) return;
    this.#texts.add(text);
    const result = unknown ? undefined : readCommand(text);
    if (result?.ok) this.addReading(result.reading, level + 1);
    else
      this.#doubt(
        unknown ?? words[0]!,
        `is run as a command, and cannot be read${result ? `: ${result.problem}` : ""}`,
      );
  }

  /** Adds `NAME=value`: programs run the values of some variables, and the shell the values of further ones. */
  #addSetting(word: ShellWord): void {
    if (runVariable.test(word.text) || substitution.test(word.text)) this.#doubt(word, "may run a command");
  }
}

/** Finds a setting whose value git runs: `git -c alias.x=…`, `git config core.pager …`. */
function findGitSetting(texts: readonly string[]): string | undefined {
  if (texts[0] !== "git") return undefined;
  const isSet = texts.includes("config") || texts.includes("clone");
  return texts.find((text, at) => {
    const isNamed = /^-c|^--config/.test(texts[at - 1] ?? "") && (runVariable.test(text) || text.startsWith(UNKNOWN));
    return (
      isNamed || /^--config-env|^ext::/.test(text) || (isSet && runVariable.test(`${text}=${texts[at + 1] ?? ""}`))
    );
  });
}

/** Finds a word that may be a script of awk or sed with commands. */
function findScript(name: string, words: readonly string[]): string | undefined {
  const first = words.findIndex((word) => !isOption(word));
  if (/^[gmn]?awk$/.test(name)) return words.find((word) => !isOption(word) && !quietAwk.test(word));
  if (!/^g?sed$/.test(name)) return undefined;
  return words.find((word, at) => (at === first || /^-\w*e$/.test(words[at - 1] ?? "")) && !quietSed.test(word));
}

/** True if a shell may read several words in it. */
function isSpaced({ text }: ShellWord): boolean {
  return /[\s;&|]/.test(text);
}

/** Adds the input of `xargs` as words, or at the place of a mark (`-I{}`). */
function replaceInput(words: SimpleCommand, from: number): SimpleCommand {
  const texts = words.map(({ text }) => text);
  const at = texts.findIndex((text, index) => index >= from && /^-\w*?[IJi]|^--replace/.test(text));
  const option = texts[at] ?? "";
  const named = /^-\w*[IJ]$/.test(option) ? texts[at + 1] : option.replace(/^-\w*?[IJi]|^--replace=?/, "");
  const mark = named === undefined || named === "" ? "{}" : named;
  const input: ShellWord = { text: UNKNOWN, isGlob: false, isMany: true, source: "what xargs reads" };
  return [...(at < 0 ? words : words.map((word) => ({ ...word, text: word.text.replaceAll(mark, UNKNOWN) }))), input];
}
