import type {
  ModelEvent,
  RunEnd,
  RunError,
  RunEvent,
  RunEventBody,
  RunStart,
  ToolOutputDelta,
  ToolResult,
  TurnEnd,
  TurnFinishReason,
} from "@sheaf/protocol";
import type { ModelStreamReport } from "./model-stream-report.ts";

/** Events of a model's turns one after another, each with its `turn_end`; results of tools between them, if any. */
export type TurnEvents =
  | Iterable<ModelEvent | ToolOutputDelta | ToolResult>
  | AsyncIterable<ModelEvent | ToolOutputDelta | ToolResult>;

export interface RunEventOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A new UUID. */
  readonly newId: () => string;
  /** What is known of the run; the rest of `run_start` is empty. */
  readonly run?: Partial<Omit<RunStart, "type">>;
  /** Report of the decoder of the last turn: its errors tell why the run failed. */
  readonly report?: ModelStreamReport;
}

/**
 * A complete run log out of the events of one or more turns, so that documents can be made without the agent.
 * A call that has no result when the next turn or the end comes gets one with the error NOT_EXECUTED (C8).
 * Give the decoders of all turns one `newCallId`: call ids must not come twice (N29).
 */
export async function* toRunEvents(
  events: TurnEvents,
  options: RunEventOptions,
): AsyncGenerator<RunEvent, void, undefined> {
  const number = createNumbering(options.now);
  const calls = createOpenCalls();
  let turn = 0;
  let lastEnd: TurnEnd | undefined;
  let isInTurn = false;
  yield number(createRunStart(options));
  for await (const event of events) {
    const isResult = event.type === "tool_result" || event.type === "tool_output_delta";
    if (!isInTurn && !isResult) {
      for (const result of calls.end()) yield number(result);
      turn += 1;
      isInTurn = true;
      yield number({ type: "turn_start", turn });
    }
    calls.read(event);
    yield number(event);
    if (event.type !== "turn_end") continue;
    isInTurn = false;
    lastEnd = event;
  }
  for (const result of calls.end()) yield number(result);
  yield number(createRunEnd(isInTurn ? undefined : lastEnd, options.report));
}

function createNumbering(now: () => number): (body: RunEventBody) => RunEvent {
  let seq = 0;
  let time = 0;
  return (body) => {
    seq += 1;
    time = Math.max(time, now());
    return { ...body, seq, time };
  };
}

interface OpenCalls {
  read(event: RunEventBody): void;
  /** Results for the calls that have none. */
  end(): ToolResult[];
}

function createOpenCalls(): OpenCalls {
  const toolNames = new Map<string, string>();
  return {
    read(event) {
      if (event.type === "tool_call_start") toolNames.set(event.callId, event.toolName);
      else if (event.type === "tool_result") toolNames.delete(event.callId);
    },
    end() {
      const results = Array.from(toolNames, ([callId, toolName]) => createMissingResult(callId, toolName));
      toolNames.clear();
      return results;
    },
  };
}

function createMissingResult(callId: string, toolName: string): ToolResult {
  const message = `The call of ${toolName || "a tool without a name"} was not run: nothing here runs tools.`;
  return {
    type: "tool_result",
    callId,
    status: "error",
    output: "",
    error: { code: "NOT_EXECUTED", message, details: "" },
    durationMs: 0,
  };
}

function createRunStart({ newId, run }: RunEventOptions): RunStart {
  return {
    responseId: `chat_${newId()}`,
    conversationId: `conv_${newId()}`,
    mode: "agent",
    model: "",
    modelName: run?.model ?? "",
    apiKeySource: "none",
    workspace: "",
    permissionMode: "default",
    sandbox: "unavailable",
    trusted: false,
    sheafVersion: "",
    prompt: "",
    ...run,
    type: "run_start",
  };
}

/** How the run ended, by its last turn; undefined = that turn has no end (N2). */
function createRunEnd(turnEnd: TurnEnd | undefined, report: ModelStreamReport | undefined): RunEnd {
  const type = "run_end";
  const finish = turnEnd?.finishReason ?? "unknown";
  if (finish === "stop" || finish === "tool_calls") return { type, reason: "end_turn" };
  const reason = finish === "max_tokens" || finish === "refusal" ? finish : "error";
  return { type, reason, error: createRunError(finish, turnEnd?.rawFinishReason ?? "", report) };
}

type Failure = Exclude<TurnFinishReason, "stop" | "tool_calls">;

/** The codes are those of the closed table (C20). */
function createRunError(finish: Failure, word: string, report: ModelStreamReport | undefined): RunError {
  const error = report?.errors[0];
  const failures: Readonly<Record<Failure, readonly [code: string, message: string]>> = {
    max_tokens: ["MAX_TOKENS", "The answer was cut at the token limit. Allow more tokens or ask for less."],
    refusal: ["REFUSED", report?.refusal || "The model refused to answer."],
    content_filter: ["CONTENT_FILTER", "The provider's filter stopped the answer."],
    error: ["PROVIDER_REJECTED", error?.message || "The provider reported an error."],
    unknown: ["STREAM_TRUNCATED", `The answer stopped before its end${word === "" ? "" : ` (${word})`}. Ask again.`],
  };
  const [code, message] = failures[finish];
  return { code, message, source: "provider", details: error?.code ?? "", retryable: finish === "unknown" };
}
