/** One run: the turn loop. It knows only ports, and makes only run events. */
import { toWellFormed } from "@sheaf/documents/text";
import { findEndFailure } from "@sheaf/documents/model-streams";
import type { RunEnd, RunEventBody, RunStart, ToolResult, TurnEnd, TurnStart, Usage } from "@sheaf/protocol";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import { estimateUsage } from "@sheaf/models/estimated-usage";
import type { ModelMessage, ModelRequest } from "@sheaf/models/provider";
import { toCancelledOutcome } from "../tools/failure.ts";
import type { ToolInvocation } from "../tools/tool.ts";
import type { CutLog } from "./conversations/cut-log.ts";
import { takeMessages, type AddedMessages } from "./added-messages.ts";
import { createFinalAnswer, type AnswerCheck } from "./final-answer.ts";
import { toEndedRequest } from "@sheaf/protocol/cost";
import { createBudget, type Budget, type BudgetLimits, zeroUsage } from "./budget.ts";
import { createClosingCalls } from "./closing-calls.ts";
import { createContextSize, createShortener } from "./compaction.ts";
import { toTokens } from "./fit-texts.ts";
import { createCorrections } from "./corrections.ts";
import type { EventGroup } from "./run-log.ts";
import { createHistory } from "./history.ts";
import { createLosses } from "./losses.ts";
import { createLoopGuard } from "./loop-guard.ts";
import { type ModelTurnPorts, type TurnState, createTurnState, runModelTurn } from "./model-turn.ts";
import { toAbortReason, toRunFailure } from "./run-failure.ts";
import { createSecondChances } from "./second-chances.ts";
import { createRunHooks, type HookMoments } from "./run-hooks.ts";
import { type CallPorts, runToolCalls } from "./tool-calls.ts";

export interface RunSettings {
  readonly start: Omit<RunStart, "type">;
  /** Messages of earlier responses, oldest first. */
  readonly history: readonly ModelMessage[];
  readonly system: string;
  readonly limits: BudgetLimits;
  /** A response that another process started and this one continues. */
  readonly cut?: CutLog | undefined;
  /** `--on-denied stop`: the first refusal ends the run (C20, code 8). */
  readonly stopsOnDenied: boolean;
  /** The place of this run in its session, for hooks; undefined in the middle. */
  readonly moments?: HookMoments | undefined;
  /** Time for background commands once the model is done; default: the run ends them (C169). Milliseconds. */
  readonly backgroundWaitMs?: number | undefined;
  /** The tools that the model had, for a replay, whose requests list no tools (N127). */
  readonly toolNames?: readonly string[] | undefined;
}

export interface RunPorts extends ModelTurnPorts, AddedMessages, Omit<CallPorts, "runBudget"> {
  /** Makes ids of tool calls (N29). */
  readonly newCallId: () => string;
  /** `--output-schema`: checks the final answer. */
  readonly checkAnswer?: AnswerCheck | undefined;
  /** A subagent's budget. Default: a new budget by the limits. */
  readonly budget?: Budget | undefined;
}

/** Number of times in a row that a provider may interrupt its answer. */
const MAX_PAUSES = 10;

/** Number of times in a row that Sheaf repeats a request whose answer broke off before its text. */
const MAX_REPEATS = 2;

/** A note, because the system prompt must not change during a run (C38). */
const wrapUpNote =
  "This is the last turn in the budget of this answer: call no tools. Report the work done, the work left, and how to continue.";

/**
 * Runs turns until the model ends, asks or fails, or until a budget ends.
 * The first event is `run_start` and the last is always `run_end`; each tool call gets exactly one result.
 * An abort ends the run promptly, with the `SheafError` in its reason or with CANCELLED.
 */
