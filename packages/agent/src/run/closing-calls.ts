/** What Sheaf itself does at the end of a run: it ends background commands; in debug mode it removes instrumentation. */
import type { InstrumentationBlock, RunEnd, RunEventBody, RunStart, ToolDocumentType } from "@sheaf/protocol";
import type { ToolInvocation } from "../tools/tool.ts";
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
  /** The calls and their results, without hooks. They run after an abort, too; after a question to the user, instrumentation stays. */
  run(end: RunEnd, ports: ApprovalPorts): AsyncGenerator<EventGroup>;
}

/** Follows the events of a run. */
export function createClosingCalls(start: Omit<RunStart, "type">): ClosingCalls {
  let blocks: readonly InstrumentationBlock[] = start.instrumentation ?? [];
  const terminals = new Set<string>();
  return {
    push(event) {
      if (event.type !== "tool_result") return;
      const { effect } = event;
      if (effect?.kind === "file_edit") blocks = effect.instrumentation ?? blocks;
      if (effect?.kind === "command" && effect.terminalId !== undefined) terminals.add(effect.terminalId);
      if (effect?.kind === "terminal" && !effect.isRunning) terminals.delete(effect.terminalId);
    },
    forgetTerminals: () => terminals.clear(),
    async *run(end, ports) {
      const cleaning = start.mode === "debug" && end.reason !== "clarification" ? toCleaningCalls(blocks) : [];
      const calls = [...[...terminals].map(toEndingCall), ...cleaning];
      const period = end.error ? FAILED_CLOSING_MS : CLOSING_MS;
      for (const [index, { documentType, ...call }] of calls.entries()) {
        // Made from the response's id, so that a replay makes the same one.
        const callId = `call_${start.responseId.replace(/^chat_/, "")}_end_${index + 1}`;
        const made: RunEventBody[] = [
          { type: "tool_call_start", callId, toolName: call.toolName, documentType, origin: "agent" },
          { type: "tool_call_arguments", callId, arguments: call.arguments },
        ];
        yield { events: made, durability: "grouped" };
        yield* runToolCalls([{ callId, ...call }], { ...ports, hooks: undefined }, AbortSignal.timeout(period));
      }
    },
  };
}

interface ClosingCall extends Omit<ToolInvocation, "callId"> {
  readonly documentType: ToolDocumentType;
}

/** The rest of a background command's output, and how it ended. */
function toEndingCall(terminalId: string): ClosingCall {
  return {
    toolName: "read_terminal",
    documentType: "tool_call",
    arguments: { terminal_id: terminalId, end: true },
  };
}

function toCleaningCalls(blocks: readonly InstrumentationBlock[]): ClosingCall[] {
  const files = [...new Set(blocks.map(({ filePath }) => filePath))];
  return files.map((file) => ({
    toolName: "remove_instrumentation",
    documentType: "file_edit",
    arguments: { target_file: file },
  }));
}
