/** Runs responses in the background: one at a time per conversation, each to its end, with or without listeners. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunEvent } from "@sheaf/protocol";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import { startDeadline } from "../budget.ts";
import { type WhenBusy, createConversationLanes } from "./conversation-lanes.ts";
import { type RespondPorts, respond, waitForTools } from "./respond.ts";
import type { RunSettings } from "../run.ts";
import { createHandOverError, isBusyError } from "@sheaf/store/store";
import type { ToolBox } from "../../tools/tool.ts";

/** Interval at which to retry a conversation that another process is writing. Milliseconds. */
const RETRY_MS = 200;

/** The parts of a run, prepared once the conversation is free. */
export interface PreparedRun {
  readonly settings: RunSettings;
  readonly ports: RespondPorts;
  readonly tools: ToolBox;
  /** Called after its last use. */
  readonly close?: (() => void) | undefined;
}

interface StartRequest {
  /** `chat_<uuid>`. */
  readonly responseId: string;
  /** `conv_<uuid>`. */
  readonly conversationId: string;
  readonly whenBusy: WhenBusy;
  /** Time that the run may take, in milliseconds; undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Reads the conversation, which has no other writer in the meantime. `abort` ends the run with a reason. */
  readonly prepare: (signal: AbortSignal, abort: (reason: SheafError) => void) => Promise<PreparedRun>;
  /** Aborted when no caller waits for the start any more; a run that has started continues. */
  readonly startSignal: AbortSignal;
  /** Asks another process to end its response of the conversation, for "cancel". */
  readonly cancelOther?: () => Promise<void>;
  /** Called with each group once it is stored; must not throw. */
  readonly onEvents?: (events: readonly RunEvent[]) => void;
  /** Called when the run has ended, or could not start. */
  readonly onEnd?: () => void;
}

export interface RunningResponse {
  readonly responseId: string;
  readonly conversationId: string;
  /** Resolves when this process has written its last event, and the conversation is free again. Never rejects. */
  readonly ended: Promise<void>;
  /** Ends the run promptly; a second call does nothing. */
  abort(reason: SheafError): void;
}

export interface ResponseRunner {
  /**
   * Resolves once `run_start` is stored.
   * @throws SheafError CONVERSATION_BUSY, OVERLOADED after `close`, STORAGE_…; what `prepare` throws.
   */
  start(request: StartRequest): Promise<RunningResponse>;
  find(responseId: string): RunningResponse | undefined;
  readonly running: readonly RunningResponse[];
  /** No response is started any more. */
  readonly isClosing: boolean;
  /**
   * Starts no more responses, waits for the running ones, and ends them after the grace period (milliseconds). If
   * `handOver` returns a function, another process continues them: this calls it once they have stopped here.
   */
  close(graceMs: number, handOver?: () => Promise<(() => Promise<void>) | undefined>): Promise<void>;
}

interface RunnerPorts {
  readonly live: Live;
  /** Called when events of a run cannot be stored, or when it throws, which is a defect. */
  readonly onDefect: (error: SheafError, responseId: string) => void;
}

