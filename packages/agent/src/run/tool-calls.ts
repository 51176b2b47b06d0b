/** Runs the tool calls of one turn. */
import { createWholeCharacters, toWellFormed } from "@sheaf/documents/text";
import type { ApprovalRequest, RunEventBody, ToolOutputDelta, ToolResult, HookResult } from "@sheaf/protocol";
import type { Approval, CheckArguments } from "../tools/approval.ts";
import { SheafError } from "@sheaf/base/errors";
import { toCancelledOutcome, toFailure } from "../tools/failure.ts";
import { type Hooks, toHookNote, findDecision, toHookReason } from "../tools/hooks/hooks.ts";
import type { AgentPort, ExecuteOptions, ToolBox, ToolInvocation, ToolOutcome } from "../tools/tool.ts";
import { type Budget, zeroUsage } from "./budget.ts";
import { type ApprovalPorts, askApproval, createApprovalRequests, createCallQuestions } from "./approvals.ts";
import type { EventGroup } from "./run-log.ts";

export interface CallPorts extends ApprovalPorts {
  /** The user's hooks before and after each call; undefined: none. */
  readonly hooks?: Hooks | undefined;
  /** The budget that subagents share; undefined: none can run. */
  readonly runBudget?: Budget | undefined;
  /** The model's window; undefined: not known. Tokens. */
  readonly windowTokens?: number | undefined;
}

/**
 * Runs calls, and yields their live output and exactly one result per call as they arrive.
 * Consecutive calls that only read run at the same time, and any other call runs alone, in order (N64). Sheaf asks a
 * person all questions before the first call runs; each call waits only for its own answer.
 */
export async function* runToolCalls(
  asked: readonly ToolInvocation[],
  ports: CallPorts,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  const queue = createEventQueue();
  const hooked = yield* runHooksBefore(asked, ports.hooks, signal);
  const calls = hooked.filter(({ refusal }) => !refusal).map(({ call }) => call);
  const requests = signal.aborted ? [] : await createApprovalRequests(calls, ports);
  if (requests.length > 0) yield { events: requests, durability: "synced" };
  const approvals = askApprovals(requests, calls, ports, queue, signal);
  yield* notify(requests, calls, ports, signal);
  const turn = { id: asked[0]?.callId ?? "", windowTokens: ports.windowTokens };
  for (const batch of await toBatches(hooked, ports.tools)) {
    const running = new Set(batch);
    const tasks = batch.map(async (one) => {
      const result = await runCall(one, { ...ports, turn }, approvals.get(one.call.callId), queue, signal);
      running.delete(one);
      void queue.push(result);
    });
    yield* queue.drain(() => running.size === 0);
    await Promise.all(tasks);
  }
}

/** Groups the calls that may run together. A read that the model wrote after a change sees the change. */
async function toBatches(calls: readonly HookedCall[], tools: Pick<ToolBox, "accessOf">): Promise<HookedCall[][]> {
  const batches: HookedCall[][] = [];
  let isReading = false;
  for (const one of calls) {
    const reads = ["read", "network"].includes(await tools.accessOf(one.call));
    if (reads && isReading) batches.at(-1)!.push(one);
    else batches.push([one]);
    isReading = reads;
  }
  return batches;
}

/** Runs hooks while the questions are open. The calls wait for them, so that a replay sees the same order. */
async function* notify(
  requests: readonly ApprovalRequest[],
  calls: readonly ToolInvocation[],
  { hooks }: CallPorts,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  const names = new Set(requests.map(({ callId }) => calls.find((call) => call.callId === callId)?.toolName));
  if (!hooks || names.size === 0) return;
  const message = `Sheaf needs your permission to use ${[...names].join(", ")}`;
  const events = await hooks.run({ event: "Notification", kind: "permission_prompt", message }, signal);
  if (events.length > 0) yield { events, durability: "grouped" };
}

