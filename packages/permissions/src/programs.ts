/**
 * Tables of programs: which run others, which options make them do so or write files, which change the shell. A rule
 * must contain such a word to cover it (S-10). The lists help, but the boundary is the sandbox.
 */
import { findEntries, gitSubcommands, isCutShort, isListedRunner, runsSubcommand, toTable } from "./runners.ts";
import { toProgramName } from "./shell-reading.ts";

/** Further programs that run others, or whose language does; the tables of runners have the rest. */
const otherRunners: ReadonlySet<string> = new Set([
  "aria2c", "awk", "bc", "deno", "gawk", "java", "mariadb", "mawk", "mysql", "nawk", "nc", "ncat", "netcat", "perf", "pipx",
  "psql", "run-parts", "sed", "socat", "sqlite", "sqlite3", "swift", "telnet",
]); // prettier-ignore

/** Commands of the shell itself that change later words, or run words. No rule covers them. */
export const shellCommands: ReadonlySet<string> = new Set([
  ".", "alias", "bg", "bind", "break", "builtin", "caller", "compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs",
  "disown", "enable", "eval", "exec", "exit", "export", "fc", "fg", "getopts", "hash", "history", "jobs", "let", "local", "logout",
  "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "trap",
  "typeset", "ulimit", "umask", "unalias", "unset", "wait", "newgrp", "{", "}", "!", "[[", "((",
]); // prettier-ignore

/** Options that make a program run another one, by program or by program and subcommand. */
const runOptions = toTable([
  ["compgen, complete, mapfile, readarray", "-C"], ["fish", "-C --command --init-command"],
  ["fd, fdfind", "-x -X --exec --exec-batch"], ["find, gfind", "-exec -execdir -ok -okdir"],
  ["git", "--exec --ext-diff --extcmd --open-files-in-pager --receive-pack --upload-pack"], ["git clone", "-c -u --config"],
  ["git difftool, git rebase", "-x"], ["git grep", "-O"], ["go", "-exec -toolexec -vettool"], ["helm", "--post-renderer"],
  ["man", "-P -H --html --pager"], ["nix", "-c --command"],
  ["npm", "--browser --editor --git --script-shell --shell --viewer --node-options"], ["rg", "--hostname-bin --pre"],
  ["rsync", "-e --rsh --rsync-path --daemon"], ["scp, sftp, ssh", "-D -S -o"], ["sort", "--compress-program"], ["split", "--filter"],
  ["tar", "-F -I --checkpoint-action --info-script --new-volume-script --rmt-command --rsh-command --to-command --use-compress-program"],
  ["wget", "--use-askpass"], ["zip", "-TT --unzip-command"],
]); // prettier-ignore

/** Options that make a program write files, or change how it works. A letter may be in a group, or have its value. */
const writeOptions = toTable([
  ["apt, apt-get", "-c -o --config-file --option"], ["cargo", "--config -Z"], ["cc, c++, clang, clang++, gcc, g++", "-B -fplugin -load -o -specs -wrapper"],
  ["cmake", "-C -D -E -P"], ["ctags", "--options -o -f"],
  ["curl", "-K -o -O -T -c -D -w --alt-svc --config --etag-save --expand-output --hsts --remote-name-all --ssl-sessions --write-out --output --output-dir --remote-name --upload-file --cookie-jar --dump-header --trace --trace-ascii --stderr --libcurl --engine"],
  ["date", "-s --set"], ["diff", "--to-file"], ["find, gfind", "-delete -fls -fprint -fprint0 -fprintf -files0-from"],
  ["git", "--output --output-directory --separate-git-dir --strategy --template --unsafe-paths"], ["git archive, git format-patch", "-o"],
  // A strategy unknown to git is a program with that name.
  ["git cherry-pick, git merge, git pull, git rebase", "-s"],
  ["go", "-gccgoflags -ldflags -overlay -modfile -o"], ["gradle", "-I -b -c --build-file --init-script --settings-file"], ["less", "-k -o -O --log-file"],
  ["make, gmake", "-E -f -C --directory --eval --file --makefile -I"], ["man", "-C --config-file"], ["mvn", "-D -f --define --file -s --settings"], ["ninja", "-C -f"],
  ["npm", "--prefix --userconfig --globalconfig -C"], ["pip", "--config-settings --global-option --install-option"], ["printf", "-v"],
  ["rg", "-z --search-zip"], ["scp, sftp, ssh", "-E -F -I -b"], ["sort", "-o -T --output --temporary-directory"],
  ["tail", "--pid"], ["tar", "-P --absolute-names"], ["test", "-v -R"], ["tree", "-o -R"],
  ["wget", "-O -P -o -a -e --config --execute --output-document --output-file --append-output --directory-prefix --save-cookies"], ["zip", "-T --test"],
]); // prettier-ignore

