import { createModelStreamDecoder, type ModelStreamFormat } from "../../src/model-streams/model-stream-decoder.ts";
import type { ModelStreamReport } from "../../src/model-streams/model-stream-report.ts";
import type { ModelEvent, TurnEnd } from "@sheaf/protocol";

/** One tool call as its events tell it. */
export interface ReadToolCall {
  readonly callId: string;
  readonly toolName: string;
  readonly documentType: string;
  readonly providerCallId: string | undefined;
  /** The joined deltas. */
  readonly text: string;
  readonly arguments: unknown;
  readonly rawArguments: string | undefined;
}

/** What the events of a turn add up to. */
export interface ReadTurn {
  readonly events: readonly ModelEvent[];
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ReadToolCall[];
  readonly end: TurnEnd;
  readonly report: ModelStreamReport;
}

/** Decodes a body that comes in these chunks. */
export function readChunks(format: ModelStreamFormat, chunks: Iterable<Uint8Array | string>): ReadTurn {
  const decoder = createModelStreamDecoder(format);
  const events: ModelEvent[] = [];
  for (const chunk of chunks) events.push(...decoder.push(chunk));
  events.push(...decoder.end());
  return { ...addUp(events), report: decoder.report };
}

/** Everything a body says, to compare two ways of cutting it. */
export function formatTurn(turn: ReadTurn): string {
  return JSON.stringify([turn.events, turn.report]);
}

function addUp(events: readonly ModelEvent[]): Omit<ReadTurn, "report"> {
  const end = events.at(-1);
  if (end?.type !== "turn_end") throw new Error(`the last event is ${end?.type ?? "missing"}, not turn_end`);
  if (events.filter((event) => event.type === "turn_end").length > 1) throw new Error("turn_end comes twice");
  const join = (type: "text_delta" | "reasoning_delta") =>
    events.map((event) => (event.type === type ? event.text : "")).join("");
  return {
    events,
    text: join("text_delta"),
    reasoning: join("reasoning_delta"),
    toolCalls: readToolCalls(events),
    end,
  };
}

function readToolCalls(events: readonly ModelEvent[]): ReadToolCall[] {
  return events.flatMap((start, at) => {
    if (start.type !== "tool_call_start" || start.origin === "provider") return [];
    const { callId, toolName, documentType, providerCallId } = start;
    const own = events.filter((event, index) => "callId" in event && event.callId === callId && checkPlace(index, at));
    const text = own.map((event) => (event.type === "tool_call_arguments_delta" ? event.delta : "")).join("");
    const whole = own.filter((event) => event.type === "tool_call_arguments");
    const last = own.at(-1);
    if (whole.length !== 1 || last?.type !== "tool_call_arguments") throw new Error(`${callId} has no end, or two`);
    const { arguments: parsed, rawArguments } = last;
    return [{ callId, toolName, documentType, providerCallId, text, arguments: parsed, rawArguments }];
  });
}

function checkPlace(index: number, start: number): true {
  if (index < start) throw new Error(`event ${index} comes before its call starts at ${start}`);
  return true;
}