/** Answers by call. Each is stored before its call may run. */
function askApprovals(
  requests: readonly ApprovalRequest[],
  calls: readonly ToolInvocation[],
  { approver, tools }: ApprovalPorts,
  queue: EventQueue,
  signal: AbortSignal,
): ReadonlyMap<string, Promise<Approval>> {
  if (!approver) return new Map();
  const ask = async (request: ApprovalRequest): Promise<Approval> => {
    const call = calls.find(({ callId }) => callId === request.callId)!;
    const checkEdited: CheckArguments = (args) => tools.checkArguments(call, args);
    const { event, approval } = await askApproval(request, approver, signal, checkEdited);
    await queue.push(event);
    return approval;
  };
  return new Map(requests.map((request) => [request.callId, ask(request)]));
}

async function runCall(
  { call, refusal, note }: HookedCall,
  ports: CallPorts & Pick<ExecuteOptions, "turn">,
  waiting: Promise<Approval> | undefined,
  queue: EventQueue,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { callId } = call;
  const { tools, now, turn, hooks, runBudget } = ports;
  if (refusal) return toWellFormed({ type: "tool_result", callId, ...refusal, durationMs: 0 });
  const approval = await waiting;
  const startedAt = now();
  const characters = createWholeCharacters<ToolOutputDelta>();
  const emitOutput: ExecuteOptions["emitOutput"] = (stream, delta) => {
    for (const event of characters.push({ type: "tool_output_delta", callId, stream, delta })) void queue.push(event);
  };
  const agent = runBudget && createAgentPort(callId, runBudget, queue);
  const questions = createCallQuestions(callId, ports, (event) => queue.push(event), signal);
  const askPerson = questions.ask;
  const options = {
    signal,
    emitOutput,
    turn,
    hooks,
    askPerson,
    agentPort: agent?.port,
    ...(approval && { approval }),
  };
  const { hooks: results = [], ...outcome } = await executeSafely(tools, call, options);
  agent?.end();
  await questions.end();
  for (const result of results) void queue.push(toWellFormed(result));
  const mended = call.mended && `Your JSON had slips, which Sheaf mended: ${call.mended.join(", ")}.`;
  const notes = joinNotes(outcome.note, mended, note, toHookNote(results));
  return toWellFormed({
    type: "tool_result",
    callId,
    ...outcome,
    ...(notes !== undefined && { note: notes }),
    durationMs: now() - startedAt,
  });
}

/** Stores the events of a subagent in the log of its run until its call has ended. */
function createAgentPort(callId: string, budget: Budget, queue: EventQueue) {
  let hasEnded = false;
  let open = 0;
  const port: AgentPort = {
    async emit(events) {
      if (hasEnded) throw new SheafError("CANCELLED", "the call of the subagent has ended");
      await Promise.all(events.map((event) => queue.push({ type: "agent_event", callId, event })));
    },
    async take(wanted) {
      const exceeded = budget.takeForAgent(wanted);
      if (!exceeded) open += wanted.turns;
      return { exceeded, isLastTurn: budget.isLastAgentTurn };
    },
    endTurn(usage, paid) {
      open -= 1;
      budget.endAgentTurn(usage, paid);
    },
  };
  const end = (): void => {
    hasEnded = true;
    // A turn that started and never ended uses no tokens.
    for (let left = open; left > 0; left -= 1) port.endTurn(zeroUsage);
  };
  return { port, end };
}

