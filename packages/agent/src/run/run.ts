/** One run: the turn loop. It knows ports only, and makes nothing but run events. */
import type { RunEnd, RunEventBody, RunStart, ToolResult, TurnEnd, TurnStart, Usage } from "@sheaf/protocol";
import { SheafError } from "../base/errors.ts";
import type { Model, ModelMessage, ModelRequest } from "../model/provider.ts";
import { toCancelledOutcome } from "../tools/failure.ts";
import type { Approver } from "../tools/approval.ts";
import type { ToolBox, ToolInvocation } from "../tools/tool.ts";
import { createFinalAnswer, type AnswerCheck } from "./final-answer.ts";
import { createBudget, type Budget, type BudgetLimits } from "./budget.ts";
import { createClosingCalls } from "./closing-calls.ts";
import { createShortener } from "./compaction.ts";
import { createContextSize, toTokens } from "./context-size.ts";
import type { EventGroup } from "./event-group.ts";
import { createHistory, type History } from "./history.ts";
import { createLoopGuard } from "./loop-guard.ts";
import { createTurnState, runModelTurn, type TurnState } from "./model-turn.ts";
import type { QuoteCheck } from "./reference-checker.ts";
import { toFailure } from "./run-failure.ts";
import { runToolCalls } from "./tool-calls.ts";

/** What a run begins with. */
export interface RunSettings {
  readonly start: Omit<RunStart, "type">;
  /** Messages of the responses before, oldest first. */
  readonly history: readonly ModelMessage[];
  readonly system: string;
  readonly limits: BudgetLimits;
  /** `--on-denied stop`: the first refusal ends the run (C20, code 8). */
  readonly stopsOnDenied: boolean;
}

/** What a run uses. */
export interface RunPorts {
  readonly model: Model;
  readonly tools: ToolBox;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
  /** Makes ids of tool calls (N29). */
  readonly newCallId: () => string;
  /** Whether quoted lines stand in their file (N22). */
  readonly isInFile: QuoteCheck;
  /** Who may be asked whether a call may run (X8); undefined: nobody. */
  readonly approver?: Approver | undefined;
  /** Makes ids of approvals: `appr_…`. */
  readonly newApprovalId: () => string;
  /** `--output-schema`: what the final answer must be. */
  readonly checkAnswer?: AnswerCheck | undefined;
}

const zeroUsage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };

const wrapUpNote =
  "\n\nThis is the last turn of the budget: call no tools. Say what is done, what is left, and how to go on.";

/**
 * Runs turns until the model ends, asks, fails, or a budget ends.
 * The first event is `run_start`, the last is `run_end`, whatever happens; each tool call gets exactly one result.
 * An abort ends the run within a moment; a `SheafError` as its reason says why (default: CANCELLED).
 */
export async function* runResponse(
  settings: RunSettings,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  const start: RunStart = { type: "run_start", ...settings.start };
  yield { events: [start], durability: "synced" };
  const closing = createClosingCalls(settings.start);
  const turns = runTurns(start, settings, ports, signal);
  let step = await turns.next();
  for (; !step.done; step = await turns.next()) {
    for (const event of step.value.events) closing.push(event);
    yield step.value;
  }
  yield* closing.run(step.value, ports);
  yield { events: [step.value], durability: "synced" };
}

