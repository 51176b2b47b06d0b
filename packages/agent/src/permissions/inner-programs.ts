/**
 * Programs that run other programs, and options that make a program do so or write files: a rule that does not name
 * them does not allow them (S-10). The list helps; it is not the boundary.
 */

/** What follows is what runs, so a rule must name it too: `Shell(xargs)` allows nothing, `Shell(xargs ls)` does. */
const runners: ReadonlySet<string> = new Set([
  ".", "ash", "awk", "bash", "builtin", "bun", "busybox", "chroot", "command", "coproc", "cscript", "csh", "dash", "deno",
  "doas", "ed", "env", "eval", "ex", "exec", "expect", "fish", "flock", "gawk", "gdb", "ionice", "ksh", "lua", "ltrace",
  "mawk", "nawk", "nice", "node", "nohup", "nsenter", "osascript", "parallel", "perl", "php", "pkexec", "python",
  "python2", "python3", "ruby", "runuser", "rush", "script", "sed", "setsid", "sh", "source", "ssh", "stdbuf", "strace",
  "su", "sudo", "tclsh", "tcsh", "time", "timeout", "unshare", "vi", "vim", "watch", "xargs", "zsh",
]); // prettier-ignore

/** Options by program; one letter also stands for the option with its value behind it. */
const options: Readonly<Record<string, readonly string[]>> = {
  curl: ["-K", "-o", "-O", "-T", "--config", "--output", "--output-dir", "--remote-name", "--upload-file"],
  cargo: ["--config"],
  fd: ["-x", "-X", "--exec", "--exec-batch"],
  find: ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"],
  git: ["-O", "-x", "--exec", "--ext-diff", "--open-files-in-pager", "--output", "--receive-pack", "--upload-pack"],
  go: ["-exec", "-toolexec", "-vettool", "-overlay"],
  less: ["-k", "-o", "-O"],
  make: ["-f", "-C", "--directory", "--eval", "--file", "--makefile"],
  man: ["-P", "-H", "--html", "--pager"],
  npm: ["--script-shell"],
  rg: ["--hostname-bin", "--pre"],
  rsync: ["-e", "--rsh", "--rsync-path"],
  scp: ["-o", "-S", "-F"],
  sed: ["-i", "-f", "--file", "--in-place"],
  sort: ["-o", "--compress-program", "--output"],
  tar: ["-F", "-I", "--checkpoint-action", "--info-script", "--new-volume-script", "--rsh-command", "--to-command", "--use-compress-program"],
  tree: ["-o"],
  uniq: [],
  wget: ["-O", "-P", "--config", "--output-document", "--use-askpass"],
  zip: ["-T", "-TT", "--unzip-command"],
}; // prettier-ignore

/** Options in front of the first word that is none; `git -c alias.x=…` makes any word a program. */
const frontOptions: Readonly<Record<string, readonly string[]>> = {
  git: ["-c", "-C", "--config-env", "--exec-path", "--git-dir", "--work-tree"],
};

/**
 * The word of a command that its rule would have to name, or undefined if the rule covers the command.
 * `named`: how many words the rule names.
 */
export function findInnerProgram(words: readonly string[], named: number): string | undefined {
  const program = toProgramName(words[0] ?? "");
  const behind = words.slice(1);
  if (runners.has(program) && !behind.slice(0, named - 1).some(isTarget)) return behind.find(isTarget) ?? program;
  const firstTarget = behind.findIndex(isTarget);
  const front = firstTarget < 0 ? behind : behind.slice(0, firstTarget);
  return (
    behind.slice(named - 1).find((word) => isOption(word, options[program])) ??
    front.slice(named - 1).find((word) => isOption(word, frontOptions[program]))
  );
}

/** No option, no variable, no number or time such as the 5 of `timeout 5`. */
function isTarget(word: string): boolean {
  return !/^-|=|^\d[\d.]*[smhd]?$/.test(word);
}

/** `/usr/bin/Find` is find. */
export function toProgramName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

function isOption(word: string, names: readonly string[] = []): boolean {
  return names.some(
    (name) => word === name || word.startsWith(`${name}=`) || (isShort(name) && isShortWith(word, name[1]!)),
  );
}

function isShort(name: string): boolean {
  return /^-[A-Za-z]$/.test(name);
}

/** The letter in a group (`-ni`), or with its value behind it (`-i.bak`). */
function isShortWith(word: string, letter: string): boolean {
  return /^-[A-Za-z]/.test(word) && word.includes(letter, 1);
}