/** Options before the first operand; `git -c alias.x=…` makes any word a program. */
const riskyFrontOptions: Readonly<Record<string, readonly string[]>> = {
  git: ["-c", "-C", "-p", "--config-env", "--exec-path", "--git-dir", "--namespace", "--paginate", "--work-tree"],
  docker: ["-H", "--config", "--context", "--host"],
  go: ["-C"],
};

/** Matches texts with which programs for databases start a shell. */
const databaseEscape = /\\!|\\[a-z]+\s*\||(?:^|[;\n])\s*(?:system\b|\.s[hy])|\bprogram\b/i;

const makeText = /[=$]|^-E|^--eva|^(?:-f)?-$|^\/(?:dev|proc)\//;

/** Words with the same effect as such options. */
const riskyWords: Readonly<Record<string, RegExp>> = {
  // files with options
  cc: /^@/, "c++": /^@/, clang: /^@/, "clang++": /^@/, gcc: /^@/, "g++": /^@/,
  // variables that may be programs, and text that make runs
  gmake: makeText, make: makeText,
  mvn: /^exec:/,
  // another machine, which is reached through another program
  tar: /^[^/]+:/,
  alias: /=/, enable: /^-\w*f/, hash: /^-\w*p/, cargo: /(?:alias|linker|runner|wrapper)[^=]*=/, docker: /^--entrypoint/, env: /^-\w*S|^--split/, genv: /^-\w*S|^--split/, less: /^\+.*!/,
  podman: /^--entrypoint/,
  // The option histexpand makes the shell replace `!` by words of earlier lines.
  set: /^-[A-Za-z]*H|^histexpand$|^-.*\0/,
  mariadb: databaseEscape, mysql: databaseEscape, psql: databaseEscape, sqlite: databaseEscape,
}; // prettier-ignore

/** Further subcommands that run the words after them, or change programs that others run. A rule must have them. */
const riskySubcommands: Readonly<Record<string, string>> = {
  bazel: "run", bundle: "config", composer: "exec run-script global", docker: "build buildx compose container plugin", gh: "alias config extension",
  go: "env generate run tool", ip: "vrf", kubectl: "plugin", npm: "c config edit init create innit pkg set set-script", pnpm: "config create x",
  podman: "build", poetry: "config", rustup: "override toolchain", yarn: "config create",
}; // prettier-ignore

/** Subcommands of git with more effects than their name suggests, which a rule for `git` does not cover. */
const riskyGitSubcommands: ReadonlySet<string> = new Set((
  "bisect bundle clone config credential difftool fast-import fetch-pack filter-branch for-each-repo help hook index-pack interpret-trailers " +
  "lfs maintenance mergetool receive-pack remote send-email send-pack shell submodule subtree var"
).split(" ")); // prettier-ignore

/** Returns a name without its version: `python3.12` is python. */
export function toPlainName(program: string): string {
  return program.replace(/(?<=[a-z])-?\d+(?:\.\d+)*$/, "");
}

/** Returns the first word that a rule for the command must contain, but lacks among its first `named` words. */
export function findUnnamedWord(words: readonly string[], named: number): string | undefined {
  const program = toProgramName(words[0] ?? "");
  const behind = words.slice(1);
  if (shellCommands.has(program)) return words[0];
  if (isRunner(program)) {
    const target = behind.findIndex(isTarget);
    if (target < 0 || target > named - 2) return behind[target] ?? program;
    // The inner command is judged like a separate one.
    const inner = findUnnamedWord(behind.slice(target), named - 1 - target);
    if (inner !== undefined) return inner;
  }
  const [isWriteOption, isRunOption] = [createOptionTest(writeOptions, words), createRunOptionTest(words)];
  const firstTarget = behind.findIndex(isTarget);
  const front = firstTarget < 0 ? behind : behind.slice(0, firstTarget);
  return (
    (firstTarget >= named - 1 ? findSubcommand(program, behind[firstTarget]) : undefined) ??
    words.slice(named).find((word) => isWriteOption(word) || isRunOption(word)) ??
    findRiskyWord(words, named) ??
    front.slice(named - 1).find((word) => isOption(word, get(riskyFrontOptions, program)))
  );
}

