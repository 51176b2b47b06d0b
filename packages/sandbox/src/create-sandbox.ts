/** Runs commands and follows each one from its start to the end of its last process. */
import { constants } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { SheafError } from "@sheaf/base/errors";
import type { CommandOutcome, CommandRequest, CommandRunner } from "./command.ts";
import { explainFailure } from "./follow/explain-failure.ts";
import { createOutputStreams, type OutputStreams } from "./follow/output-streams.ts";
import type { ProcessEnd } from "./follow/processes.ts";
import { toStartError } from "./programs.ts";
import type { Sandbox } from "./sandbox.ts";
import { createBubblewrapLauncher } from "./launch/bubblewrap-launcher.ts";
import type { Launcher, SandboxOptions, StartedCommand } from "./launch/launcher.ts";
import { createPlainLauncher } from "./launch/plain-launcher.ts";
import { createSeatbeltLauncher } from "./launch/seatbelt-launcher.ts";

/** Milliseconds that a background process may keep the output open after the command has ended. */
const pipePeriod = 250;
const timeoutExitCode = 124;

/** The way the shell itself ended. */
interface ShellEnd extends ProcessEnd {
  readonly timedOut: boolean;
  readonly cancelled: boolean;
}

/** Settings of a command runner. Without a sandbox, only `environment` and `variables` matter. */
export interface RunnerSettings extends Omit<SandboxOptions, "file"> {
  readonly sandbox: Sandbox;
  /** Further variables for every command. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

export function createSandbox(options: RunnerSettings): CommandRunner {
  const launcher = createLauncher(options);
  if (typeof launcher === "string") return createRefusingRunner(launcher);
  const running = new Set<Promise<CommandOutcome>>();
  let ended: ReturnType<Launcher["close"]> | undefined;
  const end: Launcher["close"] = async () => {
    await Promise.allSettled(running);
    return launcher.close();
  };
  return {
    permissions: launcher.permissions,
    async run(request) {
      const outcome = runInLauncher(request, launcher, options);
      running.add(outcome);
      try {
        return await outcome;
      } finally {
        running.delete(outcome);
      }
    },
    // Runs once: later, the numbers of closed descriptors may belong to other files.
    end: () => (ended ??= end()),
  };
}

const launchers = { bubblewrap: createBubblewrapLauncher, seatbelt: createSeatbeltLauncher } as const;

/** Creates the launcher, or returns the reason why no command can start. */
function createLauncher(options: RunnerSettings): Launcher | string {
  const { sandbox } = options;
  switch (sandbox.state) {
    case "enabled":
      return launchers[sandbox.kind]({ ...options, file: sandbox.file });
    case "disabled":
    case "container":
      return createPlainLauncher(options.environment);
    case "unavailable":
      return sandbox.reason;
  }
}

/** Creates a runner that refuses every command, because the sandbox cannot start (S-31). */
function createRefusingRunner(refusal: string): CommandRunner {
  return {
    permissions: [],
    run: async () => toOutcome(createSilentStreams(), [], { exitCode: -1, refusal }),
    end: async () => undefined,
  };
}

/** Creates the output of a command that never printed any. */
function createSilentStreams(): OutputStreams {
  return createOutputStreams({ onOutput: () => undefined });
}

interface ShellLimits extends Pick<CommandRequest, "timeoutMs" | "signal"> {
  /** Called at the time limit. Returns true if the command continues. */
  readonly goesOn: () => boolean;
}

/** Runs a command, and ends all processes that it left in the background: none outlives it. */
export async function runInLauncher(
  request: CommandRequest,
  launcher: Launcher,
  { variables = {}, writable, environment, program: files, denials }: RunnerSettings,
): Promise<CommandOutcome> {
  const [workspace] = writable;
  const program = { tops: writable, environment, program: files };
  const { command, workingDirectory, input, isBackground = false, isReadOnly } = request;
  const facts = { command, workspace, workingDirectory, program, denials };
  const { permissions } = launcher;
  const streams = createOutputStreams(request);
  if (isBackground) streams.moveToBackground();
  if (request.signal.aborted) return toOutcome(streams, permissions, { exitCode: -1, cancelled: true });
  try {
    const started = await launcher.start({
      command,
      workingDirectory,
      input,
      isBackground,
      isReadOnly,
      variables: { ...variables, ...request.variables },
    });
    request.onStart?.(() => started.tree?.look());
    let end: ShellEnd | undefined;
    let refusals: readonly string[] = [];
    try {
      const goesOn = (): boolean => {
        if (!request.onTimeLimit) return false;
        streams.flush();
        const soFar = toOutcome(streams, permissions, { exitCode: timeoutExitCode, timedOut: true });
        const reasons = explainFailure({ ...soFar, ...facts });
        if (!request.onTimeLimit({ ...soFar, refusals: reasons })) return false;
        streams.moveToBackground();
        started.moveToBackground();
        return true;
      };
      end = await followCommand(started, { ...request, goesOn }, streams);
    } finally {
      refusals = await started.release();
    }
    const isOwnEnd = !end.timedOut && !end.cancelled && end.signal === null;
    const startError = isOwnEnd ? started.findStartError(streams.toResult().stderr) : "";
    // The output is then the sandbox's, not the command's.
    if (startError !== "") return toOutcome(createSilentStreams(), permissions, { exitCode: -1, startError });
    const signal = end.signal ?? (isOwnEnd ? started.toSignal(end.code ?? 0) : undefined) ?? null;
    const outcome = toOutcome(streams, permissions, toEnd({ ...end, signal }));
    return { ...outcome, refusals: [...refusals, ...explainFailure({ ...outcome, ...facts })] };
  } catch (error) {
    const startError = toStartError(error, launcher.file, workingDirectory);
    const refusal = error instanceof SheafError ? startError : "";
    return toOutcome(streams, permissions, { exitCode: -1, startError, refusal });
  }
}

/**
 * Resolves when all processes have ended and their whole output is in `streams`. Rejects if the command never started.
 */
async function followCommand(started: StartedCommand, limits: ShellLimits, streams: OutputStreams): Promise<ShellEnd> {
  const { process, pipes, tree } = started;
  pipes.follow(process.child, (stream, chunk) => streams.write(stream, chunk));
  const closed = new AbortController();
  void Promise.all([process.closed, pipes.ended]).then(() => closed.abort());
  try {
    const end = await followShell(started, limits);
    await waitForClose(closed.signal);
    await tree?.end();
    await waitForClose(closed.signal);
    streams.end();
    return end;
  } finally {
    pipes.close();
    process.release();
  }
}

/** Waits, for a short time, until no process holds the output open. */
async function waitForClose(closed: AbortSignal): Promise<void> {
  try {
    await wait(pipePeriod, undefined, { signal: closed });
  } catch {
    // Closed.
  }
}

/**
 * Waits for the shell to end, and ends its tree on abort and timeout. Rejects if it never started. If the system does
 * not end a process, such as one in a system call on a dead disk, the process is left behind.
 */
async function followShell({ process, tree }: StartedCommand, limits: ShellLimits): Promise<ShellEnd> {
  const { signal, timeoutMs } = limits;
  const givenUp = Promise.withResolvers<ProcessEnd>();
  let timedOut = false;
  let cancelled = false;
  const endTree = async (): Promise<void> => {
    await tree?.end();
    await wait(pipePeriod, undefined, { ref: false });
    givenUp.resolve({ code: null, signal: "SIGKILL" });
  };
  const onAbort = (): void => {
    if (timedOut) return;
    cancelled = true;
    void endTree();
  };
  const onTimeout = (): void => {
    if (cancelled || limits.goesOn()) return;
    timedOut = true;
    void endTree();
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
  signal.addEventListener("abort", onAbort, { once: true });
  // The abort may have happened during the start.
  if (signal.aborted) onAbort();
  try {
    return { ...(await Promise.race([process.ended, givenUp.promise])), timedOut, cancelled };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Turns the end into its fields of N37: 124 on a timeout, 128 + n for a signal. */
function toEnd({ code, signal, timedOut, cancelled }: ShellEnd): Partial<CommandOutcome> {
  const ownCode = signal === null ? (code ?? -1) : 128 + constants.signals[signal];
  return { exitCode: timedOut ? timeoutExitCode : ownCode, signal: signal ?? "", timedOut, cancelled };
}

function toOutcome(
  streams: OutputStreams,
  permissions: CommandOutcome["permissions"],
  end: Partial<CommandOutcome>,
): CommandOutcome {
  return {
    exitCode: 0,
    signal: "",
    timedOut: false,
    cancelled: false,
    startError: "",
    refusal: "",
    refusals: [],
    permissions,
    ...streams.toResult(),
    ...end,
  };
}
