/** Commands that keep running while the run goes on: their output waits to be read, in bounded memory. */
import type { CommandPermission } from "@sheaf/protocol";
import type { CommandOutcome, CommandRequest, CommandRunner } from "../command.ts";
import { createBoundedOutput } from "../../../workspace/bounded-output.ts";
import { createOutputSink, type WholeOutput } from "../../../workspace/whole-output.ts";

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

interface TakenOutput {
  readonly text: string;
  readonly truncated: boolean;
  readonly bytes: number;
  /** As the model sees it (N57). */
  readonly whole: WholeOutput;
}

/** Unread output kept of one command. Bytes. */
const maxKeptBytes = 256 * 1024;

type BackgroundRequest = Omit<CommandRequest, "signal" | "onOutput" | "isBackground">;

/** The commands in the background of one run. */
export interface BackgroundCommands {
  start(request: BackgroundRequest): BackgroundCommand;
  /** All that were started, oldest first, including those that have ended. */
  readonly all: readonly BackgroundCommand[];
  /** Ends all of them. */
  end(): Promise<void>;
}

export function createBackgroundCommands(commands: CommandRunner): BackgroundCommands {
  const all: BackgroundCommand[] = [];
  return {
    start(request) {
      const command = startCommand(`bg_${all.length + 1}`, request, commands);
      all.push(command);
      return command;
    },
    all,
    async end() {
      await Promise.all(all.map((command) => command.end()));
    },
  };
}

function startCommand(id: string, request: BackgroundRequest, commands: CommandRunner): BackgroundCommand {
  const controller = new AbortController();
  const { results, ...ownRequest } = request;
  let unread = createBoundedOutput(maxKeptBytes);
  let sink = createOutputSink({ results });
  let bytes = 0;
  let outcome: CommandOutcome | undefined;
  let news = Promise.withResolvers<void>();
  const running = commands.run({
    ...ownRequest,
    isBackground: true,
    signal: controller.signal,
    onOutput(_stream, text) {
      const encoded = Buffer.from(text);
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
    id,
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
