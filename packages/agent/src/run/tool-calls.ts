/** Runs the tool calls of one turn. */
import type { RunEventBody, ToolResult } from "@sheaf/protocol";
import { toCancelledOutcome, toFailure } from "../tools/failure.ts";
import type { ToolBox, ToolInvocation, ToolOutcome } from "../tools/tool.ts";
import type { EventGroup } from "./event-group.ts";

interface ToolCallPorts {
  readonly tools: ToolBox;
  readonly now: () => number;
}

/**
 * Runs calls and gives their live output and results as they come; exactly one result a call.
 * Calls that only read run side by side; a call that does more runs alone, in order.
 */
export async function* runToolCalls(
  calls: readonly ToolInvocation[],
  ports: ToolCallPorts,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  const sideBySide = calls.every((call) => ports.tools.accessOf(call.toolName) === "read");
  const batches = sideBySide ? [calls] : calls.map((call) => [call]);
  for (const batch of batches) yield* runBatch(batch, ports, signal);
}

async function* runBatch(
  calls: readonly ToolInvocation[],
  ports: ToolCallPorts,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  let waiting: RunEventBody[] = [];
  const running = new Set(calls);
  let { promise, resolve } = Promise.withResolvers<void>();

  const emit = (event: RunEventBody): void => {
    waiting.push(event);
    resolve();
  };
  const tasks = calls.map(async (call) => {
    const result = await runCall(call, ports, signal, emit);
    running.delete(call);
    emit(result);
  });

  while (running.size > 0 || waiting.length > 0) {
    if (waiting.length === 0) await promise;
    ({ promise, resolve } = Promise.withResolvers<void>());
    const events = waiting;
    waiting = [];
    const hasResult = events.some((event) => event.type === "tool_result");
    yield { events, durability: hasResult ? "synced" : "grouped" };
  }
  await Promise.all(tasks);
}

async function runCall(
  call: ToolInvocation,
  { tools, now }: ToolCallPorts,
  signal: AbortSignal,
  emit: (event: RunEventBody) => void,
): Promise<ToolResult> {
  const { callId } = call;
  const startedAt = now();
  const outcome = await executeSafely(tools, call, signal, (stream, delta) =>
    emit({ type: "tool_output_delta", callId, stream, delta }),
  );
  return { type: "tool_result", callId, ...outcome, durationMs: now() - startedAt };
}

/** A defect in a tool is the model's to see, not the end of the run. */
async function executeSafely(
  tools: ToolBox,
  call: ToolInvocation,
  signal: AbortSignal,
  emitOutput: (stream: "stdout" | "stderr", delta: string) => void,
): Promise<ToolOutcome> {
  if (signal.aborted) return toCancelledOutcome("the run ended before this call");
  const settled = new AbortController();
  try {
    return await Promise.race([tools.execute(call, { signal, emitOutput }), waitForAbort(signal, settled.signal)]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return toFailure("TOOL_FAILED", `${call.toolName} failed unexpectedly: ${message}`);
  } finally {
    settled.abort();
  }
}

/** How long a call may take to end by itself after an abort: the last line must be out within a second (C23). */
const ABORT_GRACE_MS = 400;

/** Resolves a moment after the abort, so that a tool that hangs cannot hold up the end of the run. */
async function waitForAbort(signal: AbortSignal, settled: AbortSignal): Promise<ToolOutcome> {
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => setTimeout(resolve, ABORT_GRACE_MS), { once: true, signal: settled });
  });
  return toCancelledOutcome();
}
