/**
 * What is known of programs: which run others, which options make them do so or write files, which change the shell. A
 * rule that does not name such a word does not cover it (S-10). The lists help; the boundary is the sandbox.
 */
import { isListedRunner } from "./runners.ts";

/** Programs beside those of the tables of runners that run others, or whose language does. */
const otherRunners: ReadonlySet<string> = new Set([
  "aria2c", "awk", "bc", "deno", "gawk", "java", "mariadb", "mawk", "mysql", "nawk", "nc", "ncat", "netcat", "perf", "pipx",
  "psql", "run-parts", "sed", "socat", "sqlite", "sqlite3", "swift", "telnet",
]); // prettier-ignore

/** Commands of the shell itself that change what later words mean, or run words. No rule covers them. */
const shellCommands: ReadonlySet<string> = new Set([
  ".", "alias", "bg", "bind", "break", "builtin", "caller", "compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs",
  "disown", "enable", "eval", "exec", "exit", "export", "fc", "fg", "getopts", "hash", "history", "jobs", "let", "local", "logout",
  "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "trap",
  "typeset", "ulimit", "umask", "unalias", "unset", "wait", "newgrp", "{", "}", "!", "[[", "((",
]); // prettier-ignore

/** Options of compilers that run or load programs, or set the output file. */
const compilerOptions = ["-B", "-fplugin", "-load", "-o", "-specs", "-wrapper"] as const;

