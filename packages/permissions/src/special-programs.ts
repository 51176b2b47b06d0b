/** Programs that run others in a way of their own: the shell's own commands, find, git, make, awk, sed. */
import { isOption, toKnownText, toOptions, toShown } from "./known-word.ts";
import { UNKNOWN, type ShellWord, type SimpleCommand } from "./shell-reading.ts";

/** How a command is reached. */
export interface Way {
  /** However the words before it are understood. */
  readonly isCertain: boolean;
  /** In how many other commands it is. */
  readonly level: number;
}

/** Takes what a command runs. */
export interface RunList {
  add(words: SimpleCommand, way: Way): void;
  addScript(program: ShellWord, words: SimpleCommand, way: Way): void;
  addTexts(words: readonly ShellWord[], way: Way): void;
  addSetting(word: ShellWord, way: Way): void;
  doubt(part: string, advice: string): void;
}

type Special = (list: RunList, words: SimpleCommand, way: Way) => void;

/** A word with another text in the place of a mark. */
export function replaceMark(word: ShellWord, mark: string, text: string): ShellWord {
  return word.text.includes(mark) ? { ...word, text: word.text.replaceAll(mark, text) } : word;
}

/** The values of an option, as `-x value`, `-xvalue`, `--long value` or `--long=value`; long ones may be cut short. */
export function findValues(words: SimpleCommand, option: string): ShellWord[] {
  return words.flatMap((word, at) => {
    const { text } = word;
    const next = words[at + 1];
    const isShort = /^-[A-Za-z]$/.test(option);
    const isGroup = isShort && /^-[A-Za-z]+$/.test(text) && text.endsWith(option[1]!);
    if (text === option || isGroup) return next ? [next] : [];
    if (isShort) return text.startsWith(option) ? [{ ...word, text: text.slice(2) }] : [];
    const [name = "", ...value] = text.split("=");
    const isCut = /^--\w/.test(name) && option.startsWith(name);
    if (name !== option && !isCut) return [];
    if (value.length > 0) return [{ ...word, text: value.join("=") }];
    return next ? [next] : [];
  });
}

/** `find … -exec COMMAND ;` and `fd -x COMMAND`. */
function addExecuted(options: string): Special {
  const starts = toOptions(options);
  return (list, words, way) => {
    const split = words.find(({ isMany, isGlob }) => isMany && !isGlob);
    if (split) list.doubt(`${toShown(split)} may be several words`, "quote it");
    for (const [at, { text }] of words.entries()) {
      if (!starts.has(text)) continue;
      const rest = words.slice(at + 1);
      const end = rest.findIndex((word) => word.text === ";" || word.text === "+");
      const executed = rest.slice(0, end < 0 ? undefined : end);
      // A path that is found begins like the folder in which it is.
      list.add(
        executed.map((word) => replaceMark(word, "{}", `./${UNKNOWN}`)),
        way,
      );
      if (end < 0) break;
    }
  };
}

/** Settings of git whose value it runs. */
const gitCommand =
  /^(?:alias|pager)\.|\.(?:alternaterefscommand|askpass|\w*cmd|clean|command|difffilter|driver|editor|external|fsmonitor|gitproxy|helper|packobjectshook|pager|path|process|program|receivepack|smtpserver|smudge|sshcommand|textconv|tunnel|update|uploadpack|vcs)$/i;

/** `git -c alias.x=…`, `git config core.pager …`. */
function addGitSettings(list: RunList, words: SimpleCommand, way: Way): void {
  const config = words.findIndex(({ text }) => text === "config");
  const named = config < 0 ? [] : words.slice(config + 1).filter(({ text }) => !isOption(text));
  const [key, value] = named[0]?.text === "set" ? named.slice(1) : named;
  if (key && value) addGitSetting(list, value, key.text, value.text, way);
  const isClone = words.some(({ text }) => text === "clone");
  const set = isClone ? [...findValues(words, "-c"), ...findValues(words, "--config")] : findFrontValues(words, "-c");
  for (const word of set) {
    const [, name = "", text = ""] = /^([^=]*)=?([^]*)$/.exec(word.text) ?? [];
    addGitSetting(list, word, name, text, way);
  }
  const [found] = findFrontValues(words, "--config-env");
  const risky = found ?? words.find(({ text }) => text.startsWith("ext::"));
  if (risky) list.doubt(`git ${toShown(risky)} may run a command`, "leave it out");
}

function addGitSetting(list: RunList, word: ShellWord, key: string, value: string, way: Way): void {
  if (!gitCommand.test(key) && !key.includes(UNKNOWN)) return;
  const isAlias = /^alias\./i.test(key) && !value.startsWith("!");
  addValue(list, word, isAlias ? `git ${value}` : value, way);
}

/** A value that a program may run. */
function addValue(list: RunList, word: ShellWord, value: string, way: Way): void {
  list.addSetting({ ...word, text: `COMMAND=${value}` }, way);
}

