/**
 * Git as Sheaf itself runs it: on a bare repository of its own, with fixed words, and with nothing that a repository, the
 * user's or the machine's configuration names (S-124). Working trees are only ever data to it.
 */
import { spawn } from "node:child_process";
import { SheafError } from "../errors.ts";
import type { Environment } from "../paths.ts";

/** The program, and the repository that it works on. */
export interface GitSetup {
  /** Absolute. */
  readonly program: string;
  /** Sheaf's own bare repository, or the `.git` of a tree in which nothing has run yet. Absolute. */
  readonly gitFolder: string;
  /** Only `PATH` and the agent of ssh are taken from it. */
  readonly environment: Environment;
  /** A folder that gets new objects, and the folder of the others; default: git's own. Absolute. */
  readonly newObjects?: { readonly own: string; readonly shared: string } | undefined;
}

interface GitOptions {
  /** Default: none. */
  readonly workTree?: string | undefined;
  /** The private index; default: none. */
  readonly index?: string | undefined;
  readonly input?: string | Uint8Array | undefined;
  /** A descriptor that git reads in place of `input`; the caller closes it. */
  readonly inputFile?: number | undefined;
  /** Milliseconds since 1970: the time of a commit. */
  readonly now?: number | undefined;
  /** Of the output; more is a failure. Default: 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** Default: 60 s. */
  readonly timeoutMs?: number | undefined;
  /** For a remote; nothing else may be reached. */
  readonly remote?: RemoteAccess | undefined;
  /** The largest piece of memory that git may take at once, such as `1g`; default: any. */
  readonly maxObject?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RemoteAccess {
  readonly protocol: "https" | "http" | "ssh" | "file";
  /** Further settings, by name. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Further variables: what asks for credentials. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

interface GitOutcome {
  /** -1: it did not start, was ended, or wrote too much. */
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** What git would run or read besides its own repository, switched off. The command line wins over every file. */
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

/** Runs git to its end; a failure of git is a value. */
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
    // So that ssh and other helpers end with it.
    detached: true,
  });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
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
  // It may end before it has read everything.
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

/** The output. @throws SheafError INTERNAL that says what could not be done, and what git said. */
export async function askGit(
  setup: GitSetup,
  args: readonly string[],
  { purpose, ...options }: GitOptions & { readonly purpose: string },
): Promise<Buffer> {
  const outcome = await runGit(setup, args, options);
  if (outcome.exitCode === 0) return outcome.stdout;
  throw new SheafError("INTERNAL", `git could not ${purpose}: ${toReason(outcome)}`, { details: outcome.stderr });
}

/** The last line that names an error, in one line. */
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
    // A folder that git only reads; nothing of the user's is in it.
    HOME: gitFolder,
    XDG_CONFIG_HOME: gitFolder,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    // Whatever protocols the repository's configuration allows.
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
      // Git reads it as a list with colons, but for quotes.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: toQuotedPath(newObjects.shared),
    }),
    ...(maxObject !== undefined && { GIT_ALLOC_LIMIT: maxObject }),
    ...(agent !== undefined && { SSH_AUTH_SOCK: agent }),
    ...remote?.variables,
  };
}

/** A path in quotes, as git reads it in lists of alternates and in commands of `fast-import`. */
export function toQuotedPath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`)}"`;
}

function toGitTime(now: number): string {
  return `@${Math.floor(now / 1000)} +0000`;
}
