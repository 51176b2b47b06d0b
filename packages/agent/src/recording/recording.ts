/** Ports that record, in order, what comes into a run from outside (X11). */
import { toSheafError, type SheafError } from "@sheaf/base/errors";
import type { BodyTap, Model, ModelRequest } from "@sheaf/models/provider";
import type { AnswerCheck } from "../run/final-answer.ts";
import type { QuoteFinder } from "../run/model-turn.ts";
import { toAbortReason } from "../run/run-failure.ts";
import type { RunPorts, RunSettings } from "../run/run.ts";
import type { Store } from "@sheaf/store/store";
import type { Approver } from "../tools/approval.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import { agentTraits } from "../tools/other-tools.ts";
import type { AskPerson, ToolBox } from "../tools/tool.ts";
import {
  cassetteVersion,
  toBytesRecord,
  toDigest,
  toEventDigests,
  toRecordedError,
  type CassetteRecord,
} from "./cassette.ts";
import { createCassetteWriter, type CassetteWriter } from "./cassette-writer.ts";

/** The ports of a response that is recorded. */
interface RecordedPorts extends RunPorts {
  readonly store: Store;
  /** Aborts the run; called when the cassette cannot be written. */
  readonly abort: (reason: SheafError) => void;
}

/** Records one run into one file. */
export interface Recording {
  /** Writes the header, and returns the ports with recording added. `signal` is the run's. */
  wrap<Ports extends RecordedPorts>(settings: RunSettings, ports: Ports, signal: AbortSignal): Ports;
  /** Call it when the run is over. */
  close(): void;
}

/** Writes a record; `flush`: to the file at once. */
type Note = (record: CassetteRecord, flush?: "flush") => void;

/**
 * Opens the file at once, so that a bad name fails before the run.
 * @throws SheafError USAGE when the file cannot be written, or is not a cassette.
 */
export function createRecording(file: string): Recording {
  const writer = createCassetteWriter(file);
  let note: Note | undefined;
  return {
    wrap(settings, ports, signal) {
      writeHeader(writer, settings, ports);
      const clock = createRecordedClock(ports.now, createNote(writer, ports.abort));
      note = clock.note;
      const onAbort = (): void => clock.note({ type: "abort", error: toRecordedError(toAbortReason(signal)) }, "flush");
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
      return {
        ...ports,
        now: clock.now,
        model: recordModel(ports.model, settings, clock.note),
        tools: recordTools(ports.tools, clock.note),
        store: recordStore(ports.store, clock),
        findQuote: recordQuotes(ports.findQuote, clock.note),
        checkAnswer: recordAnswers(ports.checkAnswer, clock.note, signal),
        newApprovalId: recordApprovalIds(ports.newApprovalId, clock.note),
        approver: recordApprovals(ports.approver, clock.note),
        hooks: recordHooks(ports.hooks, clock.note),
      };
    },
    close() {
      note?.({ type: "end" });
      try {
        writer.close();
      } catch {
        // Everything the run did is in the file; it replays the same without the last line.
      }
    },
  };
}

function writeHeader(writer: CassetteWriter, settings: RunSettings, ports: RunPorts): void {
  const { start, system, history, limits, stopsOnDenied, moments = {}, backgroundWaitMs } = settings;
  const { sheafVersion } = start;
  const checksAnswer = ports.checkAnswer !== undefined;
  const approvals = ports.approver && { approvalExpiryMs: ports.approver.expiresAfterMs };
  writer.write({
    cassette: cassetteVersion,
    sheafVersion,
    start,
    system,
    ...(history.length > 0 && { history }),
    limits,
    stopsOnDenied,
    checksAnswer,
    toolNames: ports.tools.definitions.map(({ name }) => name),
    ...approvals,
    ...(ports.hooks && { hooks: moments }),
    ...(backgroundWaitMs !== undefined && { backgroundWaitMs }),
  });
  writer.flush();
}

/** A cassette that cannot be written ends the run: half a recording is of no use. */
function createNote(writer: CassetteWriter, abort: (reason: SheafError) => void): Note {
  return (record, flush) => {
    try {
      writer.write(record);
      if (flush) writer.flush();
    } catch (error) {
      abort(toSheafError(error));
    }
  };
}

interface RecordedClock {
  readonly now: () => number;
  readonly note: Note;
  /** Drops the last reading: the record of the stored events has its time. */
  readonly dropReading: () => void;
}

/** Records a reading only when something else follows, so that the readings of the log can be left out. */
function createRecordedClock(now: () => number, note: Note): RecordedClock {
  let reading: number | undefined;
  const noteReading = (): void => {
    if (reading === undefined) return;
    const time = reading;
    reading = undefined;
    note({ type: "clock", time });
  };
  return {
    now() {
      noteReading();
      reading = now();
      return reading;
    },
    note(record, flush) {
      noteReading();
      note(record, flush);
    },
    dropReading() {
      reading = undefined;
    },
  };
}

function recordModel(model: Model, settings: RunSettings, note: Note): Model {
  let turn = 0;
  let known = settings.history.length;

  const noteRequest = ({ system, messages }: ModelRequest): void => {
    turn += 1;
    const added = messages.slice(known).map(toDigest);
    known = messages.length;
    note({ type: "model_request", turn, system: toDigest(system), messages: added }, "flush");
  };

  return {
    id: model.id,
    name: model.name,
    apiKeySource: model.apiKeySource,
    stream(request, signal) {
      noteRequest(request);
      return recordGroups(model.stream({ ...request, tap: createTap(note, signal) }, signal), note, signal);
    },
  };
}