/** Only in front of the subcommand: `git commit -c` is another option. */
function findFrontValues(words: SimpleCommand, option: string): ShellWord[] {
  const valued = toOptions("-C -c --attr-source --config-env --git-dir --namespace --super-prefix --work-tree");
  let end = 1;
  for (; end < words.length && isOption(words[end]!.text); end += 1) if (valued.has(words[end]!.text)) end += 1;
  return findValues(words.slice(0, end), option);
}

/** `make -f -` reads its rules; its variables can be programs. */
function addMake(list: RunList, words: SimpleCommand, way: Way): void {
  for (const option of ["-f", "--file", "--makefile", "-E", "--eval"]) {
    for (const { text } of findValues(words, option)) {
      const isFile = option.startsWith("-f") || option.startsWith("--f") || option.startsWith("--m");
      if (!isFile || /^(?:-$|\/(?:dev|proc)\/)/.test(text)) {
        list.doubt(`make ${option} runs a text that no rule can read`, "write the rules to a file");
      }
    }
  }
  for (const word of words.slice(1)) {
    if (isOption(word.text) || !word.text.includes("=")) continue;
    if (word.text.includes("$")) list.doubt(`${toShown(word)} is text that make runs`, "leave it out");
    else if (!word.text.includes(UNKNOWN)) addValue(list, word, word.text.replace(/^[^=]*=/, ""), way);
  }
}

/** The scripts in the words of awk or sed: values of options, or the first operand. */
function findScripts(words: SimpleCommand, file: RegExp, valued: string): readonly ShellWord[] {
  const scripts = ["-e", "--expression", "--source"].flatMap((option) => findValues(words, option));
  const hasFile = words.some(({ text }) => file.test(text));
  if (scripts.length > 0 || hasFile) return scripts;
  for (let at = 1; at < words.length; at += 1) {
    const { text } = words[at]!;
    if (text === "--") return words.slice(at + 1, at + 2);
    if (!isOption(text)) return [words[at]!];
    if (text.length === 2 && valued.includes(text[1]!)) at += 1;
  }
  return [];
}

/** awk runs commands with `system`, with pipes, and with `@` in some versions. */
function addAwk(list: RunList, words: SimpleCommand): void {
  for (const word of findScripts(words, /^(?:-[fE]|--(?:file|exec))/, "FWilv")) {
    const isQuiet =
      toKnownText(word)
        ?.replaceAll("||", "")
        .match(/system|[|@]/) === null;
    if (!isQuiet) list.doubt("this awk script may run commands", "leave out system, pipes and variables of the shell");
  }
  addScriptInput(list, words);
}

/** A script without `e`, which runs commands. */
function addSed(list: RunList, words: SimpleCommand): void {
  for (const word of findScripts(words, /^(?:-[Enrsuz]*f|--file)/, "l")) {
    if (word.isMany || !isQuietSed(word.text)) {
      list.doubt(`the sed script ${toShown(word)} may run commands`, "use only s, p, d and other plain commands");
    }
  }
  addScriptInput(list, words);
}

function addScriptInput(list: RunList, words: SimpleCommand): void {
  const files = ["-f", "--file"].flatMap((option) => findValues(words, option));
  const isInput = files.some(({ text }) => /^(?:-$|\/(?:dev|proc)\/)/.test(text));
  if (isInput) list.doubt(`${toShown(words[0]!)} reads its script from its input`, "write it to a file");
}

const sedAddress = String.raw`(?:[\d\0]+|\$|/(?:[^/\\\n]|\\[^])*/[IM]*)`;
const sedRange = String.raw`(?:${sedAddress}(?:[,~][+~]?${sedAddress})?\s*!?\s*)?`;
const sedSubstitution = String.raw`[sy]([^\w\s\\\0])(?:(?!\1)[^\\]|\\[^])*\1(?:(?!\1)[^\\]|\\[^])*\1[gpIiMm\d]*(?:w[^\n]*)?`;
const sedPlain = String.raw`[=dDgGhHnNpPxzF}]|[qQlL][ \t]*\d*|[aic](?:\\\n|[^\n])*|[rRwW][^\n]*|[:btT][ \t]*[\w.-]*`;
const sedCommand = new RegExp(
  String.raw`[\s;]*${sedRange}(?:\{|(?:${sedSubstitution}|${sedPlain})[ \t]*(?=[\s;}]|$))`,
  "y",
);

/** Whether a script of sed only has commands that run nothing. Takes linear time. */
function isQuietSed(script: string): boolean {
  const rest = script.replace(/[\s;]+$/, "");
  sedCommand.lastIndex = 0;
  while (sedCommand.lastIndex < rest.length) if (!sedCommand.test(rest)) return false;
  return true;
}

