/** The calls that Sheaf itself makes when the model is done: they wait for background commands, and end them. */
import type { RunEnd, RunEventBody, RunStart, TerminalEffect, ToolResult } from "@sheaf/protocol";
import { toOneLine } from "@sheaf/base/to-one-line";
import type { ApprovalPorts } from "./approvals.ts";
import type { EventGroup } from "./run-log.ts";
import { runToolCalls } from "./tool-calls.ts";

/** Time that a call may take. Milliseconds. */
const CLOSING_MS = 5000;

/** Time that a call may take after a failure: the last line must be written within a second (C23). */
const FAILED_CLOSING_MS = 400;

/** Characters of a command in a notice. */
const MAX_COMMAND = 100;

const waitedNote =
  "The commands that you left in the background have ended: the results of read_terminal above show how. Continue, or end.";

export interface ClosingCalls {
  push(event: RunEventBody): void;
  /** Commands in the background have ended with their process. */
  forgetTerminals(): void;
  /** Yields calls that await the commands, then end them (C169). Returns a note if the model should read a result. */
  wait(ports: ApprovalPorts, signal: AbortSignal): AsyncGenerator<EventGroup, string | undefined>;
  /** The calls and their results, without hooks. They also run after an abort. */
  run(end: RunEnd, ports: ApprovalPorts): AsyncGenerator<EventGroup>;
}

/** `waitMs`: how long the run waits for its commands in all. */
export function createClosingCalls({ responseId }: Pick<RunStart, "responseId">, waitMs = 0): ClosingCalls {
  const terminals = new Set<string>();
  let calls = 0;
  let waited = 0;

  async function* callTerminal(
    args: Readonly<Record<string, unknown>>,
    ports: ApprovalPorts,
    signal: AbortSignal,
  ): AsyncGenerator<EventGroup, ToolResult | undefined> {
    calls += 1;
    // The id derives from the response's, so that a replay makes the same one.
    const callId = `call_${responseId.replace(/^chat_/, "")}_end_${calls}`;
    // The call returns the rest of the command's output, and how it ended.
    const call = { toolName: "read_terminal", arguments: args };
    const made: RunEventBody[] = [
      { type: "tool_call_start", callId, toolName: call.toolName, documentType: "tool_call", origin: "agent" },
      { type: "tool_call_arguments", callId, arguments: call.arguments },
    ];
    yield { events: made, durability: "grouped" };
    let result: ToolResult | undefined;
    for await (const group of runToolCalls([{ callId, ...call }], { ...ports, hooks: undefined }, signal)) {
      const events = group.events.map(withNotice);
      result = events.find((event) => event.type === "tool_result") ?? result;
      yield { ...group, events };
    }
    return result;
  }

  return {
    push(event) {
      if (event.type !== "tool_result") return;
      const { effect } = event;
      if (effect?.kind === "command" && effect.terminalId !== undefined) terminals.add(effect.terminalId);
      if (effect?.kind === "terminal" && !effect.isRunning) terminals.delete(effect.terminalId);
    },
    forgetTerminals: () => terminals.clear(),
    async *wait(ports, signal) {
      let hasNews = false;
      for (const terminalId of terminals) {
        const left = waitMs - waited;
        if (left <= 0 || signal.aborted) break;
        const result = yield* callTerminal({ terminal_id: terminalId, wait_ms: left, end: true }, ports, signal);
        waited += result?.durationMs ?? 0;
        // A server, or a command that hangs, has no result.
        const ended = result?.effect?.kind === "terminal" ? result.effect.ended : "asked";
        hasNews ||= ended === undefined || ended === "time";
      }
      return hasNews ? waitedNote : undefined;
    },
    async *run(end, ports) {
      const period = end.error ? FAILED_CLOSING_MS : CLOSING_MS;
      for (const terminalId of terminals) {
        yield* callTerminal({ terminal_id: terminalId, end: true }, ports, AbortSignal.timeout(period));
      }
    },
  };
}

const endWords: Readonly<Record<NonNullable<TerminalEffect["ended"]>, string>> = {
  asked: "still ran when the run ended",
  listens: "waits for connections",
  silent: "was idle for 30 s",
  time: "still worked when --background-wait was over",
};

/** The answer may promise the work of a command that Sheaf ended. */
function withNotice(event: RunEventBody): RunEventBody {
  if (event.type !== "tool_result" || event.effect?.kind !== "terminal" || !event.effect.ended) return event;
  const { terminalId, command, ended } = event.effect;
  const message = `Sheaf ended ${terminalId} (${toOneLine(command).slice(0, MAX_COMMAND)}), which ${endWords[ended]}`;
  return { ...event, notice: { code: "COMMAND_ENDED", message } };
}