/** Nothing is recorded after the abort. */
async function* recordGroups(
  groups: ReturnType<Model["stream"]>,
  note: Note,
  signal: AbortSignal,
): ReturnType<Model["stream"]> {
  try {
    for await (const events of groups) {
      if (!signal.aborted) note({ type: "model_events", events });
      yield events;
    }
    if (!signal.aborted) note({ type: "model_end" });
  } catch (error) {
    if (!signal.aborted) note({ type: "model_error", error: toRecordedError(toSheafError(error)) });
    throw error;
  }
}

/** Bytes are recorded before the events decoded from them, so that a replay can decode them again. */
function createTap(note: Note, signal: AbortSignal): BodyTap {
  return {
    begin({ format, origin }) {
      if (!signal.aborted) note({ type: "provider_response", format, origin });
    },
    push(bytes) {
      if (!signal.aborted) note(toBytesRecord(bytes));
    },
  };
}

function recordTools(tools: ToolBox, note: Note): ToolBox {
  const known = new Set<string>();
  return {
    definitions: tools.definitions,
    ...(tools.refresh && { refresh: tools.refresh }),
    accessOf(call) {
      const { toolName } = call;
      const access = tools.accessOf(call);
      // That of a subagent depends on its kind.
      if (!known.has(toolName) || toolName === agentTraits.name) note({ type: "tool_access", toolName, access });
      known.add(toolName);
      return access;
    },
    // Not recorded: the run depends only on the answer, which is.
    checkArguments: (call, args) => tools.checkArguments(call, args),
    async review(call) {
      const question = await tools.review(call);
      note({ type: "tool_review", callId: call.callId, ...(question && { question }) });
      return question;
    },
    async execute(call, { emitOutput, agentPort, askPerson, ...options }) {
      const { callId } = call;
      note({ type: "tool_call", ...call }, "flush");
      try {
        const outcome = await tools.execute(call, {
          ...options,
          agentPort: agentPort && {
            ...agentPort,
            emit(events) {
              note({ type: "agent_events", callId, events });
              return agentPort.emit(events);
            },
          },
          askPerson: askPerson && recordQuestions(callId, askPerson, note),
          emitOutput(stream, delta) {
            note({ type: "tool_output", callId, stream, delta });
            emitOutput(stream, delta);
          },
        });
        note({ type: "tool_outcome", callId, outcome }, "flush");
        return outcome;
      } catch (error) {
        note({ type: "tool_error", callId, message: error instanceof Error ? error.message : String(error) }, "flush");
        throw error;
      }
    },
    settle: () => tools.settle(),
  };
}

/** The answers are recorded as those of all questions are. */
function recordQuestions(callId: string, askPerson: AskPerson, note: Note): AskPerson {
  let asked = 0;
  return async (question, check, signal) => {
    const index = asked;
    asked += 1;
    note({ type: "tool_question", callId, index, question });
    const answered = new AbortController();
    const withdraw = (): void => note({ type: "tool_question_end", callId, index });
    signal.addEventListener("abort", withdraw, { once: true, signal: answered.signal });
    try {
      return await askPerson(question, check, signal);
    } finally {
      answered.abort();
    }
  };
}

/** The log's readings of the clock are in the times of its events. */
function recordStore(store: Store, { note, dropReading }: RecordedClock): Store {
  return {
    ...store,
    createResponse(response) {
      dropReading();
      return store.createResponse(response);
    },
    async appendEvents(responseId, events, durability) {
      dropReading();
      const types = events.map(({ type }) => type);
      note({ type: "events", time: events[0]?.time ?? 0, types, digests: toEventDigests(events) }, "flush");
      try {
        await store.appendEvents(responseId, events, durability);
      } catch (error) {
        note({ type: "store_error", error: toRecordedError(toSheafError(error)) });
        throw error;
      }
    },
  };
}

function recordQuotes(findQuote: QuoteFinder, note: Note): QuoteFinder {
  return async (quote) => {
    const found = await findQuote(quote);
    const { filePath, startLine, endLine } = quote;
    const isElsewhere = found !== undefined && (found.startLine !== startLine || found.endLine !== endLine);
    const verified = found !== undefined;
    note({ type: "quote_check", filePath, startLine, endLine, verified, ...(isElsewhere && { found }) });
    return found;
  };
}

/** Nothing is recorded after the abort. */
function recordAnswers(checkAnswer: AnswerCheck | undefined, note: Note, signal: AbortSignal): AnswerCheck | undefined {
  return (
    checkAnswer &&
    (async (text) => {
      const checked = await checkAnswer(text);
      if (!signal.aborted) note({ type: "answer_check", checked });
      return checked;
    })
  );
}

/** Those after a call are part of its outcome. */
function recordHooks(hooks: Hooks | undefined, note: Note): Hooks | undefined {
  return (
    hooks && {
      ...hooks,
      async run(occasion, signal) {
        const results = await hooks.run(occasion, signal);
        const { event } = occasion;
        if (event !== "PostToolUse" && !signal.aborted) note({ type: "hook_run", event, results });
        return results;
      },
    }
  );
}

function recordApprovalIds(newApprovalId: () => string, note: Note): () => string {
  return () => {
    const id = newApprovalId();
    note({ type: "approval_id", id });
    return id;
  };
}

/** An answer after the abort is not recorded. */
function recordApprovals(approver: Approver | undefined, note: Note): Approver | undefined {
  return (
    approver && {
      expiresAfterMs: approver.expiresAfterMs,
      async ask(request, signal, checkEdited) {
        const answer = await approver.ask(request, signal, checkEdited);
        if (!signal.aborted) note({ type: "approval_answer", approvalId: request.approvalId, answer }, "flush");
        return answer;
      },
    }
  );
}
