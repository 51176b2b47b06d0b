/** Makes a run log from another agent's stream, with its own numbers, ids and turns, whatever ids are in the stream. */
import type { RunEnd, RunEvent, RunEventBody, RunStart, ToolResult, TurnFinishReason, Usage } from "@sheaf/protocol";
import { toDocumentType } from "../tool-names.ts";
import { createWholeCharacters } from "../whole-characters.ts";
import { readString, type JsonObject } from "../model-streams/read-json.ts";

/** A call with this library's names (N28). */
export interface NamedCall {
  readonly toolName: string;
  readonly arguments: JsonObject;
}

export type Outcome = Pick<ToolResult, "status" | "output" | "error" | "effect">;

/** Usage of a turn for which the stream reports no tokens (N6). */
export const noUsage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };

/** Facts of a run that precede the answer in the stream. */
export interface StreamFacts {
  readonly session?: string;
  readonly model?: string;
  readonly workspace?: string;
  readonly version?: string;
  readonly prompt?: string;
  /** Id of the answer, a UUID. */
  readonly response?: string;
}

/** Writes one run log after another. */
export class AgentRun {
  /** Facts of the open run. Its `run_start` has the facts known when the answer starts. */
  facts: StreamFacts = {};
  isStarted = false;
  /** Usage of each turn that calls tools; 0 if only the end of the run has the usage, for all turns. */
  turnUsage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  /** The last line that ended a run, and the number of runs that ended by a line. */
  result: JsonObject | undefined;
  runs = 0;
  readonly #newId: () => string;
  readonly #workspace: string;
  readonly #characters = createWholeCharacters<RunEventBody>();
  readonly #open = new Map<string, { readonly callId: string; readonly call: NamedCall }>();
  #events: RunEvent[] = [];
  #time = 0;
  #seq = 0;
  #turn = 0;
  #calls = 0;
  #isInTurn = false;

  constructor({ newId, workspace = "" }: { readonly newId: () => string; readonly workspace?: string }) {
    this.#newId = newId;
    this.#workspace = workspace;
  }

  get workspace(): string {
    return this.facts.workspace || this.#workspace;
  }

  /** Sets the time of the next events, in milliseconds since 1970. An earlier time than the last one has no effect. */
  setTime(time: number): void {
    if (Number.isFinite(time)) this.#time = Math.max(this.#time, time);
  }

  /** Finds the id of the answer, which is in the ids of messages and requests in Sheaf's lines. */
  findResponse(id: unknown): void {
    const [, response] = /^(?:msg_)?([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})[-_]\d+$/.exec(readString(id)) ?? [];
    if (response !== undefined && !this.isStarted) this.facts = { ...this.facts, response };
  }

  write(event: RunEventBody): void {
    this.#startTurn();
    this.#emit(event);
  }

  hasCall(id: string): boolean {
    return this.#open.has(id);
  }

  findCall(id: string): NamedCall | undefined {
    return this.#open.get(id)?.call;
  }

  /** Starts a call with a new id, since ids in the stream may be anything (C8, N29). */
  startCall(id: string, call: NamedCall): void {
    this.#calls += 1;
    const callId = `call_${String(this.#calls).padStart(3, "0")}`;
    const { toolName } = call;
    this.#open.set(id, { callId, call });
    this.write({
      type: "tool_call_start",
      callId,
      toolName,
      documentType: toDocumentType(toolName),
      ...(id !== "" && { providerCallId: id }),
    });
    this.write({ type: "tool_call_arguments", callId, arguments: call.arguments });
  }

  /** Ends an open call, and the turn to which it belongs. */
  endCall(id: string, outcome: Outcome, durationMs = 0): void {
    const open = this.#open.get(id)!;
    this.#open.delete(id);
    this.endTurn("tool_calls", this.turnUsage);
    this.#emit({ type: "tool_result", callId: open.callId, ...outcome, durationMs });
  }

  endTurn(finishReason: TurnFinishReason, usage: Usage): void {
    if (!this.#isInTurn) return;
    this.#isInTurn = false;
    this.#emit({ type: "turn_end", finishReason, rawFinishReason: "", usage, modelMs: 0 });
  }

  /**
   * Ends the open calls, the turn and the run. The next event starts another run with the same facts, except for the
   * prompt. `line` is the line that ends the run. Default: the stream ended first.
   */
  end(end: RunEnd, usage = noUsage, line?: JsonObject): void {
    if (line) {
      this.result = line;
      this.runs += 1;
    }
    this.#start();
    // The usage of all turns needs a turn, even after the last result.
    if (usage !== noUsage && usage !== this.turnUsage) this.#startTurn();
    this.endTurn("stop", usage);
    for (const { callId } of this.#open.values()) {
      const error = { code: "CANCELLED", message: "the stream ended before this call", details: "" };
      this.#emit({ type: "tool_result", callId, status: "cancelled", output: "", error, durationMs: 0 });
    }
    this.#open.clear();
    this.#emit(end);
    const { prompt: _, response: _id, ...facts } = this.facts;
    this.facts = facts;
    this.isStarted = false;
    this.#seq = 0;
    this.#turn = 0;
    this.#calls = 0;
  }

  takeEvents(): RunEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    this.#emit(this.#toRunStart());
  }

  #startTurn(): void {
    this.#start();
    if (this.#isInTurn) return;
    this.#isInTurn = true;
    this.#turn += 1;
    this.#emit({ type: "turn_start", turn: this.#turn });
  }

  /** Makes `run_start` with the first part of the answer: earlier lines lack a time. */
  #toRunStart(): RunStart {
    const { session = "", model = "", version = "", prompt = "", response } = this.facts;
    return {
      type: "run_start",
      responseId: `chat_${response ?? this.#newId()}`,
      conversationId: `conv_${session || this.#newId()}`,
      mode: "agent",
      model,
      modelName: model,
      apiKeySource: "none",
      workspace: this.workspace,
      permissionMode: "default",
      sandbox: "untried",
      trusted: false,
      sheafVersion: version,
      prompt,
    };
  }

  #emit(body: RunEventBody): void {
    for (const event of this.#characters.push(body)) {
      this.#seq += 1;
      this.#events.push({ ...event, seq: this.#seq, time: this.#time });
    }
  }
}

export function toErrorEnd({
  code,
  message,
  retryable = false,
}: {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
}): RunEnd {
  return { type: "run_end", reason: "error", error: { code, message, source: "agent", details: "", retryable } };
}

/** The end of a run without a line that ends it, which means a cut stream (C22, N51). */
export const cutEnd: RunEnd = toErrorEnd({
  code: "STREAM_TRUNCATED",
  message: "The stream stopped before its result line: ask again.",
  retryable: true,
});
