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
} from "@sheaf/protocol";
import { findTextArgument, toListArgument, toTextArgument, type ToolArguments } from "../tool-arguments.ts";
import { notExecutedCode } from "../tool-document.ts";
import { toWellFormed } from "../whole-characters.ts";
import { createTextCallReader, type TextCallReader } from "../text-calls/text-call-reader.ts";
import { findAnswerFailure, findEndFailure, type AnswerFailure } from "./answer-failure.ts";
import { imageName } from "./server-call.ts";
import { createModelStreamReport, type ModelStreamReport } from "./model-stream-report.ts";

/** Events of consecutive turns of a model, each with its `turn_end`, and tool results between them, if any. */
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
  /** Report of the last turn's decoder: it has the model, and its errors explain why the run failed. */
  readonly report?: ModelStreamReport;
  /** Tools whose calls the model may have written as text (N127). Default: none. */
  readonly toolNames?: readonly string[];
}

/**
 * Makes a complete run log from the events of one or more turns, so that documents can be made without the agent. A
 * call without a result before the next turn or the end gets one (C8). It is NOT_EXECUTED, except for plans, questions
 * and task lists, which are complete as the model wrote them. Give the decoders of all turns the same `newCallId`: call
 * ids must be unique (N29).
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
  let isStarted = false;
  for await (const event of readTextCalls(events, options)) {
    // The first payload of a body contains the model.
    if (!isStarted) yield number(createRunStart(options));
    isStarted = true;
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
    // An image is an answer as well.
    hasText ||= event.type === "tool_call_start" && event.toolName === imageName && event.origin === "provider";
    hasCalls ||= event.type === "tool_call_start" && event.origin !== "provider";
    yield number(event);
    if (event.type !== "turn_end") continue;
    isInTurn = false;
    turnEnd = event;
  }
  if (!isStarted) yield number(createRunStart(options));
  const { hasQuestion } = calls;
  yield* calls.end().map(number);
  const isEmpty = !hasText && !hasCalls;
  const end = createRunEnd({ turnEnd, hasQuestion, isEmpty, report: options.report, now: options.now() });
  // A provider's account of an error is free text, which may contain half characters.
  yield number(toWellFormed(end));
}

/** Reads calls in the text of each turn, with a separate reader for each turn. */
async function* readTextCalls(
  events: TurnEvents,
  { toolNames = [], newId }: RunEventOptions,
): AsyncGenerator<ModelEvent | ToolOutputDelta | ToolResult> {
  const create = (): TextCallReader => createTextCallReader({ toolNames, newCallId: () => `call_${newId()}` });
  let reader = create();
  for await (const event of events) {
    if (event.type === "tool_result" || event.type === "tool_output_delta") yield event;
    else yield* reader.push(event);
    if (event.type === "turn_end") reader = create();
  }
  yield* reader.flush();
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

/** The calls that lack a result. */
interface OpenCalls {
  read(event: RunEventBody): void;
  /** Makes the missing results. */
  end(): ToolResult[];
  /** True if one of them asks the user. */
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

function createRunStart({ newId, run, report }: RunEventOptions): RunStart {
  const model = run?.model ?? report?.model ?? "";
  return {
    responseId: `chat_${newId()}`,
    conversationId: `conv_${newId()}`,
    mode: "agent",
    model,
    modelName: model,
    apiKeySource: "none",
    workspace: "",
    permissionMode: "default",
    sandbox: "untried",
    trusted: false,
    sheafVersion: "",
    prompt: "",
    ...run,
    type: "run_start",
  };
}

interface RunOutcome {
  /** The end of the last turn; undefined without one. */
  readonly turnEnd: TurnEnd | undefined;
  readonly hasQuestion: boolean;
  /** True if no turn has text, and the last one has no call. */
  readonly isEmpty: boolean;
  readonly report: ModelStreamReport | undefined;
  readonly now: number;
}

/** Makes the end of the run from its last turn (N2, N42), as a live run with this turn does. */
function createRunEnd({ turnEnd, hasQuestion, isEmpty, report, now }: RunOutcome): RunEnd {
  const type = "run_end";
  const failure = findFailure(turnEnd, report, now) ?? findEndFailure(turnEnd?.finishReason, isEmpty);
  if (!failure) return { type, reason: hasQuestion ? "clarification" : "end_turn" };
  return { type, reason: endReasons[failure.code] ?? "error", error: toRunError(failure, report) };
}

const endReasons: Readonly<Partial<Record<string, RunEnd["reason"]>>> = {
  MAX_TOKENS: "max_tokens",
  REFUSED: "refusal",
  CONTENT_FILTER: "refusal",
};

/** Codes after which the same request may work (C20). */
const retryableCodes: ReadonlySet<string> = new Set(["RATE_LIMITED", "OVERLOADED", "STREAM_TRUNCATED", "EMPTY_ANSWER"]);

/** Finds the failure. Without a report, only the end of the turn is known. */
function findFailure(
  turnEnd: TurnEnd | undefined,
  report: ModelStreamReport | undefined,
  now: number,
): AnswerFailure | undefined {
  const { finishReason = "unknown", rawFinishReason = "" } = turnEnd ?? {};
  if (turnEnd === undefined || (report === undefined && finishReason === "unknown")) {
    const reason = rawFinishReason === "" ? "it gave no reason" : `its reason is "${rawFinishReason}"`;
    return { code: "STREAM_TRUNCATED", reason, isRetryable: true };
  }
  return findAnswerFailure(report ?? { ...createModelStreamReport(), isWhole: true }, turnEnd, now);
}

type Failure = AnswerFailure | NonNullable<ReturnType<typeof findEndFailure>>;

/** Makes the run's error. Its codes are in the closed table (C20). */
function toRunError(failure: Failure, report: ModelStreamReport | undefined): RunError {
  const { code } = failure;
  return {
    code,
    message: "reason" in failure ? formatReason(failure) : findOwnWords(code, report) || failure.message,
    source: "provider",
    details: report?.errors[0]?.code ?? "",
    retryable: retryableCodes.has(code) && !("isRetryable" in failure && !failure.isRetryable),
    ...("resetsAt" in failure && { resetsAt: failure.resetsAt }),
  };
}

function formatReason({ code, reason }: AnswerFailure): string {
  if (code === "STREAM_TRUNCATED") return `the answer broke off before its end (${reason}): ask again`;
  return `the provider reported an error: ${reason}`;
}

/** Returns the text of the model or the provider that replaced an answer. */
function findOwnWords(code: string, report: ModelStreamReport | undefined): string {
  if (code === "REFUSED") return report?.refusal ?? "";
  const items = (report?.serverItems ?? []).map(({ type }) => type);
  if (code !== "EMPTY_ANSWER" || items.length === 0) return "";
  return `the model ended without an answer: it has only steps of the provider itself (${items.join(", ")})`;
}

/** A tool call of which only the model's side is known. */
interface UnrunToolCall {
  readonly callId: string;
  readonly toolName: string;
  readonly documentType: ToolDocumentType;
  /** The arguments; undefined while incomplete, or if they did not parse (N30). */
  readonly arguments: ToolArguments | undefined;
}

/**
 * Makes the result of a call that never ran. A plan, a question and a change of the task list need no run: they are
 * complete as the model wrote them, and a success. Every other call is an error NOT_EXECUTED.
 */
function toUnrunResult(call: UnrunToolCall): ToolResult {
  const { callId, toolName, documentType, arguments: values } = call;
  const base = { type: "tool_result", callId, output: "", durationMs: 0 } as const;
  const isDone = documentType === "plan" || documentType === "clarification" || documentType === "todo_update";
  if (isDone && values !== undefined) {
    return { ...base, status: "success", ...(documentType === "todo_update" ? { effect: toTodoEffect(values) } : {}) };
  }
  const why = values === undefined ? "its arguments are not a complete JSON object" : "no program here runs tools";
  const message = `The call of ${toolName || "a tool without a name"} was not run: ${why}.`;
  return { ...base, status: "error", error: { code: notExecutedCode, message, details: "" } };
}

const statuses: ReadonlyMap<string, TodoStatus> = new Map(
  (["pending", "in_progress", "completed", "cancelled"] as const).map((status) => [status, status]),
);

/** Lists the changes that the model requests, without entries that lack an id or a known status (N41). */
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
