/**
 * What is known of programs: which run others, which options make them do so or write files, which change the shell. A
 * rule that does not name such a word does not cover it (S-10). The lists help; the boundary is the sandbox.
 */

/** What follows is what runs, so a rule must name it too: `Shell(xargs)` allows nothing, `Shell(xargs ls)` does. */
const runners: ReadonlySet<string> = new Set([
  "agetty", "aria2c", "ash", "at", "awk", "bash", "batch", "bc", "bun", "bunx", "busybox", "bwrap", "capsh", "catchsegv", "chroot",
  "chrt", "choom", "command", "cpulimit", "csh", "cscript", "dash", "dbus-run-session", "deno", "doas", "ed", "elixir", "emacs",
  "entr", "env", "erl", "ex", "expect", "fakeroot", "faketime", "firejail", "fish", "flock", "gawk", "gdb", "ghci", "groovy",
  "guile", "hyperfine", "inotifywait", "ionice", "irb", "java", "jshell", "julia", "ksh", "ld.so", "linux32", "linux64", "lua",
  "luajit", "ltrace", "m4", "mawk", "mksh", "nawk", "nc", "ncat", "netcat", "nice", "node", "nodejs", "nohup", "nsenter", "numactl",
  "octave", "osascript", "parallel", "perf", "perl", "php", "pipx", "pkexec", "pnpx", "powershell", "prlimit", "proot", "pwsh",
  "python", "python2", "python3", "r", "rscript", "racket", "rlwrap", "ruby", "run-parts", "runcon", "runuser", "rush", "sbcl",
  "scala", "screen", "script", "sed", "setarch", "setpriv", "setsid", "sg", "sh", "socat", "sqlite3", "ssh", "start-stop-daemon",
  "stdbuf", "strace", "su", "sudo", "swift", "systemd-run", "taskset", "tclsh", "tcsh", "telnet", "time", "timeout", "tmux",
  "torsocks", "ts-node", "tsx", "unbuffer", "unshare", "uvx", "valgrind", "vi", "view", "vim", "vimdiff", "watch", "watchexec",
  "wish", "x86_64", "xargs", "xterm", "xvfb-run", "zsh", "npx",
]); // prettier-ignore

/** Commands of the shell itself that change what later words mean, or run words. No rule covers them. */
const shellCommands: ReadonlySet<string> = new Set([
  ".", "alias", "bg", "bind", "break", "builtin", "caller", "compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs",
  "disown", "enable", "eval", "exec", "exit", "export", "fc", "fg", "getopts", "hash", "history", "jobs", "let", "local", "logout",
  "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "trap",
  "typeset", "ulimit", "umask", "unalias", "unset", "wait", "newgrp", "{", "}", "!", "[[", "((",
]); // prettier-ignore