export function createResponseRunner({ live, onDefect }: RunnerPorts): ResponseRunner {
  const lanes = createConversationLanes();
  const responses = new Map<string, RunningResponse>();
  /** Processes of tools that are ending. */
  const settling = new Set<Promise<void>>();
  let isClosing = false;

  /** Stores the events, then sends each group to the channel. */
  async function play(request: StartRequest, run: Started, prepared: PreparedRun): Promise<void> {
    const { responseId } = request;
    const { settings, ports } = prepared;
    const channel = live.open(responseId);
    const { events: earlier = [] } = settings.cut ?? {};
    channel.push(earlier);
    const spentMs = earlier.length === 0 ? 0 : ports.now() - earlier[0]!.time;
    const { timeoutMs } = request;
    const stopClock = startDeadline({ timeoutMs, spentMs, advice: 'raise the budget "timeout"' }, run.abort);
    let unstored: SheafError | undefined;
    const onUnstored = (error: SheafError): void => void (unstored = error);
    try {
      for await (const events of respond(settings, { ...ports, onUnstored }, run.signal)) {
        channel.push(events);
        request.onEvents?.(events);
        run.begin();
      }
      // Another process ends the response that it took over; the operator must learn of events that were not stored.
      if (unstored && !isBusyError(unstored)) throw unstored;
    } catch (error) {
      if (!run.hasBegun) throw error;
      onDefect(toSheafError(error), responseId);
    } finally {
      stopClock();
      responses.delete(responseId);
      live.close(responseId);
      const settled = waitForTools(prepared.tools).then(prepared.close);
      settling.add(settled);
      void settled.finally(() => settling.delete(settled));
    }
  }

  async function startInLane(request: StartRequest, release: () => void): Promise<RunningResponse> {
    const { responseId, conversationId } = request;
    const run = createStarted();
    const ended = Promise.withResolvers<void>();
    const running: RunningResponse = { responseId, conversationId, ended: ended.promise, abort: run.abort };
    lanes.setCurrent(conversationId, running);
    const end = (): void => {
      request.onEnd?.();
      release();
      ended.resolve();
    };
    try {
      for (;;) {
        try {
          const prepared = await request.prepare(run.signal, run.abort);
          if (isClosing && !prepared.settings.cut) {
            await waitForTools(prepared.tools).then(prepared.close);
            throw createClosingError();
          }
          responses.set(responseId, running);
          const played = play(request, run, prepared);
          await Promise.race([run.begun, played]);
          void played.finally(end);
          return running;
        } catch (error) {
          // Another process is writing this conversation.
          if (request.whenBusy === "reject" || !isBusyError(error)) throw error;
          await request.cancelOther?.();
          await sleep(RETRY_MS, undefined, { signal: request.startSignal }).catch(() => undefined);
          request.startSignal.throwIfAborted();
        }
      }
    } catch (error) {
      end();
      throw error;
    }
  }

  async function enterLane(request: StartRequest): Promise<() => void> {
    if (isClosing) throw createClosingError();
    const { conversationId, whenBusy, startSignal } = request;
    const release = await lanes.enter(conversationId, whenBusy, startSignal);
    if (!isClosing) return release;
    release();
    throw createClosingError();
  }

  return {
    async start(request) {
      let release: () => void;
      try {
        release = await enterLane(request);
      } catch (error) {
        request.onEnd?.();
        throw error;
      }
      return startInLane(request, release);
    },
    find: (responseId) => responses.get(responseId),
    get isClosing() {
      return isClosing;
    },
    get running() {
      return [...responses.values()];
    },
    async close(graceMs, handOver) {
      isClosing = true;
      const ends = [...responses.values()].map(({ ended }) => ended);
      await waitAtMost(Promise.all(ends), graceMs);
      const release = responses.size > 0 ? await handOver?.() : undefined;
      for (const response of responses.values()) {
        response.abort(release ? createHandOverError(response.responseId) : createShutdownError());
      }
      await Promise.all(ends);
      await Promise.all(settling);
      await release?.();
    },
  };
}

/** The state of a run that is starting. */
interface Started {
  readonly signal: AbortSignal;
  readonly abort: (reason: SheafError) => void;
  /** Called with every group; the first one marks the start. */
  readonly begin: () => void;
  readonly begun: Promise<void>;
  readonly hasBegun: boolean;
}

function createStarted(): Started {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const started = {
    signal: controller.signal,
    abort: (reason: SheafError) => controller.abort(reason),
    begun: promise,
    hasBegun: false,
    begin() {
      if (started.hasBegun) return;
      started.hasBegun = true;
      resolve();
    },
  };
  return started;
}

function createClosingError(): SheafError {
  return new SheafError("OVERLOADED", "the server is going down: send the request again in a moment", {
    source: "server",
  });
}

function createShutdownError(): SheafError {
  return new SheafError("CANCELLED", "the server went down before the answer was complete: send the message again", {
    source: "server",
    details: "shutdown",
  });
}

/** Takes the events of one running response, group by group, each after it is stored. */
export interface LiveChannel {
  push(events: readonly RunEvent[]): void;
  /** Ends the channel, because the run has ended or another process has it. */
  close(): void;
}

/** The responses that run here, each with its channel. */
export interface Live<Channel extends LiveChannel = LiveChannel> {
  /** Called once, before the first event of a run is stored. */
  open(responseId: string): Channel;
  /** Undefined if the response does not run here. */
  find(responseId: string): Channel | undefined;
  close(responseId: string): void;
}

/** Makes a channel for each run that starts. */
export function createInProcessLive<Channel extends LiveChannel>(
  createChannel: (responseId: string) => Channel,
): Live<Channel> {
  const channels = new Map<string, Channel>();
  return {
    open(responseId) {
      const channel = createChannel(responseId);
      channels.set(responseId, channel);
      return channel;
    },
    find: (responseId) => channels.get(responseId),
    close(responseId) {
      const channel = channels.get(responseId);
      channels.delete(responseId);
      channel?.close();
    },
  };
}
