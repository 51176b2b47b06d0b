/** Commands that keep running while the run goes on: their output waits to be read, in bounded memory. */
import type { CommandPermission } from "@sheaf/protocol";
import type { CommandOutcome, CommandRequest, CommandRunner } from "@sheaf/sandbox/command";
import { createBoundedOutput } from "@sheaf/base/files/bounded-output";
import type { KeptResults } from "../workspace/kept-results.ts";
import { createOutputSink, type WholeOutput } from "../workspace/whole-output.ts";

export interface BackgroundCommand {
  /** `bg_1` and so on, in the order of the starts. */
  readonly id: string;
  readonly command: string;
  /** N38. */
  readonly permissions: readonly CommandPermission[];
  /** How it ended; undefined while it runs. */
  readonly outcome: CommandOutcome | undefined;
  /** The output since the last call, both streams in order of arrival; above the limit its middle is cut out. */
  takeOutput(): TakenOutput;
  /** Resolves on new output, at its end, on abort, or after this time (milliseconds). */
  waitForNews(period: number, signal: AbortSignal): Promise<void>;
  /** Resolves at its end, on abort, or after this time (milliseconds). */
  waitForEnd(period: number, signal: AbortSignal): Promise<void>;
  /** Ends it with all its processes. */
  end(): Promise<CommandOutcome>;
}

/** Who waits for a command until its time limit. */
type Foreground = Pick<CommandRequest, "signal" | "onOutput">;

/** How a command ended, and its output as the model sees it (N57). */
export type WholeOutcome = CommandOutcome & { readonly whole: WholeOutput };

interface ForegroundEnd {
  readonly outcome: WholeOutcome;
  readonly goesOn?: BackgroundCommand;
}

interface TakenOutput extends Pick<WholeOutcome, "truncated" | "bytes" | "whole"> {
  readonly text: string;
}

/** Commands in the background at a time. */
export const maxRunning = 8;

/** Unread output kept of one command. Bytes. */
const maxKeptBytes = 256 * 1024;

interface BackgroundRequest extends Omit<
  CommandRequest,
  "signal" | "onOutput" | "onBytes" | "onBackgroundOutput" | "onTimeLimit" | "isBackground"
> {
  /** Where long output is kept; undefined: nowhere. */
  readonly results?: KeptResults | undefined;
}

export interface BackgroundCommands {
  start(request: BackgroundRequest): BackgroundCommand;
  /**
   * Runs a command in the foreground. At its time limit it goes on in the background, unless as many as may run there do
   * then `goesOn` is it, and `outcome` what came until then.
   */
  run(request: BackgroundRequest, foreground: Foreground): Promise<ForegroundEnd>;
  /** All that were started, oldest first, including those that have ended. */
  readonly all: readonly BackgroundCommand[];
  /** Ends all of them. */
  end(): Promise<void>;
}

export function createBackgroundCommands(commands: CommandRunner): BackgroundCommands {
  const all: BackgroundCommand[] = [];
  const keep = (command: FollowedCommand): BackgroundCommand => {
    command.id = `bg_${all.length + 1}`;
    all.push(command);
    return command;
  };
  return {
    start: (request) => keep(startCommand(request, commands)),
    async run(request, foreground) {
      const limit = Promise.withResolvers<ForegroundEnd>();
      const sink = createOutputSink(request);
      const toWhole = (outcome: CommandOutcome): WholeOutcome => ({ ...outcome, whole: sink.end() });
      const command: FollowedCommand = startCommand(request, commands, {
        ...foreground,
        onBytes: (bytes) => sink.append(bytes),
        onTimeLimit(outcome) {
          if (all.filter((other) => other.outcome === undefined).length >= maxRunning) return false;
          limit.resolve({ outcome: toWhole(outcome), goesOn: keep(command) });
          return true;
        },
      });
      const onAbort = (): void => void command.end();
      foreground.signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await Promise.race([limit.promise, command.ended.then((outcome) => ({ outcome: toWhole(outcome) }))]);
      } finally {
        foreground.signal.removeEventListener("abort", onAbort);
      }
    },
    all,
    async end() {
      await Promise.all(all.map((command) => command.end()));
    },
  };
}

/** `id` is "" until it goes on in the background. */
type FollowedCommand = Omit<BackgroundCommand, "id"> & { id: string; readonly ended: Promise<CommandOutcome> };

/** `foreground`: where its output goes until its time limit. */
function startCommand(
  { results, ...request }: BackgroundRequest,
  commands: CommandRunner,
  foreground?: Foreground & Pick<CommandRequest, "onBytes" | "onTimeLimit">,
): FollowedCommand {
  const controller = new AbortController();
  if (foreground?.signal.aborted) controller.abort();
  let unread = createBoundedOutput(maxKeptBytes);
  let sink = createOutputSink({ results });
  let bytes = 0;
  let outcome: CommandOutcome | undefined;
  let news = Promise.withResolvers<void>();
  const running = commands.run({
    ...request,
    isBackground: foreground === undefined,
    onOutput: () => undefined,
    ...foreground,
    signal: controller.signal,
    onBackgroundOutput(encoded) {
      bytes += encoded.length;
      unread.append(encoded);
      sink.append(encoded);
      news.resolve();
    },
  });
  const ended = keepOutcome();

  async function keepOutcome(): Promise<CommandOutcome> {
    outcome = await running;
    news.resolve();
    return outcome;
  }

  return {
    id: "",
    ended,
    command: request.command,
    permissions: commands.permissions,
    get outcome() {
      return outcome;
    },
    takeOutput() {
      const taken = { text: unread.toText(), truncated: unread.isCut(), bytes, whole: sink.end() };
      unread = createBoundedOutput(maxKeptBytes);
      sink = createOutputSink({ results });
      bytes = 0;
      if (outcome === undefined) news = Promise.withResolvers<void>();
      return taken;
    },
    waitForNews: (period, signal) => waitFor(news.promise, period, signal),
    waitForEnd: (period, signal) => waitFor(ended, period, signal),
    end() {
      controller.abort();
      return ended;
    },
  };
}

/** Waits for a promise that never rejects, but at most this long, and only until an abort. */
async function waitFor(promise: Promise<unknown>, period: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, period);
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