/** Options by program; a one-letter option also matches when its value follows. */
const riskyOptions: Readonly<Record<string, readonly string[]>> = {
  apt: ["-c", "-o", "--config-file", "--option"],
  "apt-get": ["-c", "-o", "--config-file", "--option"],
  cargo: ["--config", "-Z"],
  clang: compilerOptions,
  "clang++": compilerOptions,
  "c++": compilerOptions,
  cc: compilerOptions,
  cmake: ["-C", "-D", "-E", "-P"],
  ctags: ["--options", "-o", "-f"],
  curl: ["-K", "-o", "-O", "-T", "-c", "-D", "-w", "--alt-svc", "--config", "--etag-save", "--expand-output", "--hsts", "--remote-name-all", "--ssl-sessions", "--write-out", "--output", "--output-dir", "--remote-name", "--upload-file", "--cookie-jar", "--dump-header", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--engine"],
  date: ["-s", "--set"],
  diff: ["--to-file"],
  fd: ["-x", "-X", "--exec", "--exec-batch"],
  fdfind: ["-x", "-X", "--exec", "--exec-batch"],
  find: ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf", "-files0-from"],
  gcc: compilerOptions,
  "g++": compilerOptions,
  git: ["-O", "-x", "--exec", "--ext-diff", "--open-files-in-pager", "--output", "--output-directory", "--receive-pack", "--separate-git-dir", "--strategy", "--template", "--unsafe-paths", "--upload-pack", "--config"],
  go: ["-exec", "-gccgoflags", "-ldflags", "-toolexec", "-vettool", "-overlay", "-modfile", "-o"],
  gradle: ["-I", "-b", "-c", "--build-file", "--init-script", "--settings-file"],
  grep: [],
  less: ["-k", "-o", "-O", "--log-file"],
  helm: ["--post-renderer"],
  make: ["-E", "-f", "-C", "--directory", "--eval", "--file", "--makefile", "-I"],
  man: ["-P", "-H", "-C", "--html", "--pager", "--config-file"],
  mvn: ["-D", "-f", "--define", "--file", "-s", "--settings"],
  ninja: ["-C", "-f"],
  npm: ["--browser", "--editor", "--git", "--script-shell", "--shell", "--viewer", "--prefix", "--userconfig", "--globalconfig", "--node-options", "-C"],
  pip: ["--config-settings", "--global-option", "--install-option"],
  printf: ["-v"],
  rg: ["--hostname-bin", "--pre", "-z", "--search-zip"],
  rsync: ["-e", "--rsh", "--rsync-path", "--daemon"],
  scp: ["-D", "-o", "-S", "-F"],
  sftp: ["-b", "-D", "-o", "-S", "-F"],
  sort: ["-o", "-T", "--compress-program", "--output", "--temporary-directory"],
  split: ["--filter"],
  ssh: ["-E", "-F", "-I", "-o", "-S"],
  tail: ["--pid"],
  tar: ["-F", "-I", "-P", "--absolute-names", "--checkpoint-action", "--info-script", "--new-volume-script", "--rmt-command", "--rsh-command", "--to-command", "--use-compress-program"],
  tee: [],
  test: ["-v", "-R"],
  tree: ["-o", "-R"],
  wget: ["-O", "-P", "-o", "-a", "-e", "--config", "--execute", "--output-document", "--output-file", "--append-output", "--directory-prefix", "--use-askpass", "--save-cookies"],
  zip: ["-T", "-TT", "--unzip-command", "--test"],
}; // prettier-ignore

/** Options before the first operand; `git -c alias.x=…` makes any word a program. */
const riskyFrontOptions: Readonly<Record<string, readonly string[]>> = {
  git: ["-c", "-C", "-p", "--config-env", "--exec-path", "--git-dir", "--namespace", "--paginate", "--work-tree"],
  docker: ["-H", "--config", "--context", "--host"],
  go: ["-C"],
};

/** Options of one subcommand that mean something harmless to others. */
const riskyGitOptions: Readonly<Record<string, readonly string[]>> = {
  archive: ["-o"],
  "cherry-pick": ["-s"],
  clone: ["-c", "-u"],
  "format-patch": ["-o"],
  // A strategy that git does not know is a program of that name.
  merge: ["-s"],
  pull: ["-s"],
  rebase: ["-s"],
};

/** Words that are not options, but do what a risky option does. */
const riskyWords: Readonly<Record<string, RegExp>> = {
  // files of options
  cc: /^@/, "c++": /^@/, clang: /^@/, "clang++": /^@/, gcc: /^@/, "g++": /^@/,
  // a variable may be a program, and a text that make runs
  gmake: /[=$]/, make: /[=$]/,
  mvn: /^exec:/,
  // another machine, reached through another program
  tar: /^[^/]+:/,
}; // prettier-ignore

/** Subcommands that run what follows them, or change what others run: a rule must name them. */
const riskySubcommands: Readonly<Record<string, readonly string[]>> = {
  bundle: ["exec", "config"],
  composer: ["exec", "run-script", "global"],
  conda: ["run"],
  bazel: ["run"],
  docker: ["build", "buildx", "compose", "container", "create", "exec", "plugin", "run"],
  gh: ["alias", "config", "extension"],
  go: ["env", "generate", "run", "tool"],
  ip: ["netns", "vrf"],
  kubectl: ["debug", "exec", "plugin", "run"],
  npm: ["c", "config", "edit", "exec", "explore", "init", "create", "innit", "pkg", "set", "set-script", "x"],
  nix: ["develop", "run", "shell"],
  pnpm: ["config", "create", "dlx", "exec", "x"],
  podman: ["build", "exec", "run"],
  poetry: ["config", "run"],
  rustup: ["run", "override", "toolchain"],
  uv: ["run", "tool"],
  yarn: ["config", "create", "dlx", "exec", "node"],
};

/** Subcommands of git that do what their name says, so that a rule for `git` covers them. An alias has another name. */
const plainGitSubcommands: ReadonlySet<string> = new Set([
  "add", "am", "apply", "archive", "blame", "branch", "cat-file", "check-ignore", "checkout", "cherry", "cherry-pick", "clean",
  "commit", "count-objects", "describe", "diff", "fetch", "for-each-ref", "format-patch", "fsck", "gc", "grep", "init", "log",
  "ls-files", "ls-remote", "ls-tree", "merge", "merge-base", "mv", "name-rev", "notes", "pull", "push", "range-diff", "rebase",
  "reflog", "reset", "restore", "rev-list", "rev-parse", "revert", "rm", "shortlog", "show", "show-ref", "stash", "status",
  "switch", "symbolic-ref", "tag", "version", "whatchanged", "worktree",
]); // prettier-ignore

/** `/usr/bin/Find` is find, and so is find.exe. */
export function toProgramName(word: string): string {
  const name = word.slice(word.lastIndexOf("/") + 1).toLowerCase();
  return name.replace(/\.(?:cmd|exe)$/, "");
}

/** `python3.12` is python. */
export function toPlainName(program: string): string {
  return program.replace(/(?<=[a-z])-?\d+(?:\.\d+)*$/, "");
}

/**
 * The word of a command that its rule would have to name, or undefined if the rule covers the command.
 * `named`: how many words the rule names.
 */
export function findUnnamedWord(words: readonly string[], named: number): string | undefined {
  const program = toProgramName(words[0] ?? "");
  const behind = words.slice(1);
  if (shellCommands.has(program)) return words[0];
  if (isRunner(program)) {
    const target = behind.findIndex(isTarget);
    if (target < 0 || target > named - 2) return behind[target] ?? program;
    // What it runs is judged like a separate command.
    const inner = findUnnamedWord(behind.slice(target), named - 1 - target);
    if (inner !== undefined) return inner;
  }
  const firstTarget = behind.findIndex(isTarget);
  const front = firstTarget < 0 ? behind : behind.slice(0, firstTarget);
  return (
    (firstTarget >= named - 1 ? findSubcommand(program, behind[firstTarget]) : undefined) ??
    behind.slice(named - 1).find((word) => isRiskyWord(program, word)) ??
    (program === "git" ? findGitOption(behind, firstTarget, named - 1) : undefined) ??
    (program === "tar" && named === 1 ? findBundle(behind) : undefined) ??
    front.slice(named - 1).find((word) => isOption(word, riskyFrontOptions[program]))
  );
}

/** What follows is what runs, so a rule must name it too: `Shell(xargs)` allows nothing, `Shell(xargs ls)` does. */
export function isRunner(program: string): boolean {
  return [program, toPlainName(program)].some((name) => otherRunners.has(name) || isListedRunner(name));
}

function findSubcommand(program: string, word: string | undefined): string | undefined {
  if (word === undefined) return undefined;
  if (program === "git") return plainGitSubcommands.has(word) ? undefined : word;
  const risky = Object.hasOwn(riskySubcommands, program) ? riskySubcommands[program]! : [];
  // Some take a name that is cut short.
  return risky.some((name) => name === word || (word.length > 1 && name.startsWith(word))) ? word : undefined;
}

function findGitOption(behind: readonly string[], subcommand: number, from: number): string | undefined {
  const name = behind[subcommand] ?? "";
  const options = Object.hasOwn(riskyGitOptions, name) ? riskyGitOptions[name] : undefined;
  return options && behind.slice(Math.max(from, subcommand + 1)).find((word) => isOption(word, options));
}

/** `tar cIf PROGRAM …`: letters without a dash, whose values follow in their order. */
function findBundle([bundle = ""]: readonly string[]): string | undefined {
  return /^[A-Za-z]/.test(bundle) && isOption(`-${bundle}`, riskyOptions["tar"]) ? bundle : undefined;
}

function isRiskyWord(program: string, word: string): boolean {
  const plain = Object.hasOwn(riskyOptions, program) ? program : toPlainName(program);
  if (Object.hasOwn(riskyWords, plain) && riskyWords[plain]!.test(word)) return true;
  return isOption(word, Object.hasOwn(riskyOptions, plain) ? riskyOptions[plain] : []);
}

/** No option, no variable, no number or time such as the 5 of `timeout 5`. */
function isTarget(word: string): boolean {
  return !/^-|^[A-Za-z_]\w*=|^\d[\d.]*[smhd]?$/.test(word);
}

/** Long options may be cut short: `--outp` is `--output`; some programs take one dash or two. */
function isOption(word: string, names: readonly string[] = []): boolean {
  const [name = ""] = word.split("=", 1);
  if (/^--./.test(name)) return names.some((option) => option.startsWith(name) || option === name.slice(1));
  return names.some((option) => name === option || (isShort(option) && isShortWith(word, option[1]!)));
}

function isShort(name: string): boolean {
  return /^-[A-Za-z]$/.test(name);
}

/** The letter in a group (`-ni`), or followed by its value (`-i.bak`). */
function isShortWith(word: string, letter: string): boolean {
  return /^-[^-]/.test(word) && word.includes(letter, 1);
}

/** Whether words that are read at run time may follow those of a command. */
export function gathersWords(words: readonly string[]): boolean {
  return words.some((word) => /^(?:parallel|xargs)$/.test(toProgramName(word)));
}

/** Programs that only change how long or how eagerly another one runs: a rule for that one covers both. */
const wrappers: Readonly<
  Record<string, { readonly switches: RegExp; readonly valued: RegExp; readonly own: RegExp[] }>
> = {
  time: { switches: /^-p$/, valued: /^$/, own: [] },
  nohup: { switches: /^$/, valued: /^$/, own: [] },
  nice: { switches: /^(?:-\d+|-n-?\d+|--adjustment=-?\d+)$/, valued: /^-n$/, own: [] },
  timeout: {
    switches: /^(?:--foreground|--preserve-status|-v|--verbose|--(?:signal|kill-after)=\w+|-[sk]\w+)$/,
    valued: /^(?:-s|-k)$/,
    own: [/^\d+(?:\.\d+)?[smhd]?$/],
  },
};

/** How often a wrapper may wrap another one. */
const MAX_WRAPPERS = 3;

/** The words of the program that a wrapper runs; the same words if they are not a known wrapper. */
export function unwrapCommand(words: readonly string[]): readonly string[] {
  let rest = words;
  for (let depth = 0; depth < MAX_WRAPPERS; depth += 1) rest = unwrapOnce(rest) ?? rest;
  return rest;
}

function unwrapOnce(words: readonly string[]): readonly string[] | undefined {
  const [program = "", ...behind] = words;
  if (!Object.hasOwn(wrappers, program)) return undefined;
  const { switches, valued, own } = wrappers[program]!;
  let at = 0;
  while (at < behind.length) {
    if (valued.test(behind[at]!)) at += 2;
    else if (switches.test(behind[at]!)) at += 1;
    else break;
  }
  if (own.some((pattern, index) => !pattern.test(behind[at + index] ?? ""))) return undefined;
  const inner = behind.slice(at + own.length);
  const first = inner[0] ?? "";
  return first === "" || first.startsWith("-") || first.includes("=") ? undefined : inner;
}
