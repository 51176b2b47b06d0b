/** Helper programs such as ripgrep: no shell, no terminal, a bounded look at what they print. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Environment } from "./environment.ts";
import { toStartError } from "./start-error.ts";

/** One run of a helper program. */
export interface ProgramRequest {
  /** Absolute: nothing is looked up in PATH (S-05). */
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** All that the program gets. */
  readonly environment: Environment;
  /** Kills it. */
  readonly signal: AbortSignal;
  /** Gets each piece of stdout; false kills the program. */
  readonly onStdout: (chunk: Uint8Array) => boolean;
  /** What is above is dropped. */
  readonly maxStderrBytes: number;
}

/** How it ended. */
export interface ProgramOutcome {
  /** -1 if it never started or a signal ended it. */
  readonly exitCode: number;
  readonly stderr: string;
  /** `onStdout` said no. */
  readonly stopped: boolean;
  readonly cancelled: boolean;
  /** Why it never started, else "". */
  readonly startError: string;
}

/** Runs a helper program to its end; failures are values. */
export async function runProgram(request: ProgramRequest): Promise<ProgramOutcome> {
  const { file, args, cwd, environment, signal } = request;
  const outcome = { exitCode: -1, stderr: "", stopped: false, cancelled: false, startError: "" };
  if (signal.aborted) return { ...outcome, cancelled: true };
  try {
    const child = spawn(file, args, { cwd, env: { ...environment }, stdio: ["ignore", "pipe", "pipe"] });
    return { ...outcome, ...(await followProgram(child, request)) };
  } catch (error) {
    return { ...outcome, startError: toStartError(error, file, cwd) };
  }
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