/** A defect in a tool is reported to the model and does not end the run. */
async function executeSafely(tools: ToolBox, call: ToolInvocation, options: ExecuteOptions): Promise<ToolOutcome> {
  const { signal } = options;
  if (signal.aborted) return toCancelledOutcome("the run ended before this call");
  const cancelled = Promise.withResolvers<ToolOutcome>();
  // Shortly after the abort, so that a hanging tool cannot delay the end of the run.
  const onAbort = (): void => void setTimeout(() => cancelled.resolve(toCancelledOutcome()), ABORT_GRACE_MS);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([tools.execute(call, options), cancelled.promise]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return toFailure("TOOL_FAILED", `${call.toolName} failed unexpectedly: ${message.slice(0, 2000)}`);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Time that a call may take to end by itself after an abort: the last line must be written within a second (C23). */
const ABORT_GRACE_MS = 400;

/** True if something happened outside, or a person decided. */
function isEffect({ type }: RunEventBody): boolean {
  return type === "tool_result" || type === "approval_request" || type === "approval_resolved";
}

interface EventQueue {
  /** Takes an event. Resolves when it is stored and delivered. */
  push(event: RunEventBody): Promise<void>;
  /** Yields events as they arrive, until `isEnded` returns true and the queue is empty. Call `push` after a change. */
  drain(isEnded: () => boolean): AsyncGenerator<EventGroup>;
}

/** An empty queue. Results and answers are flushed to the disk, the rest is stored in groups. */
function createEventQueue(): EventQueue {
  let waiting: RunEventBody[] = [];
  let stored = Promise.withResolvers<void>();
  let arrival = Promise.withResolvers<void>();

  return {
    push(event) {
      waiting.push(event);
      arrival.resolve();
      return stored.promise;
    },
    async *drain(isEnded) {
      while (!isEnded() || waiting.length > 0) {
        if (waiting.length === 0) await arrival.promise;
        arrival = Promise.withResolvers<void>();
        const events = waiting;
        const { resolve } = stored;
        waiting = [];
        stored = Promise.withResolvers<void>();
        const isSynced = events.some((event) => isEffect(event.type === "agent_event" ? event.event : event));
        yield { events, durability: isSynced ? "synced" : "grouped" };
        resolve();
      }
    },
  };
}

/** A call after its hooks, which may change its arguments before rules and people judge them (S-137). */
interface HookedCall {
  readonly call: ToolInvocation;
  /** The result of a call that does not run. */
  readonly refusal?: ToolOutcome | undefined;
  /** A note for the model, after the result. */
  readonly note?: string | undefined;
}

/** Runs the hooks in the order of the calls, before any question and before the first call. Yields their results. */
async function* runHooksBefore(
  calls: readonly ToolInvocation[],
  hooks: Hooks | undefined,
  signal: AbortSignal,
): AsyncGenerator<EventGroup, readonly HookedCall[]> {
  const judged: HookedCall[] = [];
  for (const call of calls) {
    // Arguments that are not JSON cannot be judged by a hook, and the call does not run.
    const results =
      hooks && call.rawArguments === undefined ? await hooks.run({ event: "PreToolUse", call }, signal) : [];
    if (results.length > 0) yield { events: results, durability: "grouped" };
    judged.push(toHookedCall(call, results));
  }
  return judged;
}

function toHookedCall(call: ToolInvocation, results: readonly HookResult[]): HookedCall {
  const decided = findDecision(results);
  const note = toHookNote(results);
  if (decided && decided.decision !== "ask") {
    const error = { code: "PERMISSION_DENIED", message: toHookReason(decided, "refused this call"), details: "" };
    return { call, refusal: { status: "rejected", output: "", error, ...(note !== undefined && { note }) } };
  }
  const args = results.findLast((result) => result.arguments)?.arguments;
  const { callId, toolName } = call;
  const changed = args ? { callId, toolName, arguments: args } : call;
  const told = args ? `A hook changed the arguments of this call; it ran with ${JSON.stringify(args)}.` : undefined;
  return {
    call: decided ? { ...changed, askReason: toHookReason(decided, "wants a person to agree") } : changed,
    note: joinNotes(told, note),
  };
}

/** Joins notes with line breaks; undefined if all are empty. */
function joinNotes(...notes: readonly (string | undefined)[]): string | undefined {
  const lines = notes.filter((note) => note !== undefined && note !== "");
  return lines.length === 0 ? undefined : lines.join("\n");
}
