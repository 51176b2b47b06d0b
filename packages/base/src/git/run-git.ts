/**
 * Runs git for Sheaf itself: on Sheaf's bare repositories, with fixed words, and without any program or file that a
 * repository's, the user's or the machine's configuration adds (S-124). It treats working trees only as data.
 */
import { spawn } from "node:child_process";
import { SheafError } from "../errors.ts";
import type { Environment } from "../paths.ts";

/** The program, and the repository on which it works. */
export interface GitSetup {
  /** Absolute path of git. */
  readonly program: string;
  /** Sheaf's bare repository, or the `.git` of a tree in which no command has run yet. Absolute. */
  readonly gitFolder: string;
  /** The user's environment, from which git gets only `PATH` and the agent of ssh. */
  readonly environment: Environment;
  /** A folder for new objects, and the folder of the other objects. Default: the repository's. Absolute. */
  readonly newObjects?: { readonly own: string; readonly shared: string } | undefined;
}

interface GitOptions {
  /** Working tree. Default: none. */
  readonly workTree?: string | undefined;
  /** The private index; default: none. */
  readonly index?: string | undefined;
  readonly input?: string | Uint8Array | undefined;
  /** A descriptor that git reads instead of `input`; the caller closes it. */
  readonly inputFile?: number | undefined;
  /** The time of a commit, in milliseconds since 1970. */
  readonly now?: number | undefined;
  /** Most bytes of output; more is a failure. Default: 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** Time limit. Default: 60 s. */
  readonly timeoutMs?: number | undefined;
  /** The only remote that git may reach. Default: none. */
  readonly remote?: RemoteAccess | undefined;
  /** The largest piece of memory that git may allocate at once, such as `1g`. Default: no limit. */
  readonly maxObject?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RemoteAccess {
  readonly protocol: "https" | "http" | "ssh" | "file";
  /** Further settings of git, by name. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Further variables, for the program that supplies credentials. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

interface GitOutcome {
  /** Exit code; -1 if git did not start, was stopped, or wrote too much. */
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Settings that stop git from running or reading anything outside its repository. They override every file. */
const safeSettings: Readonly<Record<string, string>> = {
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.untrackedCache": "false",
  "core.attributesFile": "/dev/null",
  "core.excludesFile": "/dev/null",
  "core.alternateRefsCommand": "true",
  "core.autocrlf": "false",
  "core.protectHFS": "true",
  "core.protectNTFS": "true",
  "core.sshCommand": "ssh -o BatchMode=yes",
  "core.askPass": "",
  "credential.helper": "",
  "commit.gpgSign": "false",
  "push.gpgSign": "false",
  "diff.external": "",
  "submodule.recurse": "false",
  "fetch.recurseSubmodules": "false",
  "uploadpack.packObjectsHook": "",
  "receive.autogc": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
};

const who = { name: "Sheaf", email: "sheaf@localhost" };

const DEFAULT_MS = 60_000;
const DEFAULT_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_BYTES = 16 * 1024;

/** Runs git to its end. A failure of git is a value. */
export async function runGit(setup: GitSetup, args: readonly string[], options: GitOptions = {}): Promise<GitOutcome> {
  const { remote, workTree } = options;
  const settings = {
    ...safeSettings,
    ...remote?.settings,
  };
  const words = [
    `--git-dir=${setup.gitFolder}`,
    ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ...args,
  ];
  const child = spawn(setup.program, words, {
    cwd: workTree ?? "/",
    env: toEnvironment(setup, options),
    stdio: [options.inputFile ?? "pipe", "pipe", "pipe"],
    // A new group, so that ssh and other helpers end with git.
    detached: true,
  });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // The process has already ended.
    }
  };
  const timer = setTimeout(end, options.timeoutMs ?? DEFAULT_MS);
  options.signal?.addEventListener("abort", end, { once: true });
  const stdout: Buffer[] = [];
  let free = options.maxBytes ?? DEFAULT_BYTES;
  let stderr = "";
  child.stdout!.on("data", (chunk: Buffer) => {
    free -= chunk.length;
    if (free < 0) end();
    else stdout.push(chunk);
  });
  child.stderr!.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(0, MAX_STDERR_BYTES)));
  // Git may end before it has read all input.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(options.input ?? "");
  try {
    const exitCode = await new Promise<number>((resolve) => {
      child.once("error", (error) => {
        stderr = error.message;
        resolve(-1);
      });
      child.once("close", (code) => resolve(free < 0 ? -1 : (code ?? -1)));
    });
    return { exitCode, stdout: Buffer.concat(stdout), stderr: stderr.trim() };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", end);
  }
}

/** Runs git and returns its output. @throws SheafError INTERNAL with the purpose that failed and git's reason. */
export async function askGit(
  setup: GitSetup,
  args: readonly string[],
  { purpose, ...options }: GitOptions & { readonly purpose: string },
): Promise<Buffer> {
  const outcome = await runGit(setup, args, options);
  if (outcome.exitCode === 0) return outcome.stdout;
  throw new SheafError("INTERNAL", `git could not ${purpose}: ${toReason(outcome)}`, { details: outcome.stderr });
}

/** Returns the first error line of git, or else its last line, without the prefix. */
export function toReason({ stderr, exitCode }: Pick<GitOutcome, "stderr" | "exitCode">): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const line = lines.find((text) => /^(?:fatal|error): /.test(text)) ?? lines.at(-1);
  if (line === undefined) return exitCode === -1 ? "it took too long, or wrote too much" : `exit code ${exitCode}`;
  return line.replace(/^(?:fatal|error): /, "").slice(0, 300);
}

function toEnvironment(
  { environment, gitFolder, newObjects }: GitSetup,
  { index, now, remote, maxObject }: GitOptions,
): NodeJS.ProcessEnv {
  const time = now === undefined ? {} : { GIT_AUTHOR_DATE: toGitTime(now), GIT_COMMITTER_DATE: toGitTime(now) };
  const agent = remote?.protocol === "ssh" ? environment.SSH_AUTH_SOCK : undefined;
  return {
    PATH: (environment.PATH ?? "")
      .split(":")
      .filter((folder) => folder.startsWith("/"))
      .concat("/usr/bin", "/bin")
      .join(":"),
    // A folder that git only reads, and that contains no file of the user.
    HOME: gitFolder,
    XDG_CONFIG_HOME: gitFolder,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    // This overrides the protocols that the repository's configuration allows.
    GIT_ALLOW_PROTOCOL: remote?.protocol ?? "none",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_EDITOR: "false",
    GIT_PAGER: "cat",
    GIT_AUTHOR_NAME: who.name,
    GIT_AUTHOR_EMAIL: who.email,
    GIT_COMMITTER_NAME: who.name,
    GIT_COMMITTER_EMAIL: who.email,
    ...time,
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
    ...(newObjects && {
      GIT_OBJECT_DIRECTORY: newObjects.own,
      // Git splits the value at colons, unless they are in quotes.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: toQuotedPath(newObjects.shared),
    }),
    ...(maxObject !== undefined && { GIT_ALLOC_LIMIT: maxObject }),
    ...(agent !== undefined && { SSH_AUTH_SOCK: agent }),
    ...remote?.variables,
  };
}

/** Quotes a path for lists of alternates and for commands of `fast-import`. */
export function toQuotedPath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`)}"`;
}

function toGitTime(now: number): string {
  return `@${Math.floor(now / 1000)} +0000`;
}
