/** What is measured: from a plain line scan to the text that a server sends. */
import { createAssembler, createJsonScanner, createTextParser } from "@sheaf/documents";
import { createReducer, type RunEvent, type RunEventBody, type StreamEvent } from "@sheaf/protocol";
import { encodeSse } from "@sheaf/protocol/encode";
import { toChunks } from "./answers.ts";
import type { Contender } from "./measure.ts";

/** The floor: finds the lines of the text and does nothing with them. */
export function createLineScan(): Contender {
  let line = "";
  let lines = 0;
  let longest = 0;
  const scan = (chunk: string): void => {
    let from = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
      line += chunk.slice(from, end);
      if (line.length > longest) longest = line.length;
      lines += 1;
      line = "";
      from = end + 1;
    }
    line += from === 0 ? chunk : chunk.slice(from);
  };
  return {
    prepare: (text) => {
      const chunks = toChunks(text);
      return () => {
        for (const chunk of chunks) scan(chunk);
      };
    },
    describe: () => `${lines} lines, the longest has ${longest} characters`,
  };
}

export function createParserContender(): Contender {
  const parser = createTextParser();
  let events = 0;
  return {
    prepare: (text) => {
      const chunks = toChunks(text);
      return () => {
        for (const chunk of chunks) events += parser.push(chunk).length;
      };
    },
    describe: () => `${events} segment events`,
  };
}

/** The whole way from the run log to stream events. Its loop is its own, as those of the floor and the parser are. */
export function createAssemblerContender(): Contender {
  const { push, toEvent } = startRun([]);
  let made = 0;
  return {
    prepare: (text) => {
      const runEvents = toChunks(text).map((chunk) => toEvent({ type: "text_delta", text: chunk }));
      return () => {
        for (const event of runEvents) made += push(event).length;
      };
    },
    describe: () => `${made} stream events`,
  };
}

/** The same, and the text for the reader of the event stream. */
export function createSseContender(): Contender {
  let characters = 0;
  return createRunContender(
    (events) => {
      for (const event of events) characters += encodeSse(event).length;
    },
    () => `${characters} characters of event stream`,
  );
}

/** Events that a server writes at once. */
const eventsPerWrite = 100;

/** The same, and the bytes of it. */
export function createBytesContender(): Contender {
  let bytes = 0;
  let waiting = "";
  let count = 0;
  return createRunContender(
    (events) => {
      for (const event of events) waiting += encodeSse(event);
      count += events.length;
      if (count < eventsPerWrite) return;
      bytes += Buffer.from(waiting).length;
      waiting = "";
      count = 0;
    },
    () => `${bytes} bytes of event stream`,
  );
}

/** The same, and what a reader does with the events. */
export function createReducerContender(): Contender {
  const reducer = createReducer();
  return createRunContender(
    (events) => {
      for (const event of events) reducer.push(event);
    },
    () => `${reducer.response.documents.length} documents`,
  );
}

function createRunContender(take: (events: readonly StreamEvent[]) => void, describe: () => string): Contender {
  const { push, toEvent } = startRun([]);
  return {
    prepare: (text) => {
      const runEvents = toChunks(text).map((chunk) => toEvent({ type: "text_delta", text: chunk }));
      return () => {
        for (const event of runEvents) take(push(event));
      };
    },
    describe,
  };
}

export function createScannerContender(): Contender {
  const scanner = createJsonScanner();
  let events = 0;
  return {
    prepare: (text) => {
      const chunks = toChunks(text);
      return () => {
        for (const chunk of chunks) events += scanner.push(chunk).length;
      };
    },
    describe: () => `${events} scan events, ${scanner.state}`,
  };
}

/** The file edit that a call becomes, live, while the model writes the arguments. */
export function createFileEditContender(toolName: string): Contender {
  const callId = "call_1";
  const { push, toEvent } = startRun([{ type: "tool_call_start", callId, toolName, documentType: "file_edit" }]);
  let events = 0;
  return {
    prepare: (text) => {
      const deltas = toChunks(text).map((delta) => toEvent({ type: "tool_call_arguments_delta", callId, delta }));
      return () => {
        for (const delta of deltas) events += push(delta).length;
      };
    },
    describe: () => `${events} stream events`,
  };
}

/** An assembler inside of a turn, behind these events. */
function startRun(before: readonly RunEventBody[]): {
  readonly push: (event: RunEvent) => readonly StreamEvent[];
  readonly toEvent: (body: RunEventBody) => RunEvent;
} {
  const assembler = createAssembler();
  let seq = 0;
  const toEvent = (body: RunEventBody): RunEvent => {
    seq += 1;
    return { seq, time: seq, ...body };
  };
  const start: RunEventBody = {
    type: "run_start",
    responseId: "chat_1",
    conversationId: "conv_1",
    mode: "agent",
    model: "bench",
    modelName: "bench",
    apiKeySource: "none",
    workspace: "/w",
    permissionMode: "default",
    sandbox: "enabled",
    trusted: true,
    sheafVersion: "0.1.0",
    prompt: "go",
  };
  for (const body of [start, { type: "turn_start", turn: 1 } as const, ...before]) assembler.push(toEvent(body));
  return { push: (event) => assembler.push(event), toEvent };
}