export async function* runResponse(
  settings: RunSettings,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  const run = createRunMemory(settings, ports);
  const { shortener } = run;
  let end: RunEnd | undefined;
  if (settings.cut) {
    end = await run.continueCut(settings.cut);
    const { closing, events, lastTurn } = settings.cut;
    const last = events.at(-1);
    const isNew = events.every(({ type }) => type === "run_start" || type === "hook_result");
    if (isNew) end = yield* run.noteAll(run.hooks.atStart(run.start, signal));
    else if (!end && last?.type === "user_message") yield* run.noteAll(run.hooks.atMessage(last.message, signal));
    end ??= run.hooks.end;
    if (closing.length > 0) yield run.note({ events: closing, durability: "synced" });
    // The process died before the hooks had their say, or while they had it.
    if (end?.reason === "end_turn") end = yield* run.noteAll(run.askStop(end, lastTurn?.text ?? "", signal));
  } else {
    yield run.note({ events: [run.start], durability: "synced" });
    end = run.losses.failure ?? (yield* run.noteAll(run.hooks.atStart(run.start, signal)));
    if (!end && run.start.shortens) end = yield* runShortening(run, signal);
  }
  let repeats = 0;
  // A repeated request belongs to the same turn (N5).
  for (let turn = run.turns + 1; !(end ??= run.losses.failure); turn += repeats > 0 ? 0 : 1) {
    const shorter = repeats > 0 ? undefined : await shortener.shortenIfFull(signal);
    if (shorter && shorter.events.length > 0) yield run.note({ events: shorter.events, durability: "synced" });

    const state = createTurnState();
    // A run that was aborted between turns makes no further request.
    if (!signal.aborted) {
      const tools = (await ports.tools.refresh?.(signal)) ?? ports.tools.definitions;
      const { turnStart, request } = run.startTurn(turn, tools, repeats > 0);
      yield run.note({ events: [turnStart], durability: "grouped" });
      for await (const group of runModelTurn(request, state, { ...ports, toolNames: settings.toolNames }, signal))
        yield run.note(group);
      if (!state.end) yield run.note({ events: [toMissingEnd(state)], durability: "synced" });
      if (repeats < MAX_REPEATS && isRepeatable(state, signal)) {
        repeats += 1;
        run.budget.addUsage(state.end?.usage ?? zeroUsage, state.end?.model?.price);
        const cancelled = toOpenResults(state, "the answer broke off before this call: Sheaf asks the model again");
        if (cancelled.length > 0) yield run.note({ events: cancelled, durability: "synced" });
        continue;
      }
      repeats = 0;
      run.budget.addTurn(toSpentUsage(state, request, settings.limits), state.end?.model?.price);
    }
    const retry = await shortener.shortenIfRefused(state, signal);
    if (retry.events.length > 0) yield run.note({ events: retry.events, durability: "synced" });
    if (retry.compaction) continue;

    end = await run.findEnd(state, signal);
    if (end) {
      const open = toOpenResults(state);
      if (open.length > 0) yield run.note({ events: open, durability: "synced" });
      if (end.reason === "end_turn") end = yield* run.noteAll(run.askStop(end, state.text, signal));
    } else if (state.calls.length > 0) {
      const results: ToolResult[] = [];
      run.budget.addToolCalls(state.calls.length);
      const windowTokens = run.start.context?.windowTokens;
      for await (const group of runToolCalls(state.calls, { ...ports, runBudget: run.budget, windowTokens }, signal)) {
        results.push(...group.events.filter((event) => event.type === "tool_result"));
        yield run.note(group);
      }
      end = run.findEndAfterTools(state, results, signal);
    }
    const isPaused = state.end?.rawFinishReason === "pause_turn";
    if (!end && !isPaused) end = yield* run.noteAll(takeMessages(run.hooks, ports, signal));
  }
  yield* run.noteAll(run.hooks.atEnd((end = run.losses.toEnd(end)), signal));
  // Hooks at the end may fail too.
  end = run.losses.toEnd(end);
  yield* run.closing.run(end, ports);
  yield { events: [end], durability: "synced" };
}

/** Summarises the conversation without a turn, because the user asked for it. */
async function* runShortening(
  { shortener, note }: Pick<RunMemory, "shortener" | "note">,
  signal: AbortSignal,
): AsyncGenerator<EventGroup, RunEnd> {
  try {
    const shorter = await shortener.shorten(signal);
    if (shorter.events.length > 0) yield note({ events: shorter.events, durability: "synced" });
  } catch (error) {
    if (!signal.aborted) return toRunFailure(toSheafError(error));
  }
  return signal.aborted ? toRunFailure(toAbortReason(signal)) : { type: "run_end", reason: "end_turn" };
}

type RunMemory = ReturnType<typeof createRunMemory>;

