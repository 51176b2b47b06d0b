/** Runs the tool calls of one turn. */
import { createWholeCharacters, toWellFormed } from "@sheaf/documents/text";
import type { ApprovalRequest, RunEventBody, ToolOutputDelta, ToolResult } from "@sheaf/protocol";
import { type ApprovalPorts, askApproval, createApprovalRequests } from "./approvals.ts";
import type { EventGroup } from "./run-log.ts";
import type { Approval, CheckArguments } from "../tools/approval.ts";
import { toCancelledOutcome, toFailure } from "../tools/failure.ts";
import { createTurnBudget, type TurnBudget } from "../tools/result-budget.ts";
import type { ExecuteOptions, ToolBox, ToolInvocation, ToolOutcome } from "../tools/tool.ts";

/**
 * Runs calls and yields their live output and results as they come, exactly one result per call.
 * Calls that only read, one after the other, run at once; a call that does more runs alone, in order (N64). All questions to a person are asked
 * before the first call runs; each call waits for its own answer only.
 */
export async function* runToolCalls(
  calls: readonly ToolInvocation[],
  ports: ApprovalPorts,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  const queue = createEventQueue();
  const requests = signal.aborted ? [] : await createApprovalRequests(calls, ports);
  if (requests.length > 0) yield { events: requests, durability: "synced" };
  const approvals = askApprovals(requests, calls, ports, queue, signal);
  const budget = createTurnBudget();
  for (const batch of toBatches(calls, ports.tools)) {
    const running = new Set(batch);
    const tasks = batch.map(async (call) => {
      const result = await runCall(call, { ...ports, budget }, approvals.get(call.callId), queue, signal);
      running.delete(call);
      void queue.push(result);
    });
    yield* queue.drain(() => running.size === 0);
    await Promise.all(tasks);
  }
}

/** A read that the model wrote after a change sees the change. */
function toBatches(calls: readonly ToolInvocation[], tools: Pick<ToolBox, "accessOf">): ToolInvocation[][] {
  const batches: ToolInvocation[][] = [];
  let isReading = false;
  for (const call of calls) {
    const reads = ["read", "network"].includes(tools.accessOf(call.toolName));
    if (reads && isReading) batches.at(-1)!.push(call);
    else batches.push([call]);
    isReading = reads;
  }
  return batches;
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
  call: ToolInvocation,
  { tools, now, budget }: ApprovalPorts & { readonly budget: TurnBudget },
  waiting: Promise<Approval> | undefined,
  queue: EventQueue,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { callId } = call;
  const approval = await waiting;
  const startedAt = now();
  const characters = createWholeCharacters<ToolOutputDelta>();
  const emitOutput: ExecuteOptions["emitOutput"] = (stream, delta) => {
    for (const event of characters.push({ type: "tool_output_delta", callId, stream, delta })) void queue.push(event);
  };
  const outcome = await executeSafely(tools, call, { signal, emitOutput, budget, ...(approval && { approval }) });
  return toWellFormed({ type: "tool_result", callId, ...outcome, durationMs: now() - startedAt });
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

/** How long a call may take to end by itself after an abort: the last line must be written within a second (C23). */
const ABORT_GRACE_MS = 400;

interface EventQueue {
  /** Takes an event. Resolves when it is stored and delivered. */
  push(event: RunEventBody): Promise<void>;
  /** Yields the events as they come, until `isEnded` returns true and none is left. Call `push` or `wake` after a change. */
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
        const isSynced = events.some(({ type }) => type === "tool_result" || type === "approval_resolved");
        yield { events, durability: isSynced ? "synced" : "grouped" };
        resolve();
      }
    },
  };
}
