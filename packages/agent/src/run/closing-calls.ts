/** The calls that Sheaf itself makes at the end of a run: they end background commands. */
import type { RunEnd, RunEventBody, RunStart } from "@sheaf/protocol";
import type { ApprovalPorts } from "./approvals.ts";
import type { EventGroup } from "./run-log.ts";
import { runToolCalls } from "./tool-calls.ts";

/** How long a call may take. Milliseconds. */
const CLOSING_MS = 5000;

/** The same after a failure: the last line of a cancelled run must be written within a second (C23). */
const FAILED_CLOSING_MS = 400;

export interface ClosingCalls {
  push(event: RunEventBody): void;
  /** Commands in the background have ended with their process. */
  forgetTerminals(): void;
  /** The calls and their results, without hooks. They also run after an abort. */
  run(end: RunEnd, ports: ApprovalPorts): AsyncGenerator<EventGroup>;
}

export function createClosingCalls({ responseId }: Pick<RunStart, "responseId">): ClosingCalls {
  const terminals = new Set<string>();
  return {
    push(event) {
      if (event.type !== "tool_result") return;
      const { effect } = event;
      if (effect?.kind === "command" && effect.terminalId !== undefined) terminals.add(effect.terminalId);
      if (effect?.kind === "terminal" && !effect.isRunning) terminals.delete(effect.terminalId);
    },
    forgetTerminals: () => terminals.clear(),
    async *run(end, ports) {
      const period = end.error ? FAILED_CLOSING_MS : CLOSING_MS;
      for (const [index, terminalId] of [...terminals].entries()) {
        // The id derives from the response's, so that a replay makes the same one.
        const callId = `call_${responseId.replace(/^chat_/, "")}_end_${index + 1}`;
        // The call returns the rest of the command's output, and how it ended.
        const call = { toolName: "read_terminal", arguments: { terminal_id: terminalId, end: true } };
        const made: RunEventBody[] = [
          { type: "tool_call_start", callId, toolName: call.toolName, documentType: "tool_call", origin: "agent" },
          { type: "tool_call_arguments", callId, arguments: call.arguments },
        ];
        yield { events: made, durability: "grouped" };
        yield* runToolCalls([{ callId, ...call }], { ...ports, hooks: undefined }, AbortSignal.timeout(period));
      }
    },
  };
}
