import type {
  ModelEvent,
  RunEnd,
  RunError,
  RunEvent,
  RunEventBody,
  RunStart,
  TodoChange,
  TodoStatus,
  ToolDocumentType,
  ToolEffect,
  ToolOutputDelta,
  ToolResult,
  TurnEnd,
  TurnFinishReason,
} from "@sheaf/protocol";
import { findTextArgument, toListArgument, toTextArgument, type ToolArguments } from "../tool-arguments.ts";
import { notExecutedCode } from "../tool-document.ts";
import { toWellFormed } from "../whole-characters.ts";
import type { ModelStreamReport } from "./model-stream-report.ts";

/** Events of consecutive turns of a model, each with its `turn_end`; tool results between them, if any. */
export type TurnEvents =
  | Iterable<ModelEvent | ToolOutputDelta | ToolResult>
  | AsyncIterable<ModelEvent | ToolOutputDelta | ToolResult>;

export interface RunEventOptions {
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  /** Returns a new UUID. */
  readonly newId: () => string;
  /** Known fields of `run_start`; the others are empty. */
  readonly run?: Partial<Omit<RunStart, "type">>;
  /** Report of the decoder of the last turn: its errors explain why the run failed. */
  readonly report?: ModelStreamReport;
}

/**
 * Makes a complete run log from the events of one or more turns, so that documents can be made without the agent.
 * A call without a result before the next turn or the end gets one (C8): NOT_EXECUTED, except for plans, questions
 * and task lists, which are complete as the model wrote them.
 * Give the decoders of all turns the same `newCallId`: call ids must be unique (N29).
 */
export async function* toRunEvents(
  events: TurnEvents,
  options: RunEventOptions,
): AsyncGenerator<RunEvent, void, undefined> {
  const number = createNumbering(options.now);
  const calls = createOpenCalls();
  let turn = 0;
  let turnEnd: TurnEnd | undefined;
  let isInTurn = false;
  let hasText = false;
  let hasCalls = false;
  yield number(createRunStart(options));
  for await (const event of events) {
    const isOfTool = event.type === "tool_result" || event.type === "tool_output_delta";
    if (!isInTurn && !isOfTool) {
      yield* calls.end().map(number);
      turn += 1;
      isInTurn = true;
      hasCalls = false;
      turnEnd = undefined;
      yield number({ type: "turn_start", turn });
    }
    calls.read(event);
    hasText ||= event.type === "text_delta" && event.text.trim() !== "";
    hasCalls ||= event.type === "tool_call_start";
    yield number(event);
    if (event.type !== "turn_end") continue;
    isInTurn = false;
    turnEnd = event;
  }
  const hasQuestion = calls.hasQuestion;
  yield* calls.end().map(number);
  // What a provider says of an error is its own text.
  yield number(
    toWellFormed(createRunEnd({ turnEnd, hasQuestion, isEmpty: !hasText && !hasCalls, report: options.report })),
  );
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

/** The calls without a result. */
interface OpenCalls {
  read(event: RunEventBody): void;
  /** Makes the missing results. */
  end(): ToolResult[];
  /** One of them asks the user. */
  readonly hasQuestion: boolean;
}

function createOpenCalls(): OpenCalls {
  const calls = new Map<string, UnrunToolCall>();
  return {
    read(event) {
      if (event.type === "tool_result") calls.delete(event.callId);
      else if (event.type === "tool_call_start") calls.set(event.callId, { ...event, arguments: undefined });
      else if (event.type === "tool_call_arguments" && event.rawArguments === undefined) {
        const call = calls.get(event.callId);
        if (call !== undefined) calls.set(event.callId, { ...call, arguments: event.arguments });
      }
    },
    end() {
      const results = Array.from(calls.values(), toUnrunResult);
      calls.clear();
      return results;
    },
    get hasQuestion() {
      return [...calls.values()].some((call) => call.documentType === "clarification" && call.arguments !== undefined);
    },
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

interface RunOutcome {
  /** The end of the last turn; undefined if it has none. */
  readonly turnEnd: TurnEnd | undefined;
  readonly hasQuestion: boolean;
  /** No turn has text, and the last one has no call. */
  readonly isEmpty: boolean;
  readonly report: ModelStreamReport | undefined;
}

/** How the run ended, by its last turn (N2, N42). */
function createRunEnd({ turnEnd, hasQuestion, isEmpty, report }: RunOutcome): RunEnd {
  const type = "run_end";
  const finish = turnEnd?.finishReason ?? "unknown";
  if (finish === "stop" || finish === "tool_calls") {
    // Missing text is never ignored (C20).
    if (report?.broken) return { type, reason: "error", error: createRunError("unknown", "a part is broken", report) };
    if (isEmpty) return { type, reason: "error", error: createEmptyAnswerError(report) };
    return { type, reason: hasQuestion ? "clarification" : "end_turn" };
  }
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

/** An answer is at least one document (N44), so an empty one is a failure (C20). */
function createEmptyAnswerError(report: ModelStreamReport | undefined): RunError {
  const items = (report?.serverItems ?? []).map(({ type }) => type);
  const message =
    items.length === 0
      ? "The model ended without a word. Ask again."
      : `The model ended without a word: its answer holds only what the provider did by itself (${items.join(", ")}).`;
  return { code: "EMPTY_ANSWER", message, source: "provider", details: "", retryable: true };
}

/** A tool call that only the model's side is known of. */
interface UnrunToolCall {
  readonly callId: string;
  readonly toolName: string;
  readonly documentType: ToolDocumentType;
  /** Undefined while incomplete, or if they did not parse (N30). */
  readonly arguments: ToolArguments | undefined;
}

/**
 * The result of a call that was not run.
 * A plan, a question and a change of the task list need no run: they are what the model wrote, and a success.
 * Everything else is an error NOT_EXECUTED.
 */
function toUnrunResult(call: UnrunToolCall): ToolResult {
  const { callId, toolName, documentType, arguments: values } = call;
  const base = { type: "tool_result", callId, output: "", durationMs: 0 } as const;
  const isDone = documentType === "plan" || documentType === "clarification" || documentType === "todo_update";
  if (isDone && values !== undefined) {
    return { ...base, status: "success", ...(documentType === "todo_update" ? { effect: toTodoEffect(values) } : {}) };
  }
  const why = values === undefined ? "its arguments are no complete JSON object" : "nothing here runs tools";
  const message = `The call of ${toolName || "a tool without a name"} was not run: ${why}.`;
  return { ...base, status: "error", error: { code: notExecutedCode, message, details: "" } };
}

const statuses: ReadonlyMap<string, TodoStatus> = new Map(
  (["pending", "in_progress", "completed", "cancelled"] as const).map((status) => [status, status]),
);

/** The changes that the model requests, without entries that lack an id or a known status (N41). */
function toTodoEffect(values: ToolArguments): ToolEffect {
  const changes = toListArgument(values, "todos").flatMap((entry): TodoChange[] => {
    const id = toTextArgument(entry, "id");
    const status = statuses.get(toTextArgument(entry, "status"));
    const content = findTextArgument(entry, "content");
    if (id === "" || status === undefined) return [];
    return [{ id, status, ...(content === undefined ? {} : { content }) }];
  });
  return { kind: "todo", changes, todos: [] };
}