/** True if a word is an option of this command whose value it runs. */
export function createRunOptionTest(words: readonly string[]): (word: string) => boolean {
  return createOptionTest(runOptions, words);
}

function createOptionTest(table: typeof runOptions, words: readonly string[]): (word: string) => boolean {
  const program = toProgramName(words[0] ?? "");
  const found = [program, toPlainName(program)].flatMap((name) => findEntries(table, name, words));
  const options = found.flatMap(({ value }) => value.split(" "));
  return (word) => isOption(word, options);
}

/** Returns the first word after a place that makes the program run another one, apart from options. */
export function findRiskyWord(words: readonly string[], from: number): string | undefined {
  const program = toProgramName(words[0] ?? "");
  const pattern = get(riskyWords, program) ?? get(riskyWords, toPlainName(program));
  const [, bundle = ""] = words;
  // In `tar cIf PROGRAM …`, letters need no dash, and their values follow in order.
  const isBundle = program === "tar" && from === 1 && /^[A-Za-z]/.test(bundle);
  if (isBundle && isOption(`-${bundle}`, ["-F", "-I", "-P"])) return bundle;
  return words.slice(from).find((word) => pattern?.test(word));
}

/** True if it runs the words after it: `Shell(xargs)` allows no command, but `Shell(xargs ls)` does. */
export function isRunner(program: string): boolean {
  return [program, toPlainName(program)].some((name) => otherRunners.has(name) || isListedRunner(name));
}

function findSubcommand(program: string, word: string | undefined): string | undefined {
  if (word === undefined) return undefined;
  if (program === "git") return gitSubcommands.has(word) && !riskyGitSubcommands.has(word) ? undefined : word;
  const risky = get(riskySubcommands, program)
    ?.split(" ")
    .some((name) => isCutShort(word, name));
  return risky || runsSubcommand(program, word) ? word : undefined;
}

function get<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** True unless the word is an option, a variable, a number or a time such as the 5 of `timeout 5`. */
function isTarget(word: string): boolean {
  return !/^-|^[A-Za-z_]\w*=|^\d[\d.]*[smhd]?$/.test(word);
}

/** True for one of these options. Long ones may be shortened: `--outp` is `--output`. Some need only one dash. */
function isOption(word: string, names: readonly string[] = []): boolean {
  const [name = ""] = word.split("=", 1);
  if (/^--./.test(name)) return names.some((option) => option.startsWith(name) || option === name.slice(1));
  // The letter may be in a group (`-ni`), or have its value right after it (`-i.bak`).
  const isGroup = /^-[^-]/.test(word);
  return names.some(
    (option) => name === option || (isGroup && /^-[A-Za-z]$/.test(option) && word.includes(option[1]!, 1)),
  );
}

/** Matches programs that only limit another one's time or priority: its rule covers both. A blank ends a word. */
const wrapper = new RegExp(
  String.raw`^(?:time (?:-p )?|nohup |nice (?:-\d+ |-n ?-?\d+ |--adjustment=-?\d+ )*|timeout (?:--foreground |--preserve-status |-v |--verbose |--(?:signal|kill-after)=\w+ |-[sk] ?\w+ )*\d+(?:\.\d+)?[smhd]? )(?![- ]|[^ ]*=|$)`.replaceAll(
    " ",
    "\u0001",
  ),
);

/** Most wrappers around one program. */
const MAX_WRAPPERS = 3;

/** Returns the words of a wrapper's program, or all words without a known wrapper. No command contains U+0001. */
export function unwrapCommand(words: readonly string[]): readonly string[] {
  let rest = words;
  for (let depth = 0; depth < MAX_WRAPPERS; depth += 1) {
    const [front = ""] = wrapper.exec(rest.join("\u0001")) ?? [];
    rest = rest.slice(front.split("\u0001").length - 1);
  }
  return rest;
}
