/** A recorded run, run again by the real loop on recorded ports: the same log, offline (X11). */
import type { RunEvent, RunEventBody } from "@sheaf/protocol";
import type { SheafError } from "@sheaf/base/errors";
import { type EventGroup, createRunLog } from "../run/run-log.ts";
import { toRunFailure } from "../run/run-failure.ts";
import { runResponse, type RunPorts } from "../run/run.ts";
import type { Store } from "@sheaf/store/store";
import { fromRecordedError, type Cassette, type GivenRecord } from "./cassette.ts";
import { createReplayModel } from "./replay-model.ts";
import {
  createReplayAnswers,
  createReplayApprover,
  createReplayHooks,
  createReplayQuotes,
  createReplayTools,
} from "./replay-ports.ts";
import { Tape } from "./tape.ts";

/** How often a waiting run is checked. Milliseconds. */
const WATCH_MS = 40;

/** How long an aborted run may be idle: longer than the grace period of its tools. Milliseconds. */
const ABORTED_IDLE_MS = 1500;

/**
 * Yields the events of the recorded run, with their times. A run that differs from the recording ends with INTERNAL; if
 * the cassette ends before the run, it ends with CONFIG_INVALID. Both errors name the line.
 * `store` receives the log; it must be new and in memory.
 */
export async function* replayRun(cassette: Cassette, store: Store): AsyncGenerator<readonly RunEvent[]> {
  const {
    start,
    system,
    history = [],
    limits,
    stopsOnDenied,
    hooks: moments,
    backgroundWaitMs,
    toolNames,
  } = cassette.header;
  const controller = new AbortController();
  const { tape, ports } = createPlayer(cassette, controller);
  const { responseId, conversationId, workspace } = start;
  await store.createResponse({ id: responseId, conversationId, workspace, title: "", createdAt: 0 });
  const settings = { start, history, system, limits, stopsOnDenied, moments, backgroundWaitMs, toolNames };
  const log = createRunLog({
    store: createReplayStore(store, tape),
    responseId,
    now: () => tape.logTime,
    onStoreFailure(error) {
      // The recorded abort comes first, with its original reason.
      tape.pump();
      controller.abort(error);
    },
  });
  for await (const group of regroup(runResponse(settings, ports, controller.signal), tape, controller.signal)) {
    const events = await log.append(group);
    if (events.length > 0) yield withFailure(events, tape.failure);
  }
}

/** The tape of a cassette, and the ports that it feeds. */
function createPlayer(
  cassette: Cassette,
  controller: AbortController,
): { readonly tape: Tape; readonly ports: RunPorts } {
  const receive = (record: GivenRecord): boolean => {
    switch (record.type) {
      case "provider_response":
      case "provider_bytes":
      case "model_events":
      case "model_end":
      case "model_error":
        return model.receive(record);
      case "tool_output":
      case "agent_events":
      case "tool_question":
      case "tool_question_end":
      case "tool_outcome":
      case "tool_error":
        return tools.receive(record);
      case "quote_check":
        return quotes.receive(record);
      case "approval_answer":
        return approver.receive(record);
      case "abort":
        controller.abort(fromRecordedError(record.error));
        return true;
      case "store_error":
        // The log takes it when it next stores events.
        return false;
    }
  };
  const tape = new Tape(cassette, receive, (error) => {
    controller.abort(error);
    for (const port of [model, tools, quotes, approver]) port.release();
  });
  const model = createReplayModel(cassette.header, tape);
  const tools = createReplayTools(tape);
  const quotes = createReplayQuotes(cassette.header, tape);
  const approver = createReplayApprover(cassette.header, tape);
  const ports = {
    model: model.port,
    tools: tools.port,
    now: () => tape.takeAsked("clock", () => "the run reads the clock")?.time ?? tape.time,
    // The calls of a recorded model already have ids.
    newCallId: () => "",
    newApprovalId: () => tape.takeAsked("approval_id", () => "the run makes the id of an approval")?.id ?? "",
    approver: approver.port,
    findQuote: quotes.port,
    hooks: createReplayHooks(cassette.header, tape, controller.signal),
    checkAnswer: createReplayAnswers(cassette.header, tape, controller.signal),
  };
  return { tape, ports };
}

/** Cuts the events into the recorded groups, since the original grouping depended on the speed of the machine. */
async function* regroup(
  groups: AsyncGenerator<EventGroup>,
  tape: Tape,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  const waiting: RunEventBody[] = [];
  let isWaiting = false;
  const stopWatch = startIdleWatch(tape, signal, () => isWaiting);
  try {
    for (let ended = false; !ended || waiting.length > 0;) {
      while (!ended && waiting.length < (tape.nextGroupSize ?? 1)) {
        tape.pump();
        isWaiting = true;
        const step = await groups.next();
        isWaiting = false;
        ended = step.done === true;
        if (!step.done) waiting.push(...step.value.events);
      }
      const events = waiting.splice(0, tape.nextGroupSize ?? waiting.length);
      if (events.length === 0) continue;
      tape.takeEvents(events);
      yield { events, durability: "grouped" };
    }
  } finally {
    stopWatch();
  }
}

/** A failed replay says so in its last event, however the run itself ended. */
function withFailure(events: readonly RunEvent[], failure: SheafError | undefined): readonly RunEvent[] {
  if (!failure) return events;
  return events.map((event) =>
    event.type === "run_end" ? { ...toRunFailure(failure), seq: event.seq, time: event.time } : event,
  );
}

/**
 * Ends a replay whose run waits for something that never comes. Only the end of aborted tools takes time in a replay, so
 * an idle run waits in vain. Returns a function that stops the watch; `isWaiting` says whether the run waits at all.
 */
function startIdleWatch(tape: Tape, signal: AbortSignal, isWaiting: () => boolean): () => void {
  let progress = -1;
  let idleMs = 0;
  const timer = setInterval(() => {
    idleMs = isWaiting() && !tape.isScheduled && progress === tape.progress ? idleMs + WATCH_MS : 0;
    progress = tape.progress;
    if (idleMs > (signal.aborted ? ABORTED_IDLE_MS : 0)) tape.failAtNext("the run waits for something else");
  }, WATCH_MS);
  return () => clearInterval(timer);
}

/** Fails where the recorded store failed. */
function createReplayStore(store: Store, tape: Tape): Store {
  return {
    ...store,
    async appendEvents(responseId, events, durability) {
      const failure = tape.takeStoreError();
      if (failure) throw fromRecordedError(failure.error);
      await store.appendEvents(responseId, events, durability);
    },
  };
}
