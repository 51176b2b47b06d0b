/** Finds programs of the system, runs them, and explains why a start failed. */
import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isExecutable } from "@sheaf/base/is-executable";
import type { Environment } from "@sheaf/base/paths";
import { isFolder } from "@sheaf/base/make-folder";
import { toFixedPath } from "./environment.ts";

const systemFolders = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/opt/homebrew/bin"];

/**
 * Returns the absolute path of a program, or undefined if the system lacks it. The system's own folders have priority,
 * so that no folder of PATH can shadow a program in them. `isWanted` rejects places that must not be used.
 */
export function findProgram(
  name: string,
  environment: Environment,
  isWanted: (file: string) => boolean = () => true,
): string | undefined {
  const folders = [...systemFolders, ...toFixedPath(environment.PATH).split(":")];
  return folders.map((folder) => join(folder, name)).find((file) => isExecutable(file) && isWanted(file));
}

/** Finds ripgrep: Sheaf's own, else the system's. Undefined if `isWanted` rejects every place found. */
export function findRipgrep(environment: Environment, isWanted: (file: string) => boolean): string | undefined {
  const own = findOwnRipgrep();
  return own !== undefined && isWanted(own) ? own : findProgram("rg", environment, isWanted);
}

/** Finds it without running its package's code, which a command may have changed if it is in the workspace. */
function findOwnRipgrep(): string | undefined {
  try {
    const require = createRequire(import.meta.url);
    return createRequire(require.resolve("@vscode/ripgrep")).resolve(
      `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`,
    );
  } catch {
    return undefined;
  }
}

/** A shell, and its arguments before the command. */
export interface Shell {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
}

/** Bash if it is installed, else sh; never with start files (S-12). */
export function findShell(environment: Environment): Shell {
  const bash = findProgram("bash", environment);
  // After `--`, a command that starts with "-" is not an option.
  if (bash !== undefined) return { file: bash, args: ["--noprofile", "--norc", "-c", "--"] };
  return { file: "/bin/sh", args: ["-c", "--"] };
}

/** One run of a helper program such as ripgrep: no shell, no terminal, bounded error output. */
export interface ProgramRequest {
  /** Absolute path: PATH is not searched (S-05). */
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute path. */
  readonly cwd: string;
  /** The program's whole environment. */
  readonly environment: Environment;
  /** An abort kills the program. */
  readonly signal: AbortSignal;
  /** Receives each piece of stdout; returning false kills the program. */
  readonly onStdout: (chunk: Uint8Array) => boolean;
  /** Limit of the error output; further bytes are dropped. */
  readonly maxStderrBytes: number;
}

export interface ProgramOutcome {
  /** -1 if it never started or a signal ended it. */
  readonly exitCode: number;
  readonly stderr: string;
  /** True if `onStdout` returned false. */
  readonly stopped: boolean;
  readonly cancelled: boolean;
  /** The reason why it never started, or "". */
  readonly startError: string;
}

/** Runs a helper program to its end; failures are values. */
export async function runProgram(request: ProgramRequest, start = startProgram): Promise<ProgramOutcome> {
  const { file, cwd, signal } = request;
  const outcome = { exitCode: -1, stderr: "", stopped: false, cancelled: false, startError: "" };
  if (signal.aborted) return { ...outcome, cancelled: true };
  try {
    return { ...outcome, ...(await followProgram(start(request), request)) };
  } catch (error) {
    return { ...outcome, startError: toStartError(error, file, cwd) };
  }
}

/** Starts a program. `further` are pipes after the standard three. */
export function startProgram(request: ProgramRequest, further: readonly "pipe"[] = []): ChildProcess {
  const { file, args, cwd, environment } = request;
  return spawn(file, args, { cwd, env: { ...environment }, stdio: ["ignore", "pipe", "pipe", ...further] });
}

async function followProgram(child: ChildProcess, request: ProgramRequest): Promise<Partial<ProgramOutcome>> {
  const { signal, onStdout, maxStderrBytes } = request;
  const kill = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  let stopped = false;
  const stderr: Uint8Array[] = [];
  let free = maxStderrBytes;
  child.stdout?.on("data", (chunk: Uint8Array) => {
    if (stopped || onStdout(chunk)) return;
    stopped = true;
    kill();
  });
  child.stderr?.on("data", (chunk: Uint8Array) => {
    stderr.push(chunk.subarray(0, free));
    free = Math.max(0, free - chunk.length);
  });
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.once("close", (code) => resolve(code ?? -1));
    });
    return { exitCode, stderr: Buffer.concat(stderr).toString(), stopped, cancelled: signal.aborted };
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

const reasons: Readonly<Record<string, string>> = {
  E2BIG: "it is longer than the system allows: write it to a file and run that",
  EACCES: "it is not executable",
  EAGAIN: "there are too many processes: try again later",
  EMFILE: "too many files are open: try again later",
  ENFILE: "too many files are open: try again later",
  ENOMEM: "memory is exhausted",
  ERR_INVALID_ARG_VALUE: "it contains a NUL character: remove it",
};

/** Returns the reason of a failed start in one line. A missing program and a missing folder have the same code. */
export function toStartError(error: unknown, file: string, folder: string): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const folderError = toFolderError(folder);
  if (folderError !== "") return folderError;
  if (error instanceof Error && "syscall" in error && !String(error.syscall).startsWith("spawn")) return error.message;
  if (code === "ENOENT") return `${file} does not exist`;
  return reasons[code] ?? (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ");
}

/** Returns the fault of a working directory; "" if it is usable. */
export function toFolderError(folder: string): string {
  return isFolder(folder) ? "" : `the working directory ${folder} is not a usable folder`;
}

/** Quotes a word for sh. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
