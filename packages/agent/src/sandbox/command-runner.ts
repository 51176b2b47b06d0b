/** Commands as processes of this machine. There is no sandbox of the operating system around them. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import type { CommandOutcome, CommandRequest, CommandRunner } from "./command.ts";
import { type Environment, toCommandEnvironment } from "./environment.ts";
import { startGuard } from "./guard.ts";
import { createOutputStreams, type OutputStreams } from "./output-streams.ts";
import { createProcessTree, type ProcessTree } from "./process-tree.ts";
import { findShell, type Shell } from "./shell.ts";
import { toStartError } from "./start-error.ts";

/** Milliseconds that a process in the background may keep the output open when the command has ended. */
const pipePeriod = 250;
const timeoutExitCode = 124;

/** How the shell itself ended. */
interface ShellEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly cancelled: boolean;
}

/** Makes the runner; of `environment` only what the allow list names reaches a command (S-40). */
export function createCommandRunner(options: { readonly environment: Environment }): CommandRunner {
  const shell = findShell(options.environment);
  return { run: (request) => runCommand(request, shell, options.environment) };
}

/** Nothing of a command outlives it: what it left in the background is ended with it. */
async function runCommand(request: CommandRequest, shell: Shell, environment: Environment): Promise<CommandOutcome> {
  const streams = createOutputStreams(request.onOutput);
  if (request.signal.aborted) return toOutcome(streams, { exitCode: -1, cancelled: true });
  const marker = randomUUID();
  const guard = startGuard(marker);
  try {
    const child = spawn(shell.file, [...shell.args, request.command], {
      cwd: request.workingDirectory,
      env: toCommandEnvironment(environment, marker),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    connect(child, streams);
    const closed = new AbortController();
    child.once("close", () => closed.abort());
    const tree = child.pid === undefined ? undefined : createProcessTree(child.pid, marker);
    const end = await followShell(child, tree, request);
    await waitForClose(closed.signal);
    await tree?.end();
    await waitForClose(closed.signal);
    child.stdout?.destroy();
    child.stderr?.destroy();
    streams.end();
    return toOutcome(streams, toEnd(end));
  } catch (error) {
    return toOutcome(streams, { exitCode: -1, startError: toStartError(error, shell.file, request.workingDirectory) });
  } finally {
    guard.dismiss();
  }
}

function connect(child: ChildProcess, streams: OutputStreams): void {
  child.stdout?.on("data", (chunk: Uint8Array) => streams.write("stdout", chunk));
  child.stderr?.on("data", (chunk: Uint8Array) => streams.write("stderr", chunk));
}

/** Waits until nobody holds the output open any more, but not long. */
async function waitForClose(closed: AbortSignal): Promise<void> {
  try {
    await wait(pipePeriod, undefined, { signal: closed });
  } catch {
    // Closed.
  }
}

/** Waits for the shell; ends its tree on abort and timeout. Rejects if it never started. */
async function followShell(
  child: ChildProcess,
  tree: ProcessTree | undefined,
  request: CommandRequest,
): Promise<ShellEnd> {
  let timedOut = false;
  let cancelled = false;
  const onAbort = (): void => {
    if (timedOut) return;
    cancelled = true;
    void tree?.end();
  };
  const onTimeout = (): void => {
    if (cancelled) return;
    timedOut = true;
    void tree?.end();
  };
  const ended = new Promise<Pick<ShellEnd, "code" | "signal">>((resolve, reject) => {
    child.on("error", reject);
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const timer = setTimeout(onTimeout, request.timeoutMs);
  request.signal.addEventListener("abort", onAbort, { once: true });
  try {
    return { ...(await ended), timedOut, cancelled };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", onAbort);
  }
}

/** N37: 124 on the timeout, 128 + n for a signal. */
function toEnd({ code, signal, timedOut, cancelled }: ShellEnd): Partial<CommandOutcome> {
  const ownCode = signal === null ? (code ?? -1) : 128 + constants.signals[signal];
  return { exitCode: timedOut ? timeoutExitCode : ownCode, signal: signal ?? "", timedOut, cancelled };
}

function toOutcome(streams: OutputStreams, end: Partial<CommandOutcome>): CommandOutcome {
  return {
    exitCode: 0,
    signal: "",
    timedOut: false,
    cancelled: false,
    startError: "",
    permissions: ["unsandboxed"],
    ...streams.toResult(),
    ...end,
  };
}
