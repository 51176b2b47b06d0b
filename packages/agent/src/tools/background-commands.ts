/** Commands that keep running while the run continues. Their unread output waits in bounded memory. */
import { setTimeout as wait } from "node:timers/promises";
import type { CommandPermission, TerminalEffect } from "@sheaf/protocol";
import type { CommandOutcome, CommandRequest, CommandRunner } from "@sheaf/sandbox/command";
import { createBoundedOutput } from "@sheaf/base/files/bounded-output";
import type { KeptResults } from "../workspace/kept-results.ts";
import { createOutputSink, type WholeOutput } from "../workspace/whole-output.ts";

export interface BackgroundCommand {
  /** `bg_1` and so on, in the order of the starts. */
  readonly id: string;
  readonly command: string;
  /** Permissions of the command (N38). */
  readonly permissions: readonly CommandPermission[];
  /** The outcome; undefined while the command runs. */
  readonly outcome: CommandOutcome | undefined;
  /** Returns the output since the last call, both streams in order of arrival; above the limit without its middle. */
  takeOutput(): TakenOutput;
  /** Resolves on new output, at the command's end, on abort, or after this time (milliseconds). */
  waitForNews(period: number, signal: AbortSignal): Promise<void>;
  /** Resolves at the command's end, on abort, or after this time (milliseconds). */
  waitForEnd(period: number, signal: AbortSignal): Promise<void>;
  /** Resolves at its end, on abort, or with a reason: it waits for connections, is idle, or `period` (ms) is over. */
  waitWhileBusy(period: number, signal: AbortSignal): Promise<WaitEnd | undefined>;
  /** Ends the command with all its processes. */
  end(): Promise<CommandOutcome>;
}

export type WaitEnd = Exclude<TerminalEffect["ended"], "asked" | undefined>;

/** Waits this long (milliseconds); rejects on abort. */
export type Wait = (period: number, signal: AbortSignal) => Promise<unknown>;

const waitReally: Wait = (period, signal) => wait(period, undefined, { signal });

/** The time between two looks at a command. Milliseconds. */
const LOOK_MS = 1000;

/** A command is idle if it does not print or work for so long. Milliseconds. */
const SILENT_MS = 30_000;

/** Ticks of processor time that mean work: a percent of the time. */
const WORK_TICKS = 30;

/** The call that waits for a command until its time limit. */
type Foreground = Pick<CommandRequest, "signal" | "onOutput">;

/** The way a command ended, and its output as the model sees it (N57). */
export type WholeOutcome = CommandOutcome & { readonly whole: WholeOutput };

interface ForegroundEnd {
  readonly outcome: WholeOutcome;
  readonly goesOn?: BackgroundCommand;
}

interface TakenOutput extends Pick<WholeOutcome, "truncated" | "bytes" | "whole"> {
  readonly text: string;
}

/** Most commands in the background at a time. */
export const maxRunning = 8;

/** Unread output of one command that Sheaf keeps. Bytes. */
const maxKeptBytes = 256 * 1024;

interface BackgroundRequest extends Omit<
  CommandRequest,
  "signal" | "onOutput" | "onBytes" | "onBackgroundOutput" | "onTimeLimit" | "isBackground"
> {
  /** The store of long output; undefined: Sheaf keeps none. */
  readonly results?: KeptResults | undefined;
}

export interface BackgroundCommands {
  start(request: BackgroundRequest): BackgroundCommand;
  /**
   * Runs a command in the foreground. At its time limit it continues in the background as `goesOn`, and `outcome` is
   * its result so far. It ends instead if too many commands run there.
   */
  run(request: BackgroundRequest, foreground: Foreground): Promise<ForegroundEnd>;
  /** All commands so far, oldest first, including those that have ended. */
  readonly all: readonly BackgroundCommand[];
  end(): Promise<void>;
}

export function createBackgroundCommands(commands: CommandRunner, pause = waitReally): BackgroundCommands {
  const all: BackgroundCommand[] = [];
  const keep = (command: FollowedCommand): BackgroundCommand => {
    command.id = `bg_${all.length + 1}`;
    all.push(command);
    return command;
  };
  const start = (request: BackgroundRequest, foreground?: ForegroundPorts): FollowedCommand =>
    startCommand(request, { commands, pause }, foreground);
  return {
    start: (request) => keep(start(request)),
    async run(request, foreground) {
      const limit = Promise.withResolvers<ForegroundEnd>();
      const sink = createOutputSink(request);
      const toWhole = (outcome: CommandOutcome): WholeOutcome => ({ ...outcome, whole: sink.end() });
      const command = start(request, {
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

/** A command whose `id` is "" until it continues in the background. */
type FollowedCommand = Omit<BackgroundCommand, "id"> & { id: string; readonly ended: Promise<CommandOutcome> };

type ForegroundPorts = Foreground & Pick<CommandRequest, "onBytes" | "onTimeLimit">;

/** Starts a command. `foreground` gets its output until the time limit. */
function startCommand(
  { results, ...request }: BackgroundRequest,
  { commands, pause }: { readonly commands: CommandRunner; readonly pause: Wait },
  foreground?: ForegroundPorts,
): FollowedCommand {
  const controller = new AbortController();
  if (foreground?.signal.aborted) controller.abort();
  let unread = createBoundedOutput(maxKeptBytes);
  let sink = createOutputSink({ results });
  let bytes = 0;
  let allBytes = 0;
  let look: Parameters<NonNullable<CommandRequest["onStart"]>>[0] = () => undefined;
  let outcome: CommandOutcome | undefined;
  let news = Promise.withResolvers<void>();
  const running = commands.run({
    ...request,
    isBackground: foreground === undefined,
    onOutput: () => undefined,
    onStart: (found) => void (look = found),
    ...foreground,
    signal: controller.signal,
    onBackgroundOutput(encoded) {
      bytes += encoded.length;
      allBytes += encoded.length;
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
    async waitWhileBusy(period, signal) {
      let active = { at: 0, bytes: allBytes, used: look()?.used ?? 0 };
      let looks = 0;
      const isOver = (): boolean => outcome !== undefined || signal.aborted;
      for (let at = 0; !isOver(); at += LOOK_MS) {
        const { used, listens } = look() ?? { used: 0, listens: false };
        // A test of a server listens for a moment.
        looks = listens ? looks + 1 : 0;
        if (looks > 1) return "listens";
        if (allBytes > active.bytes || used >= active.used + WORK_TICKS) active = { at, bytes: allBytes, used };
        if (at - active.at >= SILENT_MS) return "silent";
        if (at >= period) return "time";
        await Promise.race([ended, pause(LOOK_MS, signal).catch(() => undefined)]);
      }
      return undefined;
    },
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