/** Options by program; one letter also stands for the option with its value behind it. */
const riskyOptions: Readonly<Record<string, readonly string[]>> = {
  cargo: ["--config", "-Z"],
  clang: ["-B", "-fplugin", "-load", "-o", "-specs", "-wrapper"],
  cc: ["-B", "-fplugin", "-o", "-specs", "-wrapper"],
  ctags: ["--options", "-o", "-f"],
  curl: ["-K", "-o", "-O", "-T", "-c", "-D", "--config", "--output", "--output-dir", "--remote-name", "--upload-file", "--cookie-jar", "--dump-header", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--engine"],
  date: ["-s", "--set"],
  diff: ["--to-file"],
  fd: ["-x", "-X", "--exec", "--exec-batch"],
  fdfind: ["-x", "-X", "--exec", "--exec-batch"],
  find: ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf", "-files0-from"],
  gcc: ["-B", "-fplugin", "-o", "-specs", "-wrapper"],
  git: ["-O", "-x", "--exec", "--ext-diff", "--open-files-in-pager", "--output", "--receive-pack", "--upload-pack", "--template", "--config"],
  go: ["-exec", "-toolexec", "-vettool", "-overlay", "-modfile", "-o"],
  grep: [],
  less: ["-k", "-o", "-O", "--log-file"],
  make: ["-f", "-C", "--directory", "--eval", "--file", "--makefile", "-I"],
  man: ["-P", "-H", "-C", "--html", "--pager", "--config-file"],
  mvn: ["-f", "--file", "-s", "--settings"],
  npm: ["--script-shell", "--prefix", "--userconfig", "--globalconfig", "--node-options", "-C"],
  pip: ["--config-settings", "--global-option", "--install-option"],
  printf: ["-v"],
  rg: ["--hostname-bin", "--pre", "-z", "--search-zip"],
  rsync: ["-e", "--rsh", "--rsync-path", "--daemon"],
  scp: ["-o", "-S", "-F"],
  sftp: ["-b", "-o", "-S", "-F"],
  sort: ["-o", "-T", "--compress-program", "--output", "--temporary-directory"],
  split: ["--filter"],
  tail: ["--pid"],
  tar: ["-F", "-I", "-P", "--absolute-names", "--checkpoint-action", "--info-script", "--new-volume-script", "--rmt-command", "--rsh-command", "--to-command", "--use-compress-program"],
  tee: [],
  test: ["-v", "-R"],
  tree: ["-o", "-R"],
  wget: ["-O", "-P", "-o", "-a", "-e", "--config", "--execute", "--output-document", "--output-file", "--append-output", "--directory-prefix", "--use-askpass", "--save-cookies"],
  zip: ["-T", "-TT", "--unzip-command", "--test"],
}; // prettier-ignore

/** Options in front of the first word that is none; `git -c alias.x=…` makes any word a program. */
const riskyFrontOptions: Readonly<Record<string, readonly string[]>> = {
  git: ["-c", "-C", "-p", "--config-env", "--exec-path", "--git-dir", "--namespace", "--paginate", "--work-tree"],
  docker: ["-H", "--config", "--context", "--host"],
  go: ["-C"],
};

/** Subcommands that run what follows them, or change what others run: a rule must name them. */
const riskySubcommands: Readonly<Record<string, readonly string[]>> = {
  bundle: ["exec", "config"],
  composer: ["exec", "run-script", "global"],
  conda: ["run"],
  docker: ["build", "buildx", "compose", "container", "create", "exec", "plugin", "run"],
  go: ["env", "generate", "run", "tool"],
  kubectl: ["debug", "exec", "plugin", "run"],
  npm: ["c", "config", "exec", "explore", "init", "create", "innit", "set", "x"],
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

/** `/usr/bin/Find` is find. */
export function toProgramName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

/**
 * The word of a command that its rule would have to name, or undefined if the rule covers the command.
 * `named`: how many words the rule names.
 */
export function findUnnamedWord(words: readonly string[], named: number): string | undefined {
  const program = toProgramName(words[0] ?? "");
  const behind = words.slice(1);
  if (shellCommands.has(program)) return words[0];
  if (runners.has(program) && !behind.slice(0, named - 1).some(isTarget)) return behind.find(isTarget) ?? program;
  const firstTarget = behind.findIndex(isTarget);
  const front = firstTarget < 0 ? behind : behind.slice(0, firstTarget);
  return (
    (firstTarget >= named - 1 ? findSubcommand(program, behind[firstTarget]) : undefined) ??
    behind.slice(named - 1).find((word) => isRiskyWord(program, word)) ??
    front.slice(named - 1).find((word) => isOption(word, riskyFrontOptions[program]))
  );
}

function findSubcommand(program: string, word: string | undefined): string | undefined {
  if (word === undefined) return undefined;
  if (program === "git") return plainGitSubcommands.has(word) ? undefined : word;
  const risky = Object.hasOwn(riskySubcommands, program) ? riskySubcommands[program]! : [];
  return risky.includes(word) ? word : undefined;
}

function isRiskyWord(program: string, word: string): boolean {
  // A variable of make may be a program, and a text that make runs.
  if (/^g?make$/.test(program) && /[=$]/.test(word)) return true;
  return isOption(word, Object.hasOwn(riskyOptions, program) ? riskyOptions[program] : []);
}

/** No option, no variable, no number or time such as the 5 of `timeout 5`. */
function isTarget(word: string): boolean {
  return !/^-|^[A-Za-z_]\w*=|^\d[\d.]*[smhd]?$/.test(word);
}

/** Long options may be cut short: `--outp` is `--output`. */
function isOption(word: string, names: readonly string[] = []): boolean {
  const [name = ""] = word.split("=", 1);
  if (/^--./.test(name)) return names.some((option) => option.startsWith(name));
  return names.some((option) => name === option || (isShort(option) && isShortWith(word, option[1]!)));
}

function isShort(name: string): boolean {
  return /^-[A-Za-z]$/.test(name);
}

/** The letter in a group (`-ni`), or with its value behind it (`-i.bak`). */
function isShortWith(word: string, letter: string): boolean {
  return /^-[A-Za-z0-9]/.test(word) && word.includes(letter, 1);
}

/** Programs that read an argument as a command again. */
const shells: ReadonlySet<string> = new Set([
  "ash", "bash", "busybox", "csh", "dash", "env", "eval", "fish", "flock", "ksh", "mksh", "parallel", "runuser", "screen", "script",
  "sg", "sh", "ssh", "su", "tcsh", "tmux", "trap", "watch", "xterm", "zsh",
]); // prettier-ignore

/** Whether one of the words is a text that a shell reads again: what it runs is not known from the words alone. */
export function takesCommandText(words: readonly string[]): boolean {
  const at = words.findIndex((word) => shells.has(toProgramName(word)));
  return at >= 0 && words.slice(at + 1).some((word) => /[^\w./:@%+=,^~-]/.test(word));
}