/** State that a run keeps from turn to turn. */
function createRunMemory(settings: RunSettings, ports: RunPorts) {
  const start: RunStart = { type: "run_start", ...settings.start };
  const history = createHistory(settings.history);
  const size = createContextSize(start.context?.usedTokens);
  // Excludes the tools, which a replay lacks; the provider's next figure includes them.
  const headTokens = toTokens(settings.system);
  const loop = createLoopGuard();
  const budget = ports.budget ?? createBudget(settings.limits, start.price);
  const answer = createFinalAnswer(ports.checkAnswer);
  const closing = createClosingCalls(settings.start, settings.backgroundWaitMs);
  const corrections = createCorrections();
  const chances = createSecondChances();
  const losses = createLosses(start, ports.agentName);
  const hooks = createRunHooks(ports.hooks, settings.moments);
  let nextNote: string | undefined;
  let turnText = "";
  let hasText = false;
  let pauses = 0;
  let turns = 0;
  const memory = {
    start,
    budget,
    closing,
    losses,
    hooks,
    get turns(): number {
      return turns;
    },
    /** Takes over the events of another process. Returns the end of the run, or undefined if it continues. */
    async continueCut({ events, lastTurn, note }: CutLog): Promise<RunEnd | undefined> {
      memory.note({ events, durability: "grouped" });
      closing.forgetTerminals();
      for (const event of events) {
        if (event.type === "turn_start") turns = event.turn;
        if (event.type === "text_delta") hasText ||= event.text.trim() !== "";
        if (event.type === "turn_end") budget.addTurn(event.usage, event.model?.price);
        if (event.type === "tool_call_arguments") budget.addToolCalls(1);
        if (event.type !== "agent_event") continue;
        if (event.event.type === "turn_start") budget.addTurn(zeroUsage);
        if (event.event.type === "turn_end") budget.addUsage(event.event.usage, event.event.model?.price);
        if (event.event.type === "tool_call_arguments") budget.addToolCalls(1);
      }
      nextNote = note;
      if (!lastTurn) return undefined;
      const { calls, results, text } = lastTurn;
      if (calls.length > 0) return toEndAfterTools(results, settings, ports, undefined);
      return answer.toEnd(text);
    },
    shortener: createShortener(start, { history, size, headTokens }, ports),
    /** Records the events of the run, and returns them. */
    note(group: EventGroup): EventGroup {
      for (const event of group.events) {
        history.push(event);
        size.push(event);
        closing.push(event);
        corrections.push(event);
        losses.push(event);
        hooks.push(event);
        if (event.type === "agent_event") hooks.push(event.event);
        // `addTurn` adds the usage of turns.
        const ended = toEndedRequest(event);
        if (ended?.type === "compaction") budget.addUsage(ended.usage, ended.model?.price);
      }
      return group;
    },
    /** Records all groups of a generator, and returns its result. */
    async *noteAll<Result>(groups: AsyncGenerator<EventGroup, Result>): AsyncGenerator<EventGroup, Result> {
      for (;;) {
        const step = await groups.next();
        if (step.done) return step.value;
        yield memory.note(step.value);
      }
    },
    /** The first event of a turn, and the request to the model. */
    startTurn(
      turn: number,
      tools: ModelRequest["tools"],
      repeats: boolean,
    ): { readonly turnStart: TurnStart; readonly request: ModelRequest } {
      const notes = [
        nextNote,
        answer.note,
        hooks.takeNote(),
        loop.note,
        corrections.take(),
        budget.isLastTurn ? wrapUpNote : undefined,
      ];
      nextNote = undefined;
      const text = repeats ? turnText : notes.filter((line) => line !== undefined).join("\n");
      turnText = text;
      const turnNote: readonly ModelMessage[] = text === "" ? [] : [{ role: "user", text, isNote: true }];
      return {
        turnStart: {
          type: "turn_start",
          turn,
          ...(repeats && { repeats: true as const }),
          ...(text !== "" && { note: text }),
        },
        request: {
          // Descriptions by servers and programs did not pass the log, and providers refuse lone surrogates.
          ...toWellFormed({
            system: settings.system,
            messages: [...(repeats ? history.messagesBeforeTurn : history.messages), ...turnNote],
            tools,
          }),
          mode: start.mode,
          effort: start.effort,
          agent: ports.agentName,
          includesReasoning: start.includesReasoning,
          webSearch: start.webSearch,
          newCallId: ports.newCallId,
        },
      };
    },
    /** The way the run ends after a turn; undefined: it continues. */
    async findEnd(state: TurnState, signal: AbortSignal): Promise<RunEnd | undefined> {
      hasText ||= state.text.trim() !== "";
      // The provider interrupts a long search, and continues once it gets its own answer again (C48).
      pauses = state.end?.rawFinishReason === "pause_turn" ? pauses + 1 : 0;
      const isPaused = pauses > 0 && pauses <= MAX_PAUSES;
      const end = await toRunEnd(state, { hasText, isPaused }, budget, signal);
      const isOver = signal.aborted || state.error || (await budget.findExceeded(state.calls.length));
      const note = chances.take(state, end);
      if (note !== undefined && !isOver) return void (nextNote = note);
      if (end?.reason !== "end_turn") return end;
      const checked = await answer.toEnd(state.text, chances.text);
      return signal.aborted ? toRunFailure(toAbortReason(signal)) : checked;
    },
    /** Runs the user's hooks and the verifying commands. Returns the end of the run, or undefined if it continues. */
    async *askStop(end: RunEnd, text: string, signal: AbortSignal): AsyncGenerator<EventGroup, RunEnd | undefined> {
      const exceeded = await budget.findExceeded(0);
      const waited = yield* closing.wait(ports, signal);
      if (waited !== undefined && !signal.aborted) return exceeded ? toRunFailure(exceeded) : void (nextNote = waited);
      return yield* hooks.atStop({ end, text, mayContinue: !exceeded }, signal);
    },
    /** Returns the end of the run after the tool calls of a turn; undefined: it continues. */
    findEndAfterTools({ calls }: TurnState, results: readonly ToolResult[], signal: AbortSignal): RunEnd | undefined {
      loop.addTurn(calls, results);
      // The next turn notices an abort.
      if (signal.aborted) return undefined;
      const end = hooks.end ?? toEndAfterTools(results, settings, ports, loop.failure);
      // The rest of the budget can be used up by subagents only.
      const exceeded = end ? undefined : budget.findUsedUp();
      return exceeded ? toRunFailure(exceeded) : end;
    },
  };
  return memory;
}