/** Some of the shell's own commands run what is in the names of variables. */
function addEvaluated(list: RunList, words: SimpleCommand, way: Way): void {
  for (const word of words.slice(1)) {
    if (/^[A-Za-z_]\w*=/.test(word.text)) list.addSetting(word, way);
    else if (/\$\(|`/.test(word.text)) list.addTexts([word], way);
  }
}

/** Programs for databases, which can start a shell. */
const databaseEscape = /\\!|\\[a-z]+\s*\||(?:^|[;\n])\s*(?:system\b|\.s[hy])|\bprogram\b/i;

/** The settings of cargo can name programs, and other names of commands. */
function addCargo(list: RunList, words: SimpleCommand): void {
  const found = findValues(words, "--config").find(({ text }) => /alias|runner|wrapper|linker|\0/.test(text));
  if (found) list.doubt(`cargo --config ${toShown(found)} may define a command`, "leave it out");
}

/** `tar cIf PROGRAM …`: letters whose values follow. */
function addTar(list: RunList, [, letters]: SimpleCommand): void {
  if (/^(?:[A-Za-z]*|-[A-Za-z]+)[IF][A-Za-z]/.test(letters?.text ?? ""))
    list.doubt(`tar ${letters!.text} runs a program`, "leave it out");
}

/** `env -S "-i program" word`: a text and more words. */
function addEnv(list: RunList, words: SimpleCommand, way: Way): void {
  const [text] = ["-S", "--split-string"].flatMap((option) => findValues(words, option));
  if (!text) return;
  const rest = words.slice(words.findIndex(({ source }) => source === text.source) + 1);
  list.addTexts([{ ...words[0]!, text: "env" }, text, ...rest], way);
}

function onlyWith(option: RegExp, special: Special): Special {
  return (list, words, way) => words.some(({ text }) => option.test(text)) && special(list, words, way);
}

function doubtOption(pattern: RegExp, what: string): Special {
  return (list, words) => {
    const found = words.slice(1).find(({ text }) => pattern.test(text));
    if (found) list.doubt(`${toShown(words[0]!)} ${toShown(found)} ${what}`, "leave it out");
  };
}

const addDatabase = doubtOption(databaseEscape, "may run commands");
const addFind = addExecuted("-exec -execdir -ok -okdir");
const addFd = addExecuted("-x -X --exec --exec-batch");

/** `rsync -e "ssh -p 22"`: a host and a command follow. */
function addRsync(list: RunList, words: SimpleCommand, way: Way): void {
  const values = ["-e", "--rsh"].flatMap((option) => findValues(words, option));
  for (const value of values) list.addTexts([{ ...value, text: `${value.text} host rsync` }], way);
}

function addTrap(list: RunList, words: SimpleCommand, way: Way): void {
  const [text, signal] = withoutDashes(words);
  if (text && signal && !text.text.startsWith("-")) list.addTexts([text], way);
}

function withoutDashes([, ...words]: SimpleCommand): SimpleCommand {
  return words[0]?.text === "--" ? words.slice(1) : words;
}

export const specialPrograms: Readonly<Record<string, Special>> = {
  ".": (list, words, way) => list.addScript(words[0]!, words.slice(1), way),
  source: (list, words, way) => list.addScript(words[0]!, words.slice(1), way),
  env: addEnv, genv: addEnv,
  eval: (list, words, way) => list.addTexts(withoutDashes(words), way),
  trap: addTrap,
  alias: doubtOption(/=/, "gives a command another name"),
  hash: doubtOption(/^-[a-z]*p/, "gives a command another name"),
  enable: doubtOption(/^-[a-z]*f/, "loads code"),
  // With histexpand the shell puts words of earlier lines in the place of `!`.
  set: doubtOption(/^-[A-Za-z]*H|^histexpand$|^-.*\0/, "changes how words are read"),
  cargo: addCargo,
  less: doubtOption(/^\+.*!/, "runs a command"),
  docker: doubtOption(/^--entrypoint/, "runs another program"),
  podman: doubtOption(/^--entrypoint/, "runs another program"),
  tar: addTar,
  awk: addAwk, gawk: addAwk, mawk: addAwk, nawk: addAwk, sed: addSed, gsed: addSed,
  find: addFind, gfind: addFind, fd: addFd, fdfind: addFd,
  git: addGitSettings,
  nix: addExecuted("-c --command"),
  rsync: addRsync,
  make: addMake, gmake: addMake,
  mariadb: addDatabase, mysql: addDatabase, psql: addDatabase, sqlite: addDatabase,
  declare: addEvaluated, export: addEvaluated, getopts: addEvaluated, let: addEvaluated, local: addEvaluated, mapfile: addEvaluated,
  printf: onlyWith(/^-v/, addEvaluated), read: addEvaluated, readarray: addEvaluated, readonly: addEvaluated, test: onlyWith(/^-[vR]$/, addEvaluated), "[": onlyWith(/^-[vR]$/, addEvaluated),
  typeset: addEvaluated, unset: addEvaluated, wait: addEvaluated,
}; // prettier-ignore