/** Gives how the run ends. */
async function* runTurns(
  start: RunStart,
  settings: RunSettings,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncGenerator<EventGroup, RunEnd> {
  const history = createHistory(settings.history);
  const size = createContextSize(start.context?.usedTokens);
  const loop = createLoopGuard();
  const budget = createBudget(settings.limits, start.price);
  const answer = createFinalAnswer(ports.checkAnswer);
  const note = (event: RunEventBody): void => {
    history.push(event);
    size.push(event);
    if (event.type === "compaction") budget.addUsage(event.usage);
  };
  note(start);
  const shortener = createShortener(start, history, size, ports);
  let hasText = false;
  /** Stored together with the start of the next turn. */
  let held: EventGroup | undefined;
  for (let turn = 1; ; turn += 1) {
    if (held && shortener.isFull) {
      yield held;
      held = undefined;
    }
    for await (const group of shortener.shortenIfFull(signal)) {
      group.events.forEach(note);
      yield group;
    }
    const state = createTurnState();
    const told = [answer.note, loop.note].filter((text) => text !== undefined).join("\n");
    const turnStart: TurnStart = { type: "turn_start", turn, ...(told !== "" && { note: told }) };
    for await (const group of runTurn(turnStart, settings, { ...ports, budget, history }, state, signal)) {
      group.events.forEach(note);
      yield held ? joinGroups(held, group) : group;
      held = undefined;
    }
    if (held) yield held;
    held = undefined;
    const shorter = await shortener.shortenIfRefused(state, signal);
    if (shorter) {
      note(shorter);
      yield { events: [shorter], durability: "synced" };
      continue;
    }
    hasText ||= state.text.trim() !== "";
    const end = toRunEnd(state, hasText, budget, signal);
    const checked = end?.reason === "end_turn" ? answer.toEnd(state.text) : end;
    if (checked) {
      const open = toOpenResults(state);
      if (open.length > 0) yield { events: open, durability: "synced" };
      return checked;
    }
    if (state.calls.length === 0) continue;
    budget.addToolCalls(state.calls.length);
    const results: ToolResult[] = [];
    for await (const group of runToolCalls(state.calls, ports, signal)) {
      group.events.forEach(note);
      results.push(...group.events.filter((event) => event.type === "tool_result"));
      // The model is asked first: what the last result costs in the store, it costs while the model thinks.
      if (results.length === state.calls.length) held = held ? joinGroups(held, group) : group;
      else yield group;
    }
    loop.addTurn(state.calls, results);
    const endBehindTools = signal.aborted ? undefined : toEndBehindTools(results, settings, ports, loop.failure);
    if (!endBehindTools) continue;
    if (held) yield held;
    return endBehindTools;
  }
}

function joinGroups(one: EventGroup, other: EventGroup): EventGroup {
  const isSynced = one.durability === "synced" || other.durability === "synced";
  return { events: [...one.events, ...other.events], durability: isSynced ? "synced" : "grouped" };
}

interface TurnPorts extends RunPorts {
  readonly budget: Budget;
  readonly history: History;
}

async function* runTurn(
  start: TurnStart,
  settings: RunSettings,
  ports: TurnPorts,
  state: TurnState,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  // A run that was aborted between turns makes no further request.
  if (signal.aborted) return;
  const { tools, budget, history, newCallId } = ports;
  const request = {
    system: settings.system + (budget.isLastTurn ? wrapUpNote : ""),
    messages: [...history.messages, ...(start.note === undefined ? [] : [{ role: "user" as const, text: start.note }])],
    tools: tools.definitions,
    mode: settings.start.mode,
    newCallId,
  };
  // The model is asked first: what the start costs in the store, it costs while the model thinks.
  const answer = runModelTurn(request, state, ports, signal);
  try {
    const first = answer.next();
    await passEventLoop();
    yield { events: [start], durability: "grouped" };
    for (let step = await first; !step.done; step = await answer.next()) yield step.value;
  } finally {
    // Whoever leaves early does not wait for the model.
    void answer.return(undefined);
  }
  if (!state.end) {
    const end: TurnEnd = {
      type: "turn_end",
      finishReason: state.error ? "error" : "unknown",
      rawFinishReason: "",
      usage: zeroUsage,
      modelMs: 0,
    };
    yield { events: [end], durability: "synced" };
  }
  budget.addTurn(toSpentUsage(state, request, settings.limits));
}

/** What the turn took: where the provider tells nothing, an estimate, so that budgets hold all the same (C24). */
function toSpentUsage(
  { end, text, calls }: TurnState,
  { system, messages }: Pick<ModelRequest, "system" | "messages">,
  { maxTokens, maxCostUsd }: BudgetLimits,
): Usage {
  const usage = end?.usage ?? zeroUsage;
  const isCounted = maxTokens !== undefined || maxCostUsd !== undefined;
  if (!end || usage.totalTokens > 0 || !isCounted) return usage;
  const promptTokens = Math.round(toTokens(system) + toTokens(JSON.stringify(messages)));
  const completionTokens = Math.round(toTokens(text) + toTokens(JSON.stringify(calls)));
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated: true };
}

/** Until what is on its way to a socket is out. */
function passEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** How the run ends behind this turn; undefined when there are tool calls to run. */
function toRunEnd(state: TurnState, hasText: boolean, budget: Budget, signal: AbortSignal): RunEnd | undefined {
  if (signal.aborted) return toFailure(toAbortReason(signal));
  if (state.error) return toFailure(state.error);
  switch (state.end?.finishReason) {
    case "max_tokens":
      return toFailure(
        new SheafError(
          "MAX_TOKENS",
          "the model's answer was cut at its token limit: ask for less, or raise the limit",
          {
            source: "provider",
          },
        ),
      );
    case "refusal":
      return toFailure(
        new SheafError("REFUSED", "the model refused to answer: say it in other words, or use another model", {
          source: "provider",
        }),
      );
    case "content_filter":
      return toFailure(
        new SheafError("CONTENT_FILTER", "the provider's content filter cut the answer: change the prompt", {
          source: "provider",
        }),
      );
    default:
  }
  if (state.calls.length > 0) {
    const exceeded = budget.findExceeded(state.calls.length);
    return exceeded && toFailure(exceeded);
  }
  if (!hasText) {
    return toFailure(
      new SheafError("EMPTY_ANSWER", "the model ended without a word: try again, or use another model", {
        source: "provider",
      }),
    );
  }
  return { type: "run_end", reason: "end_turn" };
}

/**
 * Results that end the run: a question to the user (N42), the plan of plan mode (N40), a refusal where that was asked
 * for (C20), or a loop.
 */
function toEndBehindTools(
  results: readonly ToolResult[],
  { start, stopsOnDenied }: RunSettings,
  { checkAnswer }: RunPorts,
  loop: SheafError | undefined,
): RunEnd | undefined {
  const denied = stopsOnDenied ? results.find((result) => result.status === "rejected") : undefined;
  if (denied) return toFailure(new SheafError("PERMISSION_REQUIRED", denied.error?.message ?? "a call was refused"));
  const kinds = new Set(results.map(({ status, effect }) => (status === "success" ? effect?.kind : undefined)));
  if (kinds.has("question")) return { type: "run_end", reason: "clarification" };
  // An answer that must fit a schema still has to be written.
  const isPlanned = start.mode === "plan" && kinds.has("plan") && !checkAnswer;
  if (isPlanned) return { type: "run_end", reason: "end_turn" };
  return loop && toFailure(loop);
}

function toAbortReason(signal: AbortSignal): SheafError {
  const reason: unknown = signal.reason;
  if (reason instanceof SheafError) return reason;
  return new SheafError("CANCELLED", "the run was cancelled", { source: "user" });
}

/** Results for the calls that the run will not run any more. */
function toOpenResults(state: TurnState): RunEventBody[] {
  const calls: readonly Pick<ToolInvocation, "callId">[] = [
    ...state.calls,
    ...[...state.openCalls.keys()].map((callId) => ({ callId })),
  ];
  return calls.map(({ callId }) => ({
    type: "tool_result",
    callId,
    ...toCancelledOutcome("the run ended before this call"),
    durationMs: 0,
  }));
}