/** The end of a turn that broke off, for the log. */
function toMissingEnd({ error }: TurnState): TurnEnd {
  return {
    type: "turn_end",
    finishReason: error ? "error" : "unknown",
    rawFinishReason: "",
    usage: zeroUsage,
    modelMs: 0,
  };
}

/** The tokens of the turn. Where the provider reports none, an estimate, so that budgets still apply (C24). */
function toSpentUsage(
  { end, text, calls }: TurnState,
  request: ModelRequest,
  { maxTokens, maxCostUsd }: BudgetLimits,
): Usage {
  const usage = end?.usage ?? zeroUsage;
  const isCounted = maxTokens !== undefined || maxCostUsd !== undefined;
  if (!end || usage.totalTokens > 0 || !isCounted) return usage;
  return estimateUsage(request, Buffer.byteLength(text + JSON.stringify(calls)));
}

/** The end of the run after this turn; undefined if there are calls to run, or the provider has only paused. */
async function toRunEnd(
  state: TurnState,
  { hasText, isPaused }: { readonly hasText: boolean; readonly isPaused: boolean },
  budget: Budget,
  signal: AbortSignal,
): Promise<RunEnd | undefined> {
  if (signal.aborted) return toRunFailure(toAbortReason(signal, state.wait));
  if (state.error) return toRunFailure(state.error);
  const isEmpty = !hasText && state.calls.length === 0 && !isPaused;
  const failure = findEndFailure(state.end?.finishReason, isEmpty);
  if (failure) return toRunFailure(new SheafError(failure.code, failure.message, { source: "provider" }));
  if (state.calls.length > 0 || isPaused) {
    const exceeded = await budget.findExceeded(state.calls.length);
    return exceeded && toRunFailure(exceeded);
  }
  return { type: "run_end", reason: "end_turn" };
}

/**
 * Finds results that end the run: a question to the user (N42), the plan of plan mode (N40), a refusal if the caller
 * asked for that (C20), or a loop.
 */
function toEndAfterTools(
  results: readonly ToolResult[],
  { start, stopsOnDenied }: RunSettings,
  { checkAnswer }: RunPorts,
  loop: SheafError | undefined,
): RunEnd | undefined {
  const denied = stopsOnDenied ? results.find(isDenied) : undefined;
  if (denied)
    return toRunFailure(new SheafError("PERMISSION_REQUIRED", denied.error?.message ?? "Sheaf refused a call"));
  const kinds = new Set(results.map(({ status, effect }) => (status === "success" ? effect?.kind : undefined)));
  if (kinds.has("question")) return { type: "run_end", reason: "clarification" };
  // The model still has to write an answer that must fit a schema.
  const isPlanned = start.mode === "plan" && kinds.has("plan") && !checkAnswer;
  if (isPlanned) return { type: "run_end", reason: "end_turn" };
  return loop && toRunFailure(loop);
}

/** True for a refused call, and for a subagent that a refusal ended. */
function isDenied({ status, effect, error }: ToolResult): boolean {
  return status === "rejected" || (effect?.kind === "agent" && error?.code === "PERMISSION_REQUIRED");
}

/** True for a repeatable request: no text appeared, no tool ran, and the provider may answer the next time. */
function isRepeatable({ error, hasBegun, text, foreignCalls }: TurnState, signal: AbortSignal): boolean {
  if (signal.aborted || !error?.retryable || error.source !== "provider" || error.resetsAt !== undefined) return false;
  return error.code !== "STREAM_STALLED" && hasBegun && text === "" && foreignCalls.size === 0;
}

/** Results for calls that will no longer run. */
function toOpenResults(state: TurnState, message = "the run ended before this call"): RunEventBody[] {
  const calls: readonly Pick<ToolInvocation, "callId">[] = [
    ...state.calls,
    ...[...state.openCalls.keys()].map((callId) => ({ callId })),
  ];
  return calls.map(({ callId }) => ({
    type: "tool_result",
    callId,
    ...toCancelledOutcome(message),
    durationMs: 0,
  }));
}
